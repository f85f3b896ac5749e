// CALLs of a body that is cut into kernels become these kernels, on the arguments of the CALL and storage of its own. What two
// CALLs compute of the same contents (a table of angles, a mask) is computed once.
#pragma once
#include <map>

#include "ir/functions.h"
#include "passes/launches.h"
#include "passes/passes.h"

namespace uop {

class CallSplicer {
 public:
  CallSplicer(Program& p, Launches& launches) : p_(p), g_(p.graph), launches_(launches), functions_(p.graph) {}

  // The CALLs of kernels that `call` stands for. `ordered`: as in Launches::launch.
  std::vector<NodeId> splice(NodeId call, std::span<const NodeId> ordered);

 private:
  struct Kernel {
    NodeId call;                            // in the body
    std::vector<LaunchArgument> arguments;  // in the body's terms
    bool pure = true;                       // nothing but itself writes what it writes
  };
  using Key = std::vector<NodeId>;  // a pure kernel, and what it reads: bases, and the CALLs that wrote them

  const std::vector<Kernel>& kernelsOf(NodeId body);
  Kernel kernelOf(NodeId call);
  std::vector<LaunchArgument> mapped(const Kernel&, std::span<const NodeId> args);
  Key keyOf(const Kernel&, std::span<const LaunchArgument>) const;

  Program& p_;
  Graph& g_;
  Launches& launches_;
  Functions functions_;
  std::unordered_map<NodeId, std::vector<Kernel>> bodies_;
  std::map<Key, NodeId> known_;
  std::unordered_map<NodeId, NodeId> now_;  // of the body at hand: its ALLOCs and CALLs → this CALL's
};

}  // namespace uop
