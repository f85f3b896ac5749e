// The parts of buildLoopTree: nesting (which loop), then order within each loop.
#pragma once
#include <unordered_map>

#include "schedule/loop_tree.h"

namespace uop::schedule {

// What is ordered within a loop: a node, or a whole loop that stands for its END.
using ItemId = uint32_t;

class Nest {
 public:
  Nest(const Graph& graph, NodeId body, LoopTree& tree) : g(graph), tree(tree), nodes(cone(graph, std::span(&body, 1))), body_(body) {}
  Result<void> build();

  ItemId itemOf(NodeId) const;                     // an END: its outermost loop
  ItemId loopItem(uint32_t loop) const { return static_cast<ItemId>(g.size()) + loop; }
  bool isLoopItem(ItemId item) const { return item >= g.size(); }
  uint32_t loopOfItem(ItemId item) const { return item - static_cast<uint32_t>(g.size()); }
  NodeId nodeOf(ItemId item) const { return isLoopItem(item) ? tree.loops[loopOfItem(item)].end : item; }
  uint32_t levelOf(ItemId) const;
  ItemId lift(ItemId item, uint32_t level) const;  // the item of `level` that is or holds `item`
  size_t itemCount() const { return g.size() + tree.loops.size(); }
  std::optional<uint32_t> loopOfRange(NodeId range) const;

  const Graph& g;
  LoopTree& tree;
  std::vector<NodeId> nodes;

 private:
  void checkForm(NodeId) const;
  Result<void> addLoops(NodeId end);
  Result<uint32_t> innermost(NodeId);

  NodeId body_;
  std::vector<uint32_t> rangeLoop_;                      // by node id
  std::unordered_map<RangeSetId, uint32_t> innermost_;
};

struct Edge {
  ItemId before, after;  // of one level
};

// Edges by data and AFTER.
Result<void> addDependences(const Nest&, std::vector<Edge>&);
// Edges from reads to the STOREs that must not come before them.
Result<void> addAntiDependences(const Nest&, std::vector<Edge>&);
// Why an iteration of the loops inside of `level` that both are in may find overwritten what it reads, which was there before
// these loops; "" where no other iteration writes the element that it reads: that is the one which it writes itself, or of the
// same row, where each loop counts rows.
std::string_view whyOverwritten(const Graph&, const LoopTree&, const Access& read, const Access& write, uint32_t level);
// Fills in the bodies.
Result<void> sortLevels(const Nest&, std::span<const Edge>);

}  // namespace uop::schedule
