#include "schedule/loop_tree.h"

#include <algorithm>

#include "ir/program.h"
#include "schedule/tree_builder.h"

namespace uop {

bool LoopTree::encloses(uint32_t outer, uint32_t inner) const {
  while (loops[inner].depth > loops[outer].depth) inner = loops[inner].parent;
  return inner == outer;
}

uint32_t LoopTree::common(uint32_t a, uint32_t b) const {
  while (a != b) {
    if (loops[a].depth >= loops[b].depth) a = loops[a].parent;
    else b = loops[b].parent;
  }
  return a;
}

Result<LoopTree> buildLoopTree(const Graph& g, NodeId body) {
  LoopTree tree;
  schedule::Nest nest(g, body, tree);
  if (auto r = nest.build(); !r) return std::unexpected(r.error());
  std::vector<schedule::Edge> edges;
  if (auto r = schedule::addDependences(nest, edges); !r) return std::unexpected(r.error());
  if (auto r = schedule::addAntiDependences(nest, edges); !r) return std::unexpected(r.error());
  if (auto r = schedule::sortLevels(nest, edges); !r) return std::unexpected(r.error());
  return tree;
}

namespace schedule {

void Nest::checkForm(NodeId n) const {
  const Op op = g.op(n);
  const bool memory = op == Op::Param || op == Op::Alloc || op == Op::Index || op == Op::After;
  const bool known = memory || op == Op::Const || op == Op::Load || op == Op::Store || op == Op::Range || op == Op::End || op == Op::Sink ||
                     hasTrait(op, trait::Elementwise);
  if (!known) internalError(fmt::format("{} in a kernel body", nodeText(g, n)));
  if (!memory && g.rank(n) != 0) internalError(fmt::format("{} in a kernel body is no scalar", nodeText(g, n)));
}

Result<uint32_t> Nest::innermost(NodeId n) {
  const RangeSetId set = g[n].open;
  if (set == 0) return 0u;
  if (auto known = innermost_.find(set); known != innermost_.end()) return known->second;
  uint32_t deepest = 0;
  for (NodeId r : g.open(n)) {
    if (rangeLoop_[r] == LoopTree::kNoLoop) return fail(Diag::PassError, fmt::format("no END closes the loop {} around {}", nodeText(g, r), nodeText(g, n)));
    if (tree.loops[rangeLoop_[r]].depth > tree.loops[deepest].depth) deepest = rangeLoop_[r];
  }
  for (NodeId r : g.open(n))
    if (!tree.encloses(rangeLoop_[r], deepest)) return fail(Diag::PassError, fmt::format("{} is inside two loops of which none is inside the other", nodeText(g, n)));
  return innermost_[set] = deepest;
}

Result<void> Nest::addLoops(NodeId end) {
  auto level = innermost(end);
  if (!level) return std::unexpected(level.error());
  uint32_t parent = *level;
  for (NodeId r : g.srcs(end).subspan(1)) {
    if (rangeLoop_[r] != LoopTree::kNoLoop) return fail(Diag::TwoEnds, g.attr(r, AttrKey::Id));
    const auto loop = static_cast<uint32_t>(tree.loops.size());
    tree.loops.push_back({r, end, g.kind(r), parent, tree.loops[parent].depth + 1, {}});
    rangeLoop_[r] = parent = loop;
  }
  return {};
}

// An END comes after the ENDs inside it, so going down the ids the outer loops are there first.
Result<void> Nest::build() {
  if (g[body_].dtype != DType::Void) internalError(fmt::format("the kernel body {} is no effect", nodeText(g, body_)));
  rangeLoop_.assign(g.size(), LoopTree::kNoLoop);
  tree.loops.resize(1);
  for (NodeId n : nodes)
    checkForm(n);
  for (size_t i = nodes.size(); i-- > 0;)
    if (g.op(nodes[i]) == Op::End)
      if (auto r = addLoops(nodes[i]); !r) return r;
  tree.levels.assign(g.size(), LoopTree::kNoLoop);
  for (NodeId n : nodes) {
    auto level = innermost(n);
    if (!level) return std::unexpected(level.error());
    tree.levels[n] = *level;
  }
  if (g[body_].open != 0) return fail(Diag::PassError, fmt::format("the kernel body {} is inside a loop that no END closes", nodeText(g, body_)));
  const std::vector<bool> reads = implicitReads(g, nodes);
  const std::vector<NodeId> below = belowAfters(g, nodes);
  for (NodeId n : nodes) {
    const bool write = g.op(n) == Op::Store;
    if (write || g.op(n) == Op::Load) tree.accesses.push_back({n, write, resolvePlace(g, g.src(n, 0), below)});
    else if (reads[n]) tree.accesses.push_back({n, false, resolvePlace(g, n, below)});
  }
  return {};
}

std::optional<uint32_t> Nest::loopOfRange(NodeId range) const {
  const uint32_t loop = rangeLoop_[range];
  return loop == LoopTree::kNoLoop ? std::nullopt : std::optional(loop);
}

ItemId Nest::itemOf(NodeId n) const { return g.op(n) == Op::End && g[n].srcCount > 1 ? loopItem(rangeLoop_[g.src(n, 1)]) : n; }

uint32_t Nest::levelOf(ItemId item) const { return isLoopItem(item) ? tree.loops[loopOfItem(item)].parent : tree.levels[item]; }

ItemId Nest::lift(ItemId item, uint32_t level) const {
  for (uint32_t at = levelOf(item); at != level; at = tree.loops[at].parent) item = loopItem(at);
  return item;
}

Result<void> addDependences(const Nest& nest, std::vector<Edge>& edges) {
  const Graph& g = nest.g;
  for (NodeId n : nest.nodes) {
    const ItemId item = nest.itemOf(n);
    if (nest.isLoopItem(item)) continue;  // what an END waits for is inside it
    uint32_t level = nest.tree.levels[n];
    if (g.op(n) == Op::Range) level = nest.tree.loops[level].parent;
    for (NodeId s : g.srcs(n)) {
      const ItemId source = nest.itemOf(s);
      const uint32_t at = nest.levelOf(source);
      if (!nest.tree.encloses(at, level))
        return fail(Diag::PassError, fmt::format("no order exists: {} needs {}, which is inside a loop that does not enclose it", nodeText(g, n), nodeText(g, s)));
      edges.push_back({source, nest.lift(item, at)});
    }
  }
  return {};
}

}  // namespace schedule
}  // namespace uop
