// Facts about nodes that guards ask for, each a dense table over node ids that grows as ids are asked for: value ranges
// of integers and bool, which constant a node is a broadcast of, the canonical order of operands, the size of a sum, what loops decide.
#pragma once
#include <vector>

#include "ir/graph.h"

namespace uop {

__extension__ typedef __int128 Wide;

// A set of integer values lo … hi; empty for what is not an integer or bool.
struct Interval {
  Wide lo = 0, hi = -1;
  bool empty() const { return lo > hi; }
  bool single() const { return lo == hi; }
  bool contains(Wide v) const { return lo <= v && v <= hi; }
  friend bool operator==(const Interval&, const Interval&) = default;
};

Interval fullRange(DType);                      // empty for floats
Interval intervalOf(Scalar, DType);
// The values of op over operands in the given ranges. Where the exact result may leave the dtype it wraps: the range is
// then the dtype's whole one, and *wraps is set. `operand` is the dtype of the last source.
Interval applyOp(Op, DType operand, DType result, std::span<const Interval>, bool* wraps = nullptr);

// A table by node for a graph of `nodes` that rewriting will add some to.
inline size_t withRoom(size_t nodes) { return nodes + nodes / 4 + 64; }

class ValueRanges {
 public:
  explicit ValueRanges(const Graph& g) : g_(g) { table_.reserve(withRoom(g.size())); }

  Interval get(NodeId id) { return intervals_[facts(id).range]; }
  // The CONST that `id` is, perhaps behind movement ops that only repeat it; else kNoNode.
  NodeId constant(NodeId id) { return facts(id).constant; }
  // Whether `a` stands before `b` as an operand: constants last, deep expressions first, then by structure alone, so that
  // the order outlives renumbering.
  bool before(NodeId a, NodeId b);
  // Leaves of the sum that `id` is, at most 255.
  unsigned terms(NodeId id) { return facts(id).terms; }
  // An index or a bool scalar that loops, constants and scalar arguments alone decide.
  bool isGate(NodeId id) { return facts(id).gate; }

 private:
  struct Facts {
    uint64_t hash = 0;
    uint32_t range = 0;  // in intervals_; 0 is the empty one, as of all floats
    NodeId constant = kNoNode;
    uint32_t height = 0;
    uint8_t terms = 1;
    bool gate = false;
  };
  const Facts& facts(NodeId id) {
    while (table_.size() <= id) table_.push_back(compute(static_cast<NodeId>(table_.size())));
    return table_[id];
  }
  Facts compute(NodeId id);
  Interval range(NodeId id) const;
  Interval rangeOfLoop(NodeId id) const;
  Interval known(NodeId id) const { return intervals_[table_[id].range]; }
  uint64_t hashOf(NodeId id) const;

  const Graph& g_;
  std::vector<Facts> table_;
  std::vector<Interval> intervals_{{}};
};

}  // namespace uop
