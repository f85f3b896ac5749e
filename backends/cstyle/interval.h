// Bounds of integer values, from constants, RANGEs and scalar arguments: what tells plain C arithmetic from arithmetic that
// may wrap.
#pragma once
#include <vector>

#include "ir/graph.h"

namespace uop::cstyle {

struct Interval {
  __int128 lo, hi;
};

class Intervals {
 public:
  Intervals(const Graph&, std::span<const NodeId> nodes);  // ascending
  Interval of(NodeId n) const { return values_[n]; }
  // The exact result of this ADD, MUL or NEG fits its dtype.
  bool exact(NodeId n) const { return exact_[n]; }

 private:
  Interval compute(NodeId) const;
  Interval quotient(NodeId) const;

  const Graph& g_;
  std::vector<Interval> values_;
  std::vector<bool> exact_;
};

}  // namespace uop::cstyle
