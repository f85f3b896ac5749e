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

// First fit by decreasing size: within a few per cent of the peak on the lifetimes that networks have, and deterministic.
ArenaPlan planArena(std::span<const Lifetime> lifetimes);

}  // namespace uop
