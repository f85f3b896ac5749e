// Reductions of one kernel that can run in one loop: over the same RANGEs, in the same loops, none needing another.
#pragma once
#include <vector>

#include "ir/program.h"

namespace uop {

// `body` with one RANGE for loops of the same bounds and kind in the same loops, where no reduction over them is inside of another.
NodeId alignReductions(Graph&, NodeId body);

// Every node below `body` in an order that respects sources, each REDUCE together with those that share its loop.
std::vector<std::vector<NodeId>> reduceGroups(const Graph&, NodeId body);

}  // namespace uop
