// The CALLs of a lowered program as launches: what each touches, and what must come before it.
#pragma once
#include <map>

#include "cmd/compiler/launch_graph.h"
#include "ir/program.h"
#include "schedule/in_place.h"

namespace uop {

struct CallGraph {
  std::vector<NodeId> calls;  // by launch, ascending
  std::vector<NodeId> temps;  // by temporary: its ALLOC, ascending
  LaunchGraph graph;          // bytes are rounded up to what they take in the arena

  // Which arguments of a launch are the two temporaries.
  InPlace slotsOf(const Graph& g, uint32_t launch, LaunchGraph::Reuse reuse) const;
};

// The format's orders are AFTERs; and of two CALLs that touch one place which either writes, the one that is earlier in the
// program stays so.
CallGraph callGraphOf(const Program& lowered);

}  // namespace uop
