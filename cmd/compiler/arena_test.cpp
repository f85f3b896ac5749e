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
    CHECK(plan.bytes <= plan.peak + plan.peak / 10);
  }
}

// The least block of all placements, by trying every multiple of 64 for each.
int64_t bruteForce(std::span<const Lifetime> lives, std::vector<int64_t>& at, int64_t best) {
  const size_t i = at.size();
  int64_t height = 0;
  for (size_t j = 0; j < i; ++j) height = std::max(height, at[j] + lives[j].bytes);
  if (height >= best) return best;
  if (i == lives.size()) return height;
  for (int64_t offset = 0; offset + lives[i].bytes < best; offset += kArenaAlign) {
    bool free = true;
    for (size_t j = 0; j < i; ++j) free &= !overlapInTime(lives[i], lives[j]) || offset + lives[i].bytes <= at[j] || at[j] + lives[j].bytes <= offset;
    if (!free) continue;
    at.push_back(offset);
    best = bruteForce(lives, at, best);
    at.pop_back();
  }
  return best;
}

TEST_CASE("few lifetimes: the least block of all placements") {
  std::mt19937 random(2);
  for (int round = 0; round < 300; ++round) {
    std::vector<Lifetime> lives(1 + random() % 6);
    for (Lifetime& l : lives) {
      l.bytes = static_cast<int64_t>(random() % 4 + 1) * kArenaAlign;
      l.first = random() % 6;
      l.last = l.first + random() % 4;
    }
    std::vector<int64_t> at;
    INFO(round);
    CHECK(planArena(lives).bytes == bruteForce(lives, at, INT64_MAX / 2));
  }
}

}  // namespace
}  // namespace uop
