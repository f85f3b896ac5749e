#include "cmd/compiler/arena.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace uop {
namespace {

constexpr int64_t kAlign = 64;
int64_t padded(int64_t bytes) { return (bytes + kAlign - 1) / kAlign * kAlign; }

int64_t peakOf(std::span<const Lifetime> lifetimes) {
  std::map<size_t, int64_t> changes;
  for (const Lifetime& l : lifetimes) {
    changes[l.first] += padded(l.bytes);
    changes[l.last + 1] -= padded(l.bytes);
  }
  int64_t live = 0, peak = 0;
  for (auto [launch, change] : changes) peak = std::max(peak, live += change);
  return peak;
}

}  // namespace

ArenaPlan planArena(std::span<const Lifetime> lifetimes) {
  ArenaPlan plan;
  plan.offsets.assign(lifetimes.size(), 0);
  std::vector<size_t> order(lifetimes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, std::greater{}, [&](size_t i) { return lifetimes[i].bytes; });
  std::vector<size_t> placed;  // by offset
  for (size_t i : order) {
    const Lifetime& l = lifetimes[i];
    if (l.bytes == 0) continue;
    int64_t at = 0;
    for (size_t j : placed) {
      if (lifetimes[j].last < l.first || l.last < lifetimes[j].first) continue;
      if (plan.offsets[j] - at >= padded(l.bytes)) break;
      at = std::max(at, plan.offsets[j] + padded(lifetimes[j].bytes));
    }
    plan.offsets[i] = at;
    plan.bytes = std::max(plan.bytes, at + padded(l.bytes));
    placed.insert(std::ranges::upper_bound(placed, at, {}, [&](size_t j) { return plan.offsets[j]; }), i);
  }
  plan.peak = peakOf(lifetimes);
  return plan;
}

}  // namespace uop
