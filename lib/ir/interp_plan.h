// What the interpreter works out about a function before it runs: which nodes belong to which loop, and in what order.
#pragma once
#include <map>
#include <set>
#include <unordered_map>

#include "ir/program.h"

namespace uop::interp {

// One node that closes RANGEs (END, REDUCE, STAGE): level k holds what is evaluated once an iteration of its k-th range.
struct LoopPlan {
  std::vector<NodeId> ranges;
  std::vector<std::vector<NodeId>> levels;
  std::vector<NodeId> outside;          // what the loops use from outside, ascending
  std::vector<NodeId> privateAllocs;    // local and reg ALLOCs of which each iteration of an independent range has its own
  std::set<NodeId> written;             // bases that STOREs inside write
};

struct FunctionPlan {
  std::vector<NodeId> nodes;                      // evaluated once, in this order
  std::unordered_map<NodeId, LoopPlan> loops;     // by closer, of every depth
  std::unordered_map<NodeId, std::vector<NodeId>> last;  // node → values that nothing needs after it
  std::unordered_map<NodeId, std::set<NodeId>> writes;   // effect at function level → bases that it writes
  std::unordered_map<NodeId, std::vector<NodeId>> waits; // place AFTER at function level → effects on its base, ascending
  std::set<NodeId> logged;                        // bases of which some version cannot be read from memory as it then is
  std::vector<bool> contentRead;                  // by node id: a place whose contents some user reads
  std::set<NodeId> bases;                         // storage that the function touches
};

// Bases that a CALL's body writes: PARAM slots and BUFFER nodes.
struct BodyWrites {
  std::set<int64_t> params;
  std::set<NodeId> buffers;
};

class Planner {
 public:
  explicit Planner(const Graph& g) : g_(g) {}
  // Error: no order of one iteration's reads and writes is right.
  Result<const FunctionPlan*> plan(std::span<const NodeId> roots);

 private:
  LoopPlan planLoops(NodeId closer, const FunctionPlan&);
  Result<std::vector<NodeId>> orderLevel(std::vector<NodeId> nodes, const FunctionPlan&);
  std::span<const NodeId> needsOf(NodeId n, const FunctionPlan&) const;
  std::set<NodeId> writesOf(NodeId effect, const FunctionPlan&);
  std::set<NodeId> readsOf(NodeId node, const FunctionPlan&);
  const BodyWrites& bodyWrites(NodeId body);
  void versions(FunctionPlan&);
  void lifetimes(FunctionPlan&, std::span<const NodeId> roots);

  const Graph& g_;
  std::map<NodeId, BodyWrites> bodies_;
  std::map<std::vector<NodeId>, FunctionPlan> plans_;
};

}  // namespace uop::interp
