// The order of launches that keeps the temporaries' memory low.
#pragma once
#include "cmd/compiler/launch_graph.h"

namespace uop {

// An order that keeps `deps`, whose peak is at most that of the launches as they are numbered; the best order of all where
// there are few. Deterministic, in time n log n.
std::vector<uint32_t> orderLaunches(const LaunchGraph& graph);

// No order has a lower peak.
int64_t leastPeak(const LaunchGraph& graph);

// Of the orders that list scheduling by one rule gives.
enum class ListRule : uint8_t { Net, Recent, Transient };
std::vector<uint32_t> listSchedule(const LaunchGraph& graph, ListRule rule);

// The best of the orders that a breadth-first search meets which keeps the `width` most promising sets of launches a step;
// nullopt where none has a peak below `bound`. Exact where `width` is never exceeded.
std::optional<std::vector<uint32_t>> beamSchedule(const LaunchGraph& graph, int64_t bound, size_t width);

}  // namespace uop
