#include "cmd/compiler/launch_graph.h"

#include <algorithm>

namespace uop {

LaunchGraph reversed(const LaunchGraph& graph) {
  const auto last = static_cast<uint32_t>(graph.launches.size()) - 1;
  LaunchGraph out;
  for (const LaunchGraph::Temp& t : graph.temps) out.temps.push_back({t.bytes, t.after, t.before});
  out.launches.resize(graph.launches.size());
  for (uint32_t v = 0; v < graph.launches.size(); ++v) {
    const LaunchGraph::Launch& from = graph.launches[v];
    out.launches[last - v].temps = from.temps;
    for (const LaunchGraph::Reuse& r : from.reuse) out.launches[last - v].reuse.push_back({r.born, r.dying});
    for (uint32_t d : from.deps) out.launches[last - d].deps.push_back(last - v);
  }
  return out;
}

Liveness::Liveness(const LaunchGraph& graph) : graph_(graph), left_(graph.temps.size()), isLive_(graph.temps.size()) {
  for (const LaunchGraph::Launch& l : graph.launches)
    for (uint32_t t : l.temps) ++left_[t];
  for (uint32_t t = 0; t < graph.temps.size(); ++t)
    if (graph.temps[t].before) isLive_[t] = true, live_ += graph.temps[t].bytes;
  peak_ = live_;
}

Liveness::Change Liveness::change(uint32_t launch) const {
  Change c;
  for (uint32_t t : graph_.launches[launch].temps) {
    if (!isLive_[t]) c.allocated += graph_.temps[t].bytes;
    if (left_[t] == 1 && !graph_.temps[t].after) c.freed += graph_.temps[t].bytes;
  }
  for (const LaunchGraph::Reuse& r : graph_.launches[launch].reuse) {
    const bool dies = isLive_[r.dying] && left_[r.dying] == 1 && !graph_.temps[r.dying].after;
    if (!dies || isLive_[r.born] || graph_.temps[r.born].bytes <= c.saved) continue;
    c.saved = graph_.temps[r.born].bytes;
    c.reuse = r;
  }
  return c;
}

void Liveness::run(uint32_t launch) {
  const Change c = change(launch);
  peak_ = std::max(peak_, live_ + c.transient());
  live_ += c.net();
  for (uint32_t t : graph_.launches[launch].temps) {
    isLive_[t] = true;
    if (--left_[t] == 0 && !graph_.temps[t].after) isLive_[t] = false;
  }
}

int64_t peakBytes(const LaunchGraph& graph, std::span<const uint32_t> order) {
  Liveness liveness(graph);
  for (uint32_t v : order) liveness.run(v);
  return liveness.peak();
}

}  // namespace uop
