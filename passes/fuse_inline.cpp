// fuse, step 1: cheap values are computed again where they are used. Sources come before users, so that what a value costs
// includes what was inlined into it, and nothing doubles at each step of a chain.
#include "passes/fuse.h"
#include "passes/substitute.h"

namespace uop {
namespace {

constexpr int64_t kNever = int64_t{1} << 30;
constexpr double kShare = 0.125;  // of a user's own work, which computing a value again may add

class Inliner {
 public:
  Inliner(Program& p, const FuseOptions& options) : p_(p), g_(p.graph), options_(options), facts_(p), cost_(facts_.count()), inputs_(facts_.count()), nodes_(facts_.count()) {}
  void run();

 private:
  void measure(uint32_t k);
  bool pays(uint32_t k) const;
  double workOf(uint32_t k) const;
  NodeId visit(NodeId old, std::span<const NodeId> sources, const std::vector<NodeId>& now);
  NodeId instance(NodeId stage, std::span<const NodeId> index, NodeId gate, const std::vector<NodeId>& now);

  Program& p_;
  Graph& g_;
  const FuseOptions& options_;
  KernelFacts facts_;
  std::vector<int64_t> cost_;               // operations an element, what is inlined included
  std::vector<std::set<NodeId>> inputs_;    // places that it reads, those of what is inlined included
  std::vector<size_t> nodes_;
  std::vector<double> work_;                // operations of all iterations
  std::unordered_set<NodeId> inlined_;
};

int64_t costOf(const Graph& g, NodeId n) {
  Op op = g.op(n);
  if (hasTrait(op, trait::Transcendental) || op == Op::Reduce || op == Op::Stage || op == Op::After || op == Op::Alloc || hasTrait(op, trait::Effect)) return kNever;
  if (!hasTrait(op, trait::Elementwise) || g.dtype(n) == DType::Index) return 0;
  bool slow = op == Op::Sqrt || op == Op::Recip || op == Op::FloorDiv || op == Op::FloorMod;
  return slow ? 3 : 1;
}

void Inliner::measure(uint32_t k) {
  const Kernel& kernel = facts_[k];
  nodes_[k] = kernel.nodes.size();
  for (NodeId n : kernel.nodes)
    if (!facts_.kernels.isRoot(n)) cost_[k] = std::min(kNever, cost_[k] + costOf(g_, n));
  std::set<std::pair<NodeId, NodeId>> sites;
  for (const KernelRead& r : kernel.reads) {
    if (!inlined_.contains(r.base)) {
      inputs_[k].insert(r.base);
      continue;
    }
    if (!sites.insert({r.base, r.index}).second) continue;
    uint32_t from = facts_.kernels.kernelOf(r.base);
    cost_[k] = std::min(kNever, cost_[k] + cost_[from]);
    nodes_[k] += nodes_[from];
    inputs_[k].insert(inputs_[from].begin(), inputs_[from].end());
  }
}

bool Inliner::pays(uint32_t k) const {
  if (facts_.decidable(k) == kNoNode || cost_[k] > options_.inlineOps || !facts_.readsSettled(k)) return false;
  double elements = static_cast<double>(g_.elements(facts_[k].roots[0])), times = 0, work = 0;
  int64_t sites = 0, before = facts_.bytes(facts_[k].roots[0]), after = 0;
  for (NodeId in : inputs_[k]) before += facts_.bytes(in);
  for (uint32_t user : facts_.readers(k)) {
    before += facts_.bytes(facts_[k].roots[0]);
    for (NodeId in : inputs_[k])
      if (!facts_.readsFrom(user, in)) after += facts_.bytes(in);
    std::vector<NodeId> reads = facts_.reads(user, k);
    for (NodeId read : reads) times += static_cast<double>(facts_.iterations(read));
    work += work_[user];
    sites += static_cast<int64_t>(reads.size());
    if (nodes_[k] * reads.size() + facts_[user].nodes.size() > static_cast<size_t>(options_.maxKernelNodes)) return false;
    bool changed = facts_[user].writes.size() > 0 && std::ranges::any_of(facts_[user].writes, [&](const auto& w) { return inputs_[k].contains(w.first); });
    if (changed) return false;
  }
  double again = static_cast<double>(cost_[k]) * std::max(0.0, times - elements);
  bool little = again <= static_cast<double>(cost_[k]) * elements || again <= kShare * work;
  return little && after <= before && cost_[k] * sites <= 4 * options_.inlineOps;
}

double Inliner::workOf(uint32_t k) const {
  double out = 0;
  for (NodeId n : facts_[k].nodes) {
    int64_t each = g_.op(n) == Op::Reduce ? 1 : hasTrait(g_.op(n), trait::Transcendental) ? 8 : costOf(g_, n);
    if (each >= kNever) continue;
    NodeId at = g_.op(n) == Op::Reduce ? g_.src(n, 0) : n;
    out += static_cast<double>(each) * static_cast<double>(facts_.iterations(at));
  }
  return out;
}

// The value of a STAGE at `index`, its loads under the gate as well.
NodeId Inliner::instance(NodeId stage, std::span<const NodeId> index, NodeId gate, const std::vector<NodeId>& now) {
  Substitution to;
  std::vector<NodeId> ranges;
  for (size_t i = 0; i < index.size(); ++i) {
    ranges.push_back(now[g_.src(stage, 1 + i)]);
    to[ranges.back()] = index[i];
  }
  return substituted(g_, now[g_.src(stage, 0)], ranges, to, gate);
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

void Inliner::run() {
  for (uint32_t k = 0; k < facts_.count(); ++k) work_.push_back(workOf(k));
  for (uint32_t k = 0; k < facts_.count(); ++k) {
    measure(k);
    if (pays(k)) inlined_.insert(facts_[k].roots[0]);
  }
  if (inlined_.empty()) return;
  auto roots = p_.roots();
  retarget(p_, rebuildNodes(g_, roots, [&](NodeId old, std::span<const NodeId> sources, const auto& now) { return visit(old, sources, now); }));
  pinEffects(p_);
}

}  // namespace

void fuseInline(Program& p, const FuseOptions& options) { Inliner(p, options).run(); }

}  // namespace uop
