// What functions do with their arguments. A function is what a set of roots reaches; a CALL's body is another function.
#pragma once
#include <unordered_map>
#include <vector>

#include "ir/graph.h"

namespace uop {

// Sources in the same function: a CALL's body is another.
inline std::span<const NodeId> ownSources(const Graph& g, NodeId n) { return g.srcs(n).subspan(g.op(n) == Op::Call); }

// Whether a place is a PARAM, a BUFFER, or an ALLOC or STAGE in global memory, as a whole, maybe behind AFTERs.
bool isWholeStorage(const Graph&, NodeId place);

// By node: the effects that an END runs. `order`: a function's nodes, ascending.
std::vector<bool> effectsInLoops(const Graph&, std::span<const NodeId> order);

// Writes are those of STOREs and, through the places passed to them, of CALLs.
struct FunctionInfo {
  std::vector<NodeId> params;          // all distinct PARAM nodes, ascending id
  std::vector<int64_t> written;        // PARAM slots, ascending
  std::vector<NodeId> buffersWritten;  // BUFFER nodes, ascending
};

// The functions of a graph, each worked out once. A CALL that does not suit its body (verifyProgram reports it) writes
// through those of its arguments that are places.
class Functions {
 public:
  explicit Functions(const Graph& g) : g_(g) {}
  const FunctionInfo& body(NodeId body);
  FunctionInfo of(std::span<const NodeId> roots);

 private:
  void settle(std::vector<NodeId> bodies);
  std::vector<NodeId> unknownBodies(std::span<const NodeId> nodes) const;
  FunctionInfo summary(std::span<const NodeId> nodes) const;

  const Graph& g_;
  std::unordered_map<NodeId, FunctionInfo> bodies_;
};

}  // namespace uop
