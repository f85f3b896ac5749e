// How often loops run in all, where their bounds are known as the program is compiled.
#pragma once
#include <optional>
#include <vector>

#include "schedule/loop_tree.h"

namespace uop {

// By loop of the tree: how often its body runs in one run of the kernel; saturated. nullopt where a bound depends on an argument or on
// memory, or where so many bounds differ (under a causal mask one a row) that adding them up would take long.
std::vector<std::optional<uint64_t>> tripCounts(const Graph&, const LoopTree&);

}  // namespace uop
