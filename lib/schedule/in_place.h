// May a kernel write its result where one of its inputs lies?
#pragma once
#include <vector>

#include "ir/program.h"

namespace uop {

struct InPlace {
  int64_t read, written;  // slots of PARAMs of the body
  bool operator==(const InPlace&) const = default;
};

// Pairs of arguments that may be one piece of memory: of one dtype and shape, the one only read, the other written by one STORE;
// no element is written twice, and all reads of it can come before: in the iteration that writes it, as those of a row that is
// read several times and then replaced, or in loops of their own.
std::vector<InPlace> inPlacePairs(const Graph& g, NodeId body);

// The body with both arguments of the pair as the PARAM that was read. Reading comes before writing by the format's own order,
// as of any kernel that updates a place.
Excerpt mergeArguments(const Graph& g, NodeId body, InPlace pair);

}  // namespace uop
