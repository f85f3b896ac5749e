// How a kernel touches memory: what an access names, and where.
#pragma once
#include <vector>

#include "ir/graph.h"

namespace uop {

// A place expression taken apart: root, the AFTER nearest to the access (its state of memory), and one index an axis.
struct PlaceRef {
  NodeId root = kNoNode;
  NodeId state = kNoNode;  // kNoNode: a bare place, as the program found it
  std::vector<NodeId> indices;
};

// By node id: the node below a chain of AFTERs. Such chains may be as long as the program.
std::vector<NodeId> belowAfters(const Graph&, std::span<const NodeId> nodes);
// InternalError on anything but INDEX and AFTER over PARAM or ALLOC.
PlaceRef resolvePlace(const Graph&, NodeId place, std::span<const NodeId> belowAfters);

struct Access {
  NodeId node = kNoNode;  // the STORE, the LOAD, or a place that is read where a value is wanted
  bool write = false;
  PlaceRef place;
};

// By node id: is this a place that some node of `nodes` uses as a value?
std::vector<bool> implicitReads(const Graph&, std::span<const NodeId> nodes);

// Has each iteration of a loop of this kind an ALLOC of its own?
inline bool privatises(Kind kind, Space space) {
  if (space == Space::Global) return false;
  return kind == Kind::Thread || kind == Kind::Global || (space == Space::Reg && (kind == Kind::Local || kind == Kind::Warp));
}

// One index as Σ coefficient · atom + constant; an atom is whatever is not ADD, NEG, or MUL by a constant.
struct Affine {
  std::vector<std::pair<NodeId, int64_t>> terms;  // ascending atoms, no zero coefficients
  int64_t constant = 0;
  bool exact = true;  // false: coefficients overflowed, nothing is known
};
Affine affineOf(const Graph&, NodeId index);

// The RANGEs whose counters are the digits of an index, in a number system without carries: no two combinations of them give
// the same index. Nothing where it is not of that form.
std::vector<NodeId> digitsOf(const Graph&, const Affine& index);

}  // namespace uop
