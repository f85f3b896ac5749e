#include "cmd/compiler/memory_plan.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "cmd/compiler/arena.h"
#include "cmd/compiler/launch_order.h"

namespace uop {
namespace {

MemoryLayout layout(const LaunchGraph& graph, std::vector<uint32_t> order) {
  MemoryLayout out;
  out.reuse.resize(graph.launches.size());
  // Temporaries that share one place, one after the other, are one lifetime: that of the first.
  constexpr uint32_t kNone = ~0u;
  std::vector<uint32_t> home(graph.temps.size(), kNone);
  std::vector<Lifetime> lives;
  Liveness liveness(graph);
  for (size_t i = 0; i < order.size(); ++i) {
    const uint32_t v = order[i];
    if ((out.reuse[v] = liveness.change(v).reuse)) home[out.reuse[v]->born] = home[out.reuse[v]->dying];
    liveness.run(v);
    for (uint32_t t : graph.launches[v].temps) {
      if (home[t] == kNone) home[t] = static_cast<uint32_t>(lives.size()), lives.push_back({graph.temps[t].bytes, i, i});
      lives[home[t]].last = i;
    }
  }
  for (uint32_t t = 0; t < graph.temps.size(); ++t)
    if (graph.temps[t].after && home[t] != kNone) lives[home[t]].last = order.size();
  const ArenaPlan arena = planArena(lives);
  for (uint32_t h : home) out.offsets.push_back(h == kNone ? 0 : arena.offsets[h]);
  out.bytes = arena.bytes;
  out.peak = arena.peak;
  out.order = std::move(order);
  return out;
}

}  // namespace

MemoryLayout planMemory(const LaunchGraph& graph) {
  std::vector<uint32_t> given(graph.launches.size());
  std::iota(given.begin(), given.end(), 0u);
  std::vector<uint32_t> chosen = orderLaunches(graph);
  const bool same = chosen == given;
  MemoryLayout better = layout(graph, std::move(chosen));
  if (same || better.bytes <= peakBytes(graph, given)) return better;
  // A lower peak does not make for a smaller block every time.
  MemoryLayout plain = layout(graph, std::move(given));
  return std::tie(better.bytes, better.peak) < std::tie(plain.bytes, plain.peak) ? better : plain;
}

}  // namespace uop
