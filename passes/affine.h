// Integer expressions in which a RANGE stands linearly, and comparisons of them solved for it.
#pragma once
#include <optional>

#include "passes/index_math.h"
#include "rewrite/ranges.h"

namespace uop {

// coefficient · r + rest + offset, where `rest` is an `index` that does not depend on r (kNoNode: 0). Exact: no part wraps.
struct Linear {
  int64_t coefficient = 0;
  NodeId rest = kNoNode;
  int64_t offset = 0;
};

// What a condition says of a RANGE r, value being an `index` that does not depend on it (kNoNode: 0).
struct Limit {
  enum Kind { Equal, Below, AtLeast } kind;  // r = , r < , r ≥ value + offset
  NodeId value;
  int64_t offset;
};

class Affine {
 public:
  Affine(Graph& g, ValueRanges& facts) : g_(g), facts_(facts), math_(g) {}

  // nullopt where r stands in `e` otherwise, or some part of it may wrap.
  std::optional<Linear> in(NodeId e, NodeId r);
  // A CMPLT or CMPNE of integers that holds (or, unless `when`, does not); nullopt where that is no limit of r.
  std::optional<Limit> solve(NodeId comparison, bool when, NodeId r);
  // The limit as an index, cut off at 0 and n: exact whatever the value.
  NodeId clamped(const Limit&, int64_t n);
  // Where the limit lies in 0 … n-1; kNoNode: always.
  NodeId inside(const Limit&, int64_t n);
  // value + offset.
  NodeId at(const Limit& l) { return l.value == kNoNode ? g_.index(l.offset) : math_.add(l.value, g_.index(l.offset)); }

 private:
  std::optional<Linear> combine(NodeId n, std::span<const Linear> sources);
  std::optional<NodeId> difference(NodeId x, NodeId y);

  Graph& g_;
  ValueRanges& facts_;
  IndexMath math_;
};

}  // namespace uop
