// Reductions of one kernel that can run in one loop: over the same RANGEs, in the same loops, none needing another.
#pragma once
#include <vector>

#include "ir/program.h"

namespace uop {

// Every node below `body` in an order that respects sources, each REDUCE together with those that share its loop.
std::vector<std::vector<NodeId>> reduceGroups(const Graph&, NodeId body);

}  // namespace uop
