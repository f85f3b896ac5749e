// When launches run and where their temporaries lie.
#pragma once
#include "cmd/compiler/launch_graph.h"

namespace uop {

struct MemoryLayout {
  std::vector<uint32_t> order;                            // launches
  std::vector<std::optional<LaunchGraph::Reuse>> reuse;   // by launch: what it writes in place
  std::vector<int64_t> offsets;                           // by temporary, in one block
  int64_t bytes = 0, peak = 0;                            // of the block; the most that is live at once
};

// The block is never larger than the launches need in the order of their numbers.
MemoryLayout planMemory(const LaunchGraph& graph);

}  // namespace uop
