#include "cmd/compiler/launch_order.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>

#include "cmd/compiler/launch_testing.h"

namespace uop {
namespace {

using testing::eachOrder;
using testing::keepsDeps;
using testing::randomLaunches;

std::vector<uint32_t> numbered(const LaunchGraph& g) {
  std::vector<uint32_t> order(g.launches.size());
  std::iota(order.begin(), order.end(), 0u);
  return order;
}

TEST_CASE("branches that shrink run one after the other") {
  // Launches 0 to 3 make a large temporary each, 4 to 7 shrink them, 8 gathers.
  LaunchGraph g;
  g.launches.resize(9);
  for (uint32_t i = 0; i < 4; ++i) {
    g.temps.push_back({1024, false, false});
    g.launches[i].temps = {i};
    g.launches[4 + i] = {{i, 4 + i}, {i}, {}};
  }
  for (uint32_t i = 4; i < 8; ++i) {
    g.temps.push_back({64, false, false});
    g.launches[8].temps.push_back(i);
    g.launches[8].deps.push_back(i);
  }
  g.temps.push_back({64, false, true});
  g.launches[8].temps.push_back(8);
  CHECK(peakBytes(g, numbered(g)) == 4 * 1024 + 64);
  CHECK(peakBytes(g, orderLaunches(g)) == 1024 + 4 * 64);
}

TEST_CASE("a reuse saves its bytes only where the one dies and the other is born") {
  LaunchGraph g;
  g.temps = {{64, false, false}, {64, false, true}, {64, false, true}};
  g.launches = {{{0}, {}, {}}, {{0, 1}, {0}, {{0, 1}}}, {{0, 2}, {0}, {{0, 2}}}};
  Liveness liveness(g);
  liveness.run(0);
  CHECK_FALSE(liveness.change(1).reuse);  // launch 2 still reads it
  liveness.run(1);
  CHECK(liveness.change(2).reuse == LaunchGraph::Reuse{0, 2});
  liveness.run(2);
  CHECK(liveness.peak() == 128);
  CHECK(liveness.live() == 128);
}

TEST_CASE("small graphs: the best of all orders") {
  std::mt19937 random(1);
  for (int round = 0; round < 400; ++round) {
    const LaunchGraph g = randomLaunches(random, 1 + random() % 7, 2 + random() % 6);
    int64_t least = INT64_MAX;
    eachOrder(g, [&](const std::vector<uint32_t>& order) { least = std::min(least, peakBytes(g, order)); });
    const auto order = orderLaunches(g);
    INFO(round);
    CHECK(keepsDeps(g, order));
    CHECK(peakBytes(g, order) == least);
    CHECK(leastPeak(g) <= least);
    CHECK(orderLaunches(g) == order);
  }
}

TEST_CASE("every rule keeps the dependences, forwards and backwards") {
  std::mt19937 random(2);
  for (int round = 0; round < 30; ++round) {
    const LaunchGraph g = randomLaunches(random, 60, 30);
    for (ListRule rule : {ListRule::Net, ListRule::Recent, ListRule::Transient}) {
      CHECK(keepsDeps(g, listSchedule(g, rule)));
      CHECK(keepsDeps(reversed(g), listSchedule(reversed(g), rule)));
    }
    CHECK(keepsDeps(g, orderLaunches(g)));
    CHECK(peakBytes(g, orderLaunches(g)) <= peakBytes(g, numbered(g)));
    CHECK(peakBytes(reversed(reversed(g)), numbered(g)) == peakBytes(g, numbered(g)));
  }
}

TEST_CASE("a narrow search finds nothing worse than its bound") {
  std::mt19937 random(3);
  for (int round = 0; round < 30; ++round) {
    const LaunchGraph g = randomLaunches(random, 24, 12);
    const int64_t bound = peakBytes(g, numbered(g));
    for (size_t width : {1, 4, 64})
      if (auto order = beamSchedule(g, bound, width)) {
        CHECK(keepsDeps(g, *order));
        CHECK(peakBytes(g, *order) < bound);
      }
    CHECK_FALSE(beamSchedule(g, leastPeak(g), 64));
  }
}

TEST_CASE("fifty thousand launches") {
  std::mt19937 random(4);
  const LaunchGraph g = randomLaunches(random, 50'000, 1000);
  const auto order = orderLaunches(g);
  CHECK(keepsDeps(g, order));
  CHECK(peakBytes(g, order) <= peakBytes(g, numbered(g)));
}

TEST_CASE("no launches") { CHECK(orderLaunches({}).empty()); }

}  // namespace
}  // namespace uop
