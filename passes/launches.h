// The kernels of a program as void CALLs, in the order in which they are given: each of its places is behind an AFTER of what must
// come first.
#pragma once
#include <unordered_map>
#include <vector>

#include "ir/rebuild.h"

namespace uop {

struct LaunchArgument {
  NodeId base;                   // a place's storage, or a scalar argument of the program
  bool written = false;
  std::vector<NodeId> after = {};  // CALLs that must come first, whatever they touch
};

class Launches {
 public:
  Launches(Graph& g, FreshIds fresh) : g_(g), fresh_(fresh) {}

  // A CALL of the kernel. `ordered`: CALLs that must come first though they leave nothing that this one touches.
  NodeId launch(NodeId kernel, std::span<const LaunchArgument> arguments, std::span<const NodeId> ordered);
  // A base outside of kernels: a STAGE is an ALLOC there.
  NodeId place(NodeId base);
  // The CALL that wrote the base last; kNoNode where none has.
  NodeId lastWriter(NodeId base) const;
  // Storage for the places of a body's ALLOC.
  NodeId freshAlloc(NodeId like);

 private:
  NodeId argument(const LaunchArgument&, std::span<const NodeId> ordered);

  Graph& g_;
  FreshIds fresh_;
  std::unordered_map<NodeId, NodeId> place_;
  std::unordered_map<NodeId, NodeId> lastWriter_;
  std::unordered_map<NodeId, std::vector<NodeId>> readers_;  // since then
};

}  // namespace uop
