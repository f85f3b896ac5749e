// fuse, step 4: kernels over the same loops become one with several results. A value that a user reads at the very element
// that it computes is then no memory access; siblings that read the same places read them once.
#include "passes/fuse.h"

namespace uop {
namespace {

constexpr size_t kMaxSiblings = 32;   // kernels that a further one is compared with
constexpr uint64_t kRoom = 1 << 20;   // between levels, so that a merger lifts few
constexpr size_t kMaxVisits = 4096;  // of kernels, when looking for another way from one to the other

class Merger {
 public:
  Merger(Program& p, const FuseOptions& options) : p_(p), g_(p.graph), options_(options), facts_(p), joined_(facts_.count()) {}
  bool run();

 private:
  bool reaches(uint32_t from, uint32_t to) const;
  void setLevels();
  void lift(uint32_t group);
  bool mergeInto(uint32_t k, uint32_t user);
  bool sameOperands(uint32_t a, uint32_t b) const;
  bool mergeSiblings(uint32_t a, uint32_t b);
  void siblings(std::span<const uint32_t> readers, NodeId base);
  LoopChain::Set mapped(const LoopChain::Set& loops, uint32_t k, std::span<const NodeId> index) const;
  bool agree(uint32_t k, uint32_t other, std::span<const NodeId> index) const;
  bool meets(uint32_t a, uint32_t b) const;
  bool unite(uint32_t k, uint32_t other, std::span<const NodeId> index);
  bool isOpenFor(uint32_t k) const { return facts_.ours(k) && g_.rank(facts_[k].roots[0]) > 0; }
  bool hasFewerReaders(uint32_t k) const;
  void rebuild();

