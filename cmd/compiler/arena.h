// Offsets of temporaries in one block, by their lifetimes.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace uop {

struct Lifetime {
  int64_t bytes = 0;
  size_t first = 0, last = 0;  // launches, both inclusive
};

struct ArenaPlan {
  std::vector<int64_t> offsets;  // multiples of 64
  int64_t bytes = 0;             // of the block
  int64_t peak = 0;              // the most that is live at once
};

inline constexpr int64_t kArenaAlign = 64;
constexpr int64_t arenaBytes(int64_t bytes) { return (bytes + kArenaAlign - 1) / kArenaAlign * kArenaAlign; }

// The smallest block that several ways of placing find; all placements are tried where there are few lifetimes.
// Deterministic, and near to linear where there are many lifetimes.
ArenaPlan planArena(std::span<const Lifetime> lifetimes);

}  // namespace uop
