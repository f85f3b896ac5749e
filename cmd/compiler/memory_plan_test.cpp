#include "cmd/compiler/memory_plan.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>

#include "cmd/compiler/launch_testing.h"

namespace uop {
namespace {

using testing::randomLaunches;

// Runs the plan on an imagined block: whoever is live owns its bytes, and nobody else writes there.
void checkPlan(const LaunchGraph& g, const MemoryLayout& plan) {
  REQUIRE(testing::keepsDeps(g, plan.order));
  Liveness liveness(g);
  std::map<int64_t, uint32_t> owner;  // of each 64 bytes
  auto own = [&](uint32_t t, std::optional<uint32_t> instead) {
    REQUIRE(plan.offsets[t] % 64 == 0);
    REQUIRE(plan.offsets[t] + g.temps[t].bytes <= plan.bytes);
    for (int64_t at = plan.offsets[t]; at < plan.offsets[t] + g.temps[t].bytes; at += 64) {
      auto it = owner.find(at);
      REQUIRE((it == owner.end() || (instead && it->second == *instead)));
      owner[at] = t;
    }
  };
  for (uint32_t v : plan.order) {
    std::vector<uint32_t> born;
    for (uint32_t t : g.launches[v].temps)
      if (!liveness.isLive(t)) born.push_back(t);
    liveness.run(v);
    for (uint32_t t : born) own(t, plan.reuse[v] && plan.reuse[v]->born == t ? std::optional(plan.reuse[v]->dying) : std::nullopt);
    std::erase_if(owner, [&](const auto& o) { return !liveness.isLive(o.second); });
  }
  CHECK(liveness.peak() == plan.peak);
  CHECK(plan.peak <= plan.bytes);
}

TEST_CASE("small graphs: as small as any order and any placement") {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    const LaunchGraph g = randomLaunches(random, 1 + random() % 7, 2 + random() % 6);
    int64_t least = INT64_MAX;  // no placement is below the peak
    testing::eachOrder(g, [&](const std::vector<uint32_t>& order) { least = std::min(least, peakBytes(g, order)); });
    const MemoryLayout plan = planMemory(g);
    INFO(round);
    checkPlan(g, plan);
    CHECK(plan.bytes == least);
  }
}

TEST_CASE("larger graphs: within a tenth of the peak") {
  std::mt19937 random(2);
  for (uint32_t n : {30, 100, 300, 1000, 6000}) {
    const LaunchGraph g = randomLaunches(random, n, 20);
    const MemoryLayout plan = planMemory(g);
    INFO(n << " launches: " << plan.bytes << " bytes, peak " << plan.peak);
    checkPlan(g, plan);
    CHECK(plan.bytes <= plan.peak + plan.peak / 10);
  }
}

// Forwards each layer keeps an activation, backwards each reads its own and makes two gradients, of which one is a result.
LaunchGraph training(uint32_t layers) {
  LaunchGraph g;
  std::mt19937 random(3);
  std::vector<uint32_t> kept;
  auto temp = [&](int64_t bytes, bool after) { return g.temps.push_back({bytes, false, after}), static_cast<uint32_t>(g.temps.size()) - 1; };
  uint32_t last = temp(640, false);
  g.launches.push_back({{last}, {}, {}});
  auto launch = [&](std::vector<uint32_t> temps) {
    g.launches.push_back({std::move(temps), {static_cast<uint32_t>(g.launches.size()) - 1}, {}});
  };
  for (uint32_t i = 0; i < layers; ++i) {
    kept.push_back(last);
    const uint32_t hidden = temp(64 * (1 + random() % 40), false), next = temp(640, false);
    launch({last, hidden});
    launch({hidden, next});
    last = next;
  }
  for (uint32_t i = layers; i-- > 0;) {
    const uint32_t gradient = temp(640, false);
    launch({last, kept[i], gradient});
    launch({last, kept[i], temp(64, true)});
    last = gradient;
  }
  return g;
}

TEST_CASE("training graphs: within a tenth of the peak, however long") {
  for (uint32_t layers : {10, 200, 12'000}) {
    const LaunchGraph g = training(layers);
    const MemoryLayout plan = planMemory(g);
    INFO(layers << " layers: " << plan.bytes << " bytes, peak " << plan.peak);
    if (layers < 1000) checkPlan(g, plan);
    CHECK(plan.bytes <= plan.peak + plan.peak / 10);
  }
}

TEST_CASE("no launches need no memory") { CHECK(planMemory({}).bytes == 0); }

}  // namespace
}  // namespace uop