  Program& p_;
  Graph& g_;
  const FuseOptions& options_;
  KernelFacts facts_;
  Joined joined_;
  struct Group {
    std::vector<uint32_t> deps;  // ascending
    size_t nodes;
    LoopChain chain;
    bool product;
    std::vector<uint32_t> members;
    std::vector<uint32_t> users = {};
    uint64_t level = 0;  // above those of its deps
  };
  std::vector<Group> groups_;                 // by representative
};

void Merger::setLevels() {
  std::vector<size_t> missing;
  std::vector<uint32_t> ready;
  for (uint32_t k = 0; k < groups_.size(); ++k) {
    for (uint32_t d : groups_[k].deps) groups_[d].users.push_back(k);
    missing.push_back(groups_[k].deps.size());
    if (missing[k] == 0) ready.push_back(k);
  }
  for (size_t i = 0; i < ready.size(); ++i)
    for (uint32_t user : groups_[ready[i]].users) {
      groups_[user].level = std::max(groups_[user].level, groups_[ready[i]].level + kRoom);
      if (--missing[user] == 0) ready.push_back(user);
    }
}

// Lifts the users of a group, and theirs, above it.
void Merger::lift(uint32_t group) {
  std::vector<uint32_t> groups{group};
  for (size_t i = 0; i < groups.size(); ++i)
    for (uint32_t u : groups_[groups[i]].users) {
      uint32_t user = joined_.find(u);
      uint64_t level = groups_[groups[i]].level;
      if (user == groups[i] || groups_[user].level > level) continue;
      groups_[user].level = level + 1;
      groups.push_back(user);
    }
}

// Whether group `from` needs group `to` by way of another: no way down to it leads below its level.
bool Merger::reaches(uint32_t from, uint32_t to) const {
  std::unordered_set<uint32_t> seen;
  std::vector<uint32_t> todo;
  auto push = [&](uint32_t k) {
    if ((k == to || groups_[k].level > groups_[to].level) && seen.insert(k).second) todo.push_back(k);
  };
  for (uint32_t d : groups_[from].deps)
    if (joined_.find(d) != to && joined_.find(d) != from) push(joined_.find(d));
  while (!todo.empty()) {
    uint32_t k = todo.back();
    todo.pop_back();
    if (k == to || seen.size() > kMaxVisits) return true;
    for (uint32_t d : groups_[k].deps)
      if (joined_.find(d) != k) push(joined_.find(d));
  }
  return false;
}

// Whether k's loops can be those of `other`, its i-th axis being index[i] there.
bool Merger::agree(uint32_t k, uint32_t other, std::span<const NodeId> index) const {
  auto ranges = g_.srcs(facts_[k].roots[0]).subspan(1);
  std::vector<NodeId> outer = facts_.outer(other);
  NodeSet used;
  for (size_t i = 0; i < ranges.size(); ++i) {
    if (facts_.bound(ranges[i]) == 1) continue;
    NodeId at = joined_.resolve(index[i]);
    bool loop = std::ranges::any_of(outer, [&](NodeId r) { return joined_.resolve(r) == at; });
    if (!loop || facts_.bound(at) != facts_.bound(ranges[i]) || !used.insert(at)) return false;
  }
  if (used.size() != outer.size()) return false;
  const Group& a = groups_[joined_.find(k)];
  const Group& b = groups_[joined_.find(other)];
  for (const LoopChain::Set& s : a.chain.sets())
    if (!b.chain.fits(mapped(s, k, index))) return false;
  // A product's loops are tiled for it alone; rows held by the other would be in the way.
  bool rows = !a.chain.sets().empty() || !b.chain.sets().empty();
  return !(rows && (a.product || b.product)) && a.nodes + b.nodes <= static_cast<size_t>(options_.maxKernelNodes);
}

LoopChain::Set Merger::mapped(const LoopChain::Set& loops, uint32_t k, std::span<const NodeId> index) const {
  auto ranges = g_.srcs(facts_[k].roots[0]).subspan(1);
  LoopChain::Set out;
  for (size_t i = 0; i < ranges.size(); ++i)
    if (loops.contains(joined_.resolve(ranges[i]))) out.insert(joined_.resolve(index[i]));
  return out;
}

// Whether all that one group reads of the other, it reads at the elements that it computes.
bool Merger::meets(uint32_t a, uint32_t b) const {
  for (uint32_t reader : groups_[a].members)
    for (const KernelRead& r : facts_[reader].reads) {
      uint32_t from = facts_.kernels.kernelOf(r.base);
      if (from == KernelAnalysis::kNone || joined_.find(from) != b) continue;
      if (r.version != r.base || g_.op(r.index) != Op::Index) return false;
      auto ranges = g_.srcs(r.base).subspan(1);
      for (size_t i = 0; i < ranges.size(); ++i)
        if (facts_.bound(ranges[i]) != 1 && joined_.resolve(g_.src(r.index, i + 1)) != joined_.resolve(ranges[i])) return false;
    }
  return true;
}

// Makes one kernel of two groups, if they can be; the i-th axis of k is index[i] in `other`.
bool Merger::unite(uint32_t k, uint32_t other, std::span<const NodeId> index) {
  uint32_t a = joined_.find(k), b = joined_.find(other);
  if (a == b || !agree(k, other, index) || reaches(b, a) || reaches(a, b)) return false;
  auto ranges = g_.srcs(facts_[k].roots[0]).subspan(1);
  const Group& from = groups_[a];
  std::vector<LoopChain::Set> chain;
  for (const LoopChain::Set& s : from.chain.sets()) chain.push_back(mapped(s, k, index));
  std::vector<NodeId> joined;
  for (size_t i = 0; i < ranges.size(); ++i) {
    NodeId mine = joined_.resolve(ranges[i]), theirs = joined_.resolve(index[i]);
    if (facts_.bound(ranges[i]) != 1 && mine != theirs) joined_.replace(mine, theirs), joined.push_back(mine);
  }
  if (!meets(a, b) || !meets(b, a)) {
    for (NodeId r : joined) joined_.restore(r);
    return false;
  }
  Group& to = groups_[b];
  for (const LoopChain::Set& s : chain) to.chain.add(s);
  to.nodes += from.nodes;
  to.product |= from.product;
  std::vector<uint32_t> deps;
  std::ranges::set_union(to.deps, from.deps, std::back_inserter(deps));
  to.deps = std::move(deps);
  to.members.insert(to.members.end(), from.members.begin(), from.members.end());
  to.users.insert(to.users.end(), from.users.begin(), from.users.end());
  to.level = std::max(to.level, from.level);
  joined_.join(a, b);
  lift(b);
  return true;
}

bool Merger::mergeInto(uint32_t k, uint32_t user) {
  if (!isOpenFor(user)) return false;
  std::vector<NodeId> reads = facts_.reads(user, k);
  bool plain = reads.size() == 1 && g_.op(reads[0]) == Op::Index && g_.src(reads[0], 0) == facts_[k].roots[0];
  return plain && unite(k, user, g_.srcs(reads[0]).subspan(1));
}

// A product's loops are tiled for its operands: another may share them that has the same ones, as the parts of a complex product do.
bool Merger::sameOperands(uint32_t a, uint32_t b) const {
  auto bases = [&](uint32_t group) {
    std::set<NodeId> out;
    for (uint32_t k : groups_[group].members)
      for (const KernelRead& r : facts_[k].reads) out.insert(r.base);
    return out;
  };
  return groups_[a].product == groups_[b].product && bases(a) == bases(b);
}

// Both read some place at the elements that they compute.
bool Merger::mergeSiblings(uint32_t a, uint32_t b) {
  uint32_t groupA = joined_.find(a), groupB = joined_.find(b);
  if (groupA == groupB) return false;
  if ((groups_[groupA].product || groups_[groupB].product) && !sameOperands(groupA, groupB)) return false;
  std::vector<NodeId> mine = facts_.outer(a), theirs = facts_.outer(b);
  auto bounds = [&](const std::vector<NodeId>& loops) {
    std::vector<int64_t> out;
    for (NodeId r : loops) out.push_back(facts_.bound(r));
    return out;
  };
  if (mine.empty() || bounds(mine) != bounds(theirs) || g_.rank(facts_[a].roots[0]) != g_.rank(facts_[b].roots[0])) return false;
  auto index = g_.srcs(facts_[b].roots[0]).subspan(1);
  return unite(a, b, index);
}

// Among the kernels that read `base`, those that do so at the elements that they compute, and products.
void Merger::siblings(std::span<const uint32_t> readers, NodeId base) {
  std::vector<uint32_t> fit;
  for (uint32_t k : readers) {
    if (!isOpenFor(k) || fit.size() >= kMaxSiblings) continue;
    auto ranges = g_.srcs(facts_[k].roots[0]).subspan(1);
    bool own = std::ranges::any_of(facts_[k].reads, [&](const KernelRead& r) {
      if (r.base != base || g_.op(r.index) != Op::Index) return false;
      return std::ranges::all_of(facts_.outer(k), [&](NodeId loop) { return g_.isOpen(r.index, loop); });
    });
    if (!(own || groups_[joined_.find(k)].product) || ranges.empty()) continue;
    if (std::ranges::none_of(fit, [&](uint32_t other) { return mergeSiblings(k, other); })) fit.push_back(k);
  }
}

void Merger::rebuild() {
  std::vector<bool> direct(g_.size());  // INDEX nodes by which a kernel reads what it computes itself
  for (uint32_t k = 0; k < facts_.count(); ++k)
    for (const KernelRead& r : facts_[k].reads)
      if (uint32_t from = facts_.kernels.kernelOf(r.base); from != KernelAnalysis::kNone && from != k && joined_.find(from) == joined_.find(k)) direct[r.index] = true;
  auto roots = p_.roots();
  retarget(p_, rebuildNodes(g_, roots, [&](NodeId old, std::span<const NodeId> sources, const auto& now) {
    if (joined_.isReplaced(old)) return joined_.resolve(old);
    if (g_.op(old) != Op::Load || !direct[g_.src(old, 0)]) return g_.remake(g_, old, sources);
    NodeId value = now[g_.src(g_[g_.src(old, 0)].base, 0)];
    return sources.size() == 3 ? g_.where(sources[2], value, sources[1]) : value;
  }));
}

// Whether one kernel alone reads k now, where several did, or fewer a table.
bool Merger::hasFewerReaders(uint32_t k) const {
  if (facts_.decidable(k) == kNoNode || groups_[joined_.find(k)].members.size() > 1) return false;
  auto before = facts_.readers(k);
  std::set<uint32_t> now;
  for (uint32_t reader : before) now.insert(joined_.find(reader));
  return now.size() < before.size() && (now.size() == 1 || facts_.isTable(k));
}

bool Merger::run() {
  for (uint32_t k = 0; k < facts_.count(); ++k) {
    groups_.push_back({facts_[k].deps, facts_[k].nodes.size(), facts_.hoisted(k), facts_.hasProduct(k), {k}});
  }
  setLevels();
  for (uint32_t k = 0; k < facts_.count(); ++k) {
    if (!isOpenFor(k)) continue;
    for (uint32_t user : facts_.readers(k)) mergeInto(k, user);
  }
  for (const auto& [base, readers] : facts_.kernels.users) siblings(readers, base);
  if (!joined_.replacesAny()) return false;
  bool fewer = false;
  for (uint32_t k = 0; k < facts_.count() && !fewer; ++k) fewer = hasFewerReaders(k);
  rebuild();
  return fewer;
}

}  // namespace

bool fuseMerge(Program& p, const FuseOptions& options) { return Merger(p, options).run(); }

}  // namespace uop
