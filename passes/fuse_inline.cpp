// fuse, step 1: cheap values are computed again where they are used. Sources come before users, so that what a value costs
// includes what was inlined into it, and nothing doubles at each step of a chain. What is costly in a value but the same all
// along one of its loops (a row's maximum in x - max) is no reason to keep the value: such parts get a STAGE of their own.
#include "passes/fuse.h"
#include "passes/stage_reason.h"
#include "passes/substitute.h"

namespace uop {
namespace {

constexpr double kShare = 0.125;  // of a user's own work, which computing a value again may add

class Inliner {
 public:
  Inliner(Program& p, const FuseOptions& options, bool apart) : p_(p), g_(p.graph), options_(options), apart_(apart), facts_(p), parts_(facts_.count()), cost_(facts_.count()), inputs_(facts_.count()), nodes_(facts_.count()) {}
  bool run();

 private:
  std::unordered_set<NodeId> findParts(uint32_t k) const;
  std::unordered_set<NodeId> setApart(uint32_t k);
  void measure(uint32_t k);
  bool isReadOnce(uint32_t k) const;
  bool pays(uint32_t k) const;
  int64_t bytesOf(NodeId input) const;
  double evaluations(uint32_t user, NodeId read) const;
  NodeId visit(NodeId old, std::span<const NodeId> sources, const std::vector<NodeId>& now);
  NodeId withoutParts(NodeId stage, const std::vector<NodeId>& now);
  NodeId instance(NodeId stage, std::span<const NodeId> index, NodeId gate, const std::vector<NodeId>& now);

