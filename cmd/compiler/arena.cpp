#include "cmd/compiler/arena.h"

#include <algorithm>
#include <bit>
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

// Which lifetimes overlap one: a segment tree over launches.
class Overlaps {
 public:
  explicit Overlaps(size_t launches) : leaves_(std::bit_ceil(std::max<size_t>(1, launches))), across_(2 * leaves_), below_(2 * leaves_) {}
  void insert(size_t item, size_t first, size_t last) {
    for (size_t n : pieces(first, last)) {
      across_[n].push_back(item);
      for (; n != 0 && (below_[n].empty() || below_[n].back() != item); n /= 2) below_[n].push_back(item);
    }
  }
  std::vector<size_t> with(size_t first, size_t last) const {
    std::vector<size_t> out;
    auto add = [&](const std::vector<size_t>& items) { out.insert(out.end(), items.begin(), items.end()); };
    for (size_t n : pieces(first, last)) {
      add(below_[n]);
      while (n /= 2) add(across_[n]);
    }
    std::ranges::sort(out);
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
  }

 private:
  // The fewest nodes of the tree that make up first…last.
  std::vector<size_t> pieces(size_t first, size_t last) const {
    std::vector<size_t> out;
    for (size_t l = first + leaves_, r = last + leaves_ + 1; l < r; l /= 2, r /= 2) {
      if (l % 2) out.push_back(l++);
      if (r % 2) out.push_back(--r);
    }
    return out;
  }
  size_t leaves_;
  std::vector<std::vector<size_t>> across_, below_;  // items of which the node is a piece; of which one below it or itself is
};

}  // namespace

ArenaPlan planArena(std::span<const Lifetime> lifetimes) {
  ArenaPlan plan;
  plan.offsets.assign(lifetimes.size(), 0);
  std::vector<size_t> order(lifetimes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, std::greater{}, [&](size_t i) { return lifetimes[i].bytes; });
  size_t launches = 0;
  for (const Lifetime& l : lifetimes) launches = std::max(launches, l.last + 1);
  Overlaps placed(launches);
  for (size_t i : order) {
    const Lifetime& l = lifetimes[i];
    if (l.bytes == 0) continue;
    int64_t at = 0;
    std::vector<size_t> beside = placed.with(l.first, l.last);
    std::ranges::sort(beside, {}, [&](size_t j) { return plan.offsets[j]; });
    for (size_t j : beside) {
      if (plan.offsets[j] - at >= padded(l.bytes)) break;
      at = std::max(at, plan.offsets[j] + padded(lifetimes[j].bytes));
    }
    plan.offsets[i] = at;
    plan.bytes = std::max(plan.bytes, at + padded(l.bytes));
    placed.insert(i, l.first, l.last);
  }
  plan.peak = peakOf(lifetimes);
  return plan;
}

}  // namespace uop
