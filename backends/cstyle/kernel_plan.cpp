#include "backends/cstyle/kernel_plan.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "ir/program.h"

namespace uop::cstyle {
namespace {

class Planner {
 public:
  Planner(const Graph& graph, const EmitOptions& options, KernelPlan& plan) : g(graph), options_(options), p(plan) {}
  Result<void> run(NodeId body);

 private:
  void require(NodeId n);
  void requireSources(NodeId n);
  void requireStore(NodeId n);
  void markNeeded();
  void chooseGrid();
  bool argumentsTell(NodeId bound) const;
  std::optional<uint32_t> onlyLoop(uint32_t level) const;
  void placeAllocs();
  uint32_t scopeOf(NodeId alloc, std::span<const size_t> accesses) const;
  Result<void> fillScratch();

  const Graph& g;
  const EmitOptions& options_;
  KernelPlan& p;
  std::vector<NodeId> work_;
  std::unordered_map<NodeId, std::vector<NodeId>> storesOf_;  // ALLOCs
};

void Planner::require(NodeId n) {
  if (p.needed[n]) return;
  p.needed[n] = true;
  work_.push_back(n);
}

void Planner::requireStore(NodeId n) {
  require(n);
  for (uint32_t loop = p.tree.levels[n]; loop != 0 && !p.busy[loop]; loop = p.tree.loops[loop].parent) {
    p.busy[loop] = true;
    // How many tasks there are is the caller's business; only the bounds inside the outermost loop tell one task from another.
    if (p.grid.empty() || loop != p.grid.front()) require(g.src(p.tree.loops[loop].range, 0));
  }
}

void Planner::requireSources(NodeId n) {
  if (!p.isAccess(n)) {
    const Op op = g.op(n);
    if (op == Op::After) return require(g.src(n, 0));
    if (hasTrait(op, trait::Elementwise))
      for (NodeId s : g.srcs(n)) require(s);
    return;
  }
  const Access& access = p.access(n);
  const NodeId root = access.place.root;
  for (size_t axis = 0; axis < access.place.indices.size(); ++axis)
    if (indexMatters(g, root, axis)) require(access.place.indices[axis]);
  if (g.op(n) == Op::Load || access.write)
    for (NodeId s : g.srcs(n).subspan(1)) require(s);
  (access.write ? p.written : p.read)[root] = true;
  if (access.write) return;
  auto stores = storesOf_.find(root);
  if (stores == storesOf_.end()) return;
  for (NodeId store : std::exchange(stores->second, {})) requireStore(store);
}

// From the STOREs to arguments backwards; a STORE to an ALLOC matters once something needed reads it.
void Planner::markNeeded() {
  p.needed.assign(g.size(), false);
  p.busy.assign(p.tree.loops.size(), false);
  p.written.assign(g.size(), false);
  p.read.assign(g.size(), false);
  p.accessOf.assign(g.size(), KernelPlan::kNone);
  for (size_t i = 0; i < p.tree.accesses.size(); ++i) p.accessOf[p.tree.accesses[i].node] = static_cast<uint32_t>(i);
  storesOf_.clear();
  std::vector<NodeId> visible;
  for (const Access& access : p.tree.accesses) {
    if (!access.write) continue;
    if (g.op(access.place.root) == Op::Alloc) storesOf_[access.place.root].push_back(access.node);
    else visible.push_back(access.node);
  }
  for (NodeId store : visible) requireStore(store);
  while (!work_.empty()) {
    const NodeId n = work_.back();
    work_.pop_back();
    requireSources(n);
  }
}

// A bound that the caller can compute: constants, scalar arguments and arithmetic.
bool Planner::argumentsTell(NodeId bound) const {
  if (g.isConst(bound)) return true;
  for (NodeId n : cone(g, std::span(&bound, 1)))
    if (!g.isConst(n) && g.op(n) != Op::Param && !hasTrait(g.op(n), trait::Elementwise)) return false;
  return p.tree.levels[bound] == 0;
}

// The loop that holds everything that happens in `level`. A value read beside it would be read again by each task, perhaps
// after another task has written there.
std::optional<uint32_t> Planner::onlyLoop(uint32_t level) const {
  std::optional<uint32_t> found;
  for (const LoopTree::Item& item : p.tree.loops[level].body) {
    if (item.isLoop) {
      if (!p.busy[item.loop]) continue;
      if (found) return std::nullopt;
      found = item.loop;
    } else if (p.needed[item.node] && p.isAccess(item.node)) {
      if (p.access(item.node).write || p.written[p.access(item.node).place.root]) return std::nullopt;
    }
  }
  return found;
}

void Planner::chooseGrid() {
  p.isGrid.assign(p.tree.loops.size(), false);
  uint32_t level = 0;
  while (options_.grid) {
    auto loop = onlyLoop(level);
    if (!loop) return;
    const Kind kind = p.tree.loops[*loop].kind;
    if ((kind != Kind::Thread && kind != Kind::Global) || !argumentsTell(g.src(p.tree.loops[*loop].range, 0))) return;
    p.grid.push_back(*loop);
    p.isGrid[*loop] = true;
    level = *loop;
  }
}

// Around all uses, and outside the loops that may carry its contents from one iteration to the next: all but those that give
// each iteration a copy. A scalar that is stored first carries nothing.
uint32_t Planner::scopeOf(NodeId alloc, std::span<const size_t> accesses) const {
  uint32_t level = p.tree.levels[p.tree.accesses[accesses.front()].node];
  for (size_t i : accesses) level = p.tree.common(level, p.tree.levels[p.tree.accesses[i].node]);
  const Access& first = p.tree.accesses[accesses.front()];
  if (first.write && g[first.node].srcCount == 2 && g.rank(alloc) == 0 && p.tree.levels[first.node] == level) return level;
  while (level != 0 && !privatises(p.tree.loops[level].kind, g.space(alloc))) level = p.tree.loops[level].parent;
  return level;
}

void Planner::placeAllocs() {
  std::vector<uint32_t> position(g.size());
  uint32_t next = 0;
  // A walk over the tree in order, with an explicit stack of (loop, item).
  std::vector<std::pair<uint32_t, size_t>> stack = {{0, 0}};
  while (!stack.empty()) {
    auto& [loop, at] = stack.back();
    if (at == p.tree.loops[loop].body.size()) {
      stack.pop_back();
      continue;
    }
    const LoopTree::Item item = p.tree.loops[loop].body[at++];
    if (item.isLoop) stack.emplace_back(item.loop, 0);
    else position[item.node] = next++;
  }
  std::unordered_map<NodeId, std::vector<size_t>> uses;
  for (size_t i = 0; i < p.tree.accesses.size(); ++i)
    if (const Access& a = p.tree.accesses[i]; p.needed[a.node] && g.op(a.place.root) == Op::Alloc) uses[a.place.root].push_back(i);
  for (NodeId n : p.nodes) {
    auto found = uses.find(n);
    if (found == uses.end()) continue;
    std::ranges::sort(found->second, {}, [&](size_t i) { return position[p.tree.accesses[i].node]; });
    p.allocs.push_back({n, scopeOf(n, found->second), -1});
  }
}

// The largest go to scratch until the rest fits on the stack.
Result<void> Planner::fillScratch() {
  auto bytes = [&](const AllocPlan& a) { return std::max<int64_t>(1, g.elements(a.node)) * byteSize(g.dtype(a.node)); };
  std::vector<AllocPlan*> bySize;
  __int128 stack = 0, scratch = 0;
  for (AllocPlan& a : p.allocs) bySize.push_back(&a), stack += bytes(a);
  std::ranges::sort(bySize, {}, [&](AllocPlan* a) { return std::pair(-bytes(*a), a->node); });
  for (AllocPlan* a : bySize) {
    if (stack <= options_.stackLimit) break;
    stack -= bytes(*a);
    a->scratchOffset = static_cast<int64_t>(scratch);
    scratch += (__int128{bytes(*a)} + 63) / 64 * 64;
    if (scratch > kMaxBytes) return fail(Diag::Unsupported, "a kernel's local storage is over the limit of 2^62 bytes");
  }
  p.scratchBytes = static_cast<int64_t>(scratch);
  return {};
}

Result<void> Planner::run(NodeId body) {
  p.nodes = cone(g, std::span(&body, 1));
  for (NodeId n : p.nodes)
    if (g.op(n) == Op::Alloc && g.space(n) == Space::Global) internalError(fmt::format("{} inside a kernel", nodeText(g, n)));
  markNeeded();
  chooseGrid();
  if (!p.grid.empty()) markNeeded();
  placeAllocs();
  return fillScratch();
}

}  // namespace

Result<KernelPlan> planKernel(const Graph& g, NodeId body, const EmitOptions& options) {
  auto tree = buildLoopTree(g, body);
  if (!tree) return std::unexpected(tree.error());
  KernelPlan plan;
  plan.tree = std::move(*tree);
  if (auto r = Planner(g, options, plan).run(body); !r) return std::unexpected(r.error());
  return plan;
}

}  // namespace uop::cstyle