  Program& p_;
  Graph& g_;
  const FuseOptions& options_;
  bool apart_;  // parts may be set apart
  KernelFacts facts_;
  std::vector<std::vector<NodeId>> parts_;  // of its value: costly, and in fewer loops
  std::vector<int64_t> cost_;               // operations an element, what is inlined included, parts not
  std::vector<std::set<NodeId>> inputs_;    // places that it reads and its parts, those of what is inlined included
  std::vector<size_t> nodes_;
  std::vector<double> work_;                // operations of all iterations
  std::unordered_set<NodeId> inlined_;
  std::unordered_map<NodeId, NodeId> values_;  // of STAGEs with parts, which are read there from STAGEs of their own
};

// What may be set apart: costly, inside of the kernel's own loops only, and not of all of them.
std::unordered_set<NodeId> Inliner::findParts(uint32_t k) const {
  std::unordered_set<NodeId> costly, out;
  std::vector<NodeId> outer = facts_.outer(k);
  auto ranges = g_.srcs(facts_[k].roots[0]).subspan(1);
  for (NodeId n : facts_[k].nodes) {
    if (hasTrait(g_.op(n), trait::Effect) || g_.op(n) == Op::Alloc) return {};
    if (facts_.kernels.isRoot(n)) continue;
    bool any = costOf(g_, n) == kCostly || std::ranges::any_of(g_.srcs(n), [&](NodeId s) { return costly.contains(s); });
    if (!any) continue;
    costly.insert(n);
    bool own = std::ranges::all_of(g_.open(n), [&](NodeId r) { return std::ranges::find(ranges, r) != ranges.end(); });
    if (own && isValue(g_.dtype(n)) && !g_[n].place && std::ranges::any_of(outer, [&](NodeId r) { return !g_.isOpen(n, r); })) out.insert(n);
  }
  return out;
}

// Sets its largest parts apart; the nodes that remain.
std::unordered_set<NodeId> Inliner::setApart(uint32_t k) {
  const Kernel& kernel = facts_[k];
  if (!apart_ || facts_.decidable(k) == kNoNode) return {kernel.nodes.begin(), kernel.nodes.end()};
  std::unordered_set<NodeId> parts = findParts(k), seen;
  std::vector<NodeId> todo{g_.src(kernel.roots[0], 0)};
  while (!todo.empty()) {
    NodeId n = todo.back();
    todo.pop_back();
    if (facts_.kernels.isRoot(n) || !seen.insert(n).second) continue;
    if (!parts.contains(n)) todo.insert(todo.end(), g_.srcs(n).begin(), g_.srcs(n).end());
    else parts_[k].push_back(n);
  }
  for (NodeId part : parts_[k]) seen.erase(part);
  std::ranges::sort(parts_[k]);
  return seen;
}

void Inliner::measure(uint32_t k) {
  const Kernel& kernel = facts_[k];
  nodes_[k] = kernel.nodes.size();
  std::unordered_set<NodeId> own = setApart(k);
  inputs_[k].insert(parts_[k].begin(), parts_[k].end());
  for (NodeId n : kernel.nodes)
    if (own.contains(n) && !facts_.kernels.isRoot(n)) cost_[k] = std::min(kCostly, cost_[k] + costOf(g_, n));
  std::set<std::pair<NodeId, NodeId>> sites;
  for (const KernelRead& r : kernel.reads) {
    if (!own.contains(r.index)) continue;
    if (!inlined_.contains(r.base)) {
      inputs_[k].insert(r.base);
      continue;
    }
    if (!sites.insert({r.base, r.index}).second) continue;
    uint32_t from = facts_.kernels.kernelOf(r.base);
    cost_[k] = std::min(kCostly, cost_[k] + cost_[from]);
    nodes_[k] += nodes_[from];
    inputs_[k].insert(inputs_[from].begin(), inputs_[from].end());
  }
}

int64_t Inliner::bytesOf(NodeId input) const {
  return g_[input].place ? facts_.bytes(input) : facts_.iterations(input) * byteSize(g_.dtype(input));
}

// Arithmetic on an operand of a product is worth a kernel less, and counts once an element; where parts are set apart, there is
// no kernel less.
double Inliner::evaluations(uint32_t user, NodeId read) const {
  return apart_ ? facts_.evaluations(user, read) : static_cast<double>(facts_.iterations(read));
}

// Whether the reads of k evaluate no more than it has elements, as those of the slices of one product do: then it may cost
// what it will.
bool Inliner::isReadOnce(uint32_t k) const {
  if (!parts_[k].empty() || !facts_.hoisted(k).sets().empty() || !facts_.canRepeat(k)) return false;
  double left = static_cast<double>(g_.elements(facts_[k].roots[0]));
  if (left == 0) return false;
  for (uint32_t user : facts_.readers(k))
    for (NodeId read : facts_.reads(user, k)) {
      bool everywhere = std::ranges::all_of(facts_.outer(user), [&](NodeId r) { return g_.isOpen(read, r); });
      bool ownLoop = std::ranges::any_of(facts_[k].nodes, [&](NodeId n) { return g_.op(n) == Op::Range && g_.isOpen(read, n); });
      left -= facts_.evaluations(user, read);
      if (!everywhere || ownLoop || left < 0) return false;
    }
  return true;
}

bool Inliner::pays(uint32_t k) const {
  if (facts_.decidable(k) == kNoNode || !facts_.readsSettled(k)) return false;
  bool cheap = cost_[k] <= options_.inlineOps;
  if (!cheap && !isReadOnce(k)) return false;
  double elements = static_cast<double>(g_.elements(facts_[k].roots[0])), times = 0, work = 0;
  int64_t sites = 0, before = facts_.bytes(facts_[k].roots[0]), after = 0;
  for (NodeId in : inputs_[k])
    if (g_[in].place) before += bytesOf(in);
  std::set<NodeId> ofParts;
  for (const KernelRead& r : facts_[k].reads)
    if (!parts_[k].empty()) ofParts.insert(r.base);
  for (NodeId in : ofParts) after += bytesOf(in), before += inputs_[k].contains(in) ? 0 : bytesOf(in);
  for (NodeId part : parts_[k]) after += bytesOf(part);
  for (uint32_t user : facts_.readers(k)) {
    before += facts_.bytes(facts_[k].roots[0]);
    for (NodeId in : inputs_[k])
      if (!facts_.readsFrom(user, in)) after += bytesOf(in);
    std::vector<NodeId> reads = facts_.reads(user, k);
    for (NodeId read : reads) times += evaluations(user, read);
    work += work_[user];
    sites += static_cast<int64_t>(reads.size());
    if (nodes_[k] * reads.size() + facts_[user].nodes.size() > static_cast<size_t>(options_.maxKernelNodes)) return false;
    bool changed = facts_[user].writes.size() > 0 && std::ranges::any_of(facts_[user].writes, [&](const auto& w) { return inputs_[k].contains(w.first); });
    if (changed) return false;
  }
  double again = static_cast<double>(cost_[k]) * std::max(0.0, times - elements);
  bool little = again <= static_cast<double>(cost_[k]) * elements || again <= kShare * work;
  return after <= before && (!cheap || (little && cost_[k] * sites <= 4 * options_.inlineOps));
}

// The value of a STAGE, its parts read from STAGEs of their own.
NodeId Inliner::withoutParts(NodeId stage, const std::vector<NodeId>& now) {
  uint32_t k = facts_.kernels.kernelOf(stage);
  NodeId value = now[g_.src(stage, 0)];
  if (parts_[k].empty()) return value;
  auto [known, fresh] = values_.try_emplace(stage, kNoNode);
  if (!fresh) return known->second;
  std::vector<NodeId> ranges, loops;
  Substitution to;
  for (NodeId r : g_.srcs(stage).subspan(1)) ranges.push_back(now[r]);
  for (NodeId old : parts_[k]) {
    NodeId part = now[old];
    loops.clear();
    std::ranges::copy_if(ranges, std::back_inserter(loops), [&](NodeId r) { return g_.isOpen(part, r); });
    NodeId kept = stageBecause(g_, part, loops, Space::Global, "the same all along a loop of its user");
    to[part] = g_.load(loops.empty() ? kept : g_.indexInto(kept, loops));
  }
  return known->second = substituted(g_, value, ranges, to);
}

// The value of a STAGE at `index`, its loads under the gate as well.
NodeId Inliner::instance(NodeId stage, std::span<const NodeId> index, NodeId gate, const std::vector<NodeId>& now) {
  Substitution to;
  std::vector<NodeId> ranges;
  for (size_t i = 0; i < index.size(); ++i) {
    ranges.push_back(now[g_.src(stage, 1 + i)]);
    to[ranges.back()] = index[i];
  }
  return substituted(g_, withoutParts(stage, now), ranges, to, gate);
}

NodeId Inliner::visit(NodeId old, std::span<const NodeId> sources, const std::vector<NodeId>& now) {
  if (g_.op(old) != Op::Load || !inlined_.contains(g_[g_.src(old, 0)].base)) return g_.remake(g_, old, sources);
  NodeId at = g_.src(old, 0), stage = g_[at].base;
  std::vector<NodeId> index;
  if (g_.op(at) == Op::Index)
    for (NodeId i : g_.srcs(at).subspan(1)) index.push_back(now[i]);
  if (sources.size() == 1) return instance(stage, index, kNoNode, now);
  return g_.where(sources[2], instance(stage, index, sources[2], now), sources[1]);
}

bool Inliner::run() {
  for (uint32_t k = 0; k < facts_.count(); ++k) work_.push_back(facts_.operations(k));
  for (uint32_t k = 0; k < facts_.count(); ++k) {
    measure(k);
    if (pays(k)) inlined_.insert(facts_[k].roots[0]);
  }
  if (inlined_.empty()) return false;
  auto roots = p_.roots();
  retarget(p_, rebuildNodes(g_, roots, [&](NodeId old, std::span<const NodeId> sources, const auto& now) { return visit(old, sources, now); }));
  pinEffects(p_);
  return true;
}

}  // namespace

bool fuseInline(Program& p, const FuseOptions& options, bool apart) { return Inliner(p, options, apart).run(); }

}  // namespace uop
