#include "cmd/compiler/arena.h"

#include <catch2/catch.hpp>
#include <random>

namespace uop {
namespace {

bool overlapInTime(const Lifetime& a, const Lifetime& b) { return a.first <= b.last && b.first <= a.last; }

TEST_CASE("temporaries that do not live together share memory") {
  std::vector<Lifetime> lives = {{100, 0, 1}, {100, 2, 3}, {64, 0, 3}};
  ArenaPlan plan = planArena(lives);
  CHECK(plan.bytes == 192);
  CHECK(plan.peak == 192);
  CHECK(plan.offsets == std::vector<int64_t>{0, 0, 128});
}

TEST_CASE("nothing needs no memory") {
  CHECK(planArena({}).bytes == 0);
  std::vector<Lifetime> lives = {{0, 0, 5}};
  CHECK(planArena(lives).bytes == 0);
}

TEST_CASE("random lifetimes never overlap, and the block is close to the peak") {
  std::mt19937 random(1);
  for (int round = 0; round < 50; ++round) {
    std::vector<Lifetime> lives;
    for (int i = 0; i < 60; ++i) {
      size_t first = random() % 40;
      lives.push_back({static_cast<int64_t>(random() % 5000), first, first + random() % 6});
    }
    ArenaPlan plan = planArena(lives);
    for (size_t i = 0; i < lives.size(); ++i) {
      CHECK(plan.offsets[i] % 64 == 0);
      CHECK(plan.offsets[i] + lives[i].bytes <= plan.bytes);
      for (size_t j = 0; j < i; ++j) {
        if (!overlapInTime(lives[i], lives[j])) continue;
        bool apart = plan.offsets[i] + lives[i].bytes <= plan.offsets[j] || plan.offsets[j] + lives[j].bytes <= plan.offsets[i];
        CHECK(apart);
      }
    }
    CHECK(plan.peak <= plan.bytes);
    CHECK(plan.bytes <= 2 * plan.peak);
  }
}

}  // namespace
}  // namespace uop
