// Random launches for tests.
#pragma once
#include <random>

#include "cmd/compiler/launch_graph.h"

namespace uop::testing {

// A random number of inputs and outputs a launch, with updates of earlier outputs, results, and reuse where sizes agree.
inline LaunchGraph randomLaunches(std::mt19937& random, uint32_t n, uint32_t reach = 8) {
  LaunchGraph g;
  g.launches.resize(n);
  std::vector<std::vector<uint32_t>> users;
  auto use = [&](uint32_t v, uint32_t t, bool write) {
    auto& launch = g.launches[v];
    if (std::find(launch.temps.begin(), launch.temps.end(), t) != launch.temps.end()) return;
    launch.temps.push_back(t);
    // The writer that made it comes first; one that updates it comes after all its users.
    if (write) launch.deps.insert(launch.deps.end(), users[t].begin(), users[t].end());
    else if (!users[t].empty()) launch.deps.push_back(users[t].front());
    users[t].push_back(v);
  };
  for (uint32_t v = 0; v < n; ++v) {
    for (uint32_t k = random() % 3; k > 0 && !g.temps.empty(); --k) {
      const auto count = static_cast<uint32_t>(g.temps.size());
      use(v, count - 1 - static_cast<uint32_t>(random()) % std::min(reach, count), random() % 8 == 0);
    }
    const std::vector<uint32_t> read = g.launches[v].temps;
    g.temps.push_back({static_cast<int64_t>(random() % 4 + 1) * 64, false, random() % 6 == 0});
    users.emplace_back();
    const auto born = static_cast<uint32_t>(g.temps.size()) - 1;
    use(v, born, true);
    for (uint32_t t : read)
      if (g.temps[t].bytes == g.temps[born].bytes && random() % 2) g.launches[v].reuse.push_back({t, born});
  }
  return g;
}

// Every order that keeps the dependences.
template <class Visit>
void eachOrder(const LaunchGraph& g, std::vector<uint32_t>& order, std::vector<bool>& done, const Visit& visit) {
  if (order.size() == g.launches.size()) return visit(order);
  for (uint32_t v = 0; v < g.launches.size(); ++v) {
    if (done[v] || !std::all_of(g.launches[v].deps.begin(), g.launches[v].deps.end(), [&](uint32_t d) { return done[d]; })) continue;
    done[v] = true;
    order.push_back(v);
    eachOrder(g, order, done, visit);
    order.pop_back();
    done[v] = false;
  }
}
template <class Visit>
void eachOrder(const LaunchGraph& g, const Visit& visit) {
  std::vector<uint32_t> order;
  std::vector<bool> done(g.launches.size());
  eachOrder(g, order, done, visit);
}

inline bool keepsDeps(const LaunchGraph& g, std::span<const uint32_t> order) {
  std::vector<bool> done(g.launches.size());
  for (uint32_t v : order) {
    if (done[v]) return false;
    for (uint32_t d : g.launches[v].deps)
      if (!done[d]) return false;
    done[v] = true;
  }
  return order.size() == g.launches.size();
}

}  // namespace uop::testing
