#include "cmd/compiler/arena.h"

#include <algorithm>
#include <tuple>

namespace uop {
namespace {

constexpr size_t kFew = 7;         // that all orders are tried for
constexpr size_t kMany = 4096;     // for more, placing takes no time proportional to the square
constexpr int kRounds = 24;        // of moving to the front what sticks out
constexpr int64_t kGood = 10;      // a block within a tenth of the peak will do, where there are many

using Order = std::vector<size_t>;

class Placer {
 public:
  explicit Placer(std::span<const Lifetime> lifetimes) : lives_(lifetimes), bytes_(lifetimes.size()) {
    for (size_t i = 0; i < lives_.size(); ++i) {
      bytes_[i] = arenaBytes(lives_[i].bytes);
      if (bytes_[i] > 0) all_.push_back(i);
      end_ = std::max(end_, lives_[i].last + 1);
    }
    best_.offsets.assign(lives_.size(), 0);
    best_.bytes = INT64_MAX;
    best_.peak = peak();
  }

  ArenaPlan run() {
    if (all_.empty()) return {best_.offsets, 0, 0};
    const std::vector<Order> orders = {by([&](size_t i) { return std::tuple(-bytes_[i], length(i)); }), by([&](size_t i) { return std::tuple(-length(i), -bytes_[i]); }),
                                       by([&](size_t i) { return -static_cast<double>(bytes_[i]) * static_cast<double>(length(i)); }),
                                       by([&](size_t i) { return std::tuple(static_cast<int64_t>(lives_[i].first), -bytes_[i]); })};
    if (all_.size() > kMany) {
      for (const Order& order : orders) stack(order);
      if (best_.bytes - best_.peak > best_.peak / kGood) firstFit(orders[0]);
      return best_;
    }
    for (const Order& order : orders)
      if (!perfect()) firstFit(order);
    for (const Order& order : orders)
      if (!perfect()) improve(order);
    if (!perfect() && all_.size() <= kFew) tryAll();
    return best_;
  }

 private:
  int64_t length(size_t i) const { return static_cast<int64_t>(lives_[i].last - lives_[i].first) + 1; }
  bool perfect() const { return best_.bytes == best_.peak; }

  template <class Key>
  Order by(Key key) const {
    Order order = all_;
    std::ranges::stable_sort(order, {}, key);
    return order;
  }

  int64_t peak() const {
    std::vector<int64_t> change(end_ + 1);
    for (size_t i : all_) change[lives_[i].first] += bytes_[i], change[lives_[i].last + 1] -= bytes_[i];
    int64_t live = 0, most = 0;
    for (int64_t c : change) most = std::max(most, live += c);
    return most;
  }

  void offer(const std::vector<int64_t>& offsets, int64_t bytes) {
    if (bytes < best_.bytes) best_.offsets = offsets, best_.bytes = bytes;
  }

  struct Placed {
    int64_t at, end;
    size_t first, last;
  };
  // The lowest gap between those that live at the same time. `placed`: by offset.
  int64_t lowest(const std::vector<Placed>& placed, size_t i) const {
    int64_t at = 0;
    for (const Placed& p : placed) {
      if (p.last < lives_[i].first || lives_[i].last < p.first) continue;
      if (p.at - at >= bytes_[i]) break;
      at = std::max(at, p.end);
    }
    return at;
  }
  void insert(std::vector<Placed>& placed, size_t i, int64_t at) const {
    placed.insert(std::ranges::upper_bound(placed, at, {}, &Placed::at), {at, at + bytes_[i], lives_[i].first, lives_[i].last});
  }

  // Returns one of those that end highest.
  size_t firstFit(const Order& order) {
    std::vector<int64_t> offsets(lives_.size());
    std::vector<Placed> placed;
    int64_t bytes = 0;
    size_t highest = order.front();
    for (size_t i : order) {
      offsets[i] = lowest(placed, i);
      insert(placed, i, offsets[i]);
      if (offsets[i] + bytes_[i] > bytes) bytes = offsets[i] + bytes_[i], highest = i;
    }
    offer(offsets, bytes);
    return highest;
  }

  // What sticks out is placed earlier the next time.
  void improve(Order order) {
    for (int round = 0; round < kRounds && !perfect(); ++round) {
      const size_t highest = firstFit(order);
      auto it = std::ranges::find(order, highest);
      if (it == order.begin()) return;
      std::rotate(order.begin(), it, it + 1);
    }
  }

  // Every packing is at least as high as first fit in the order of its offsets: so all orders hold the best one.
  void tryAll() {
    Order order = all_;
    do firstFit(order);
    while (!perfect() && std::ranges::next_permutation(order).found);
  }

  void stack(const Order& order);

  std::span<const Lifetime> lives_;
  std::vector<int64_t> bytes_;
  Order all_;
  size_t end_ = 0;
  ArenaPlan best_;
};

// The highest end of what is placed at each time, as a tree of maxima over ranges of times.
class Skyline {
 public:
  explicit Skyline(size_t times) {
    while (size_ < times) size_ *= 2;
    most_.resize(2 * size_);
    set_.resize(2 * size_);
  }
  int64_t most(size_t first, size_t last) const { return most(1, 0, size_ - 1, first, last); }
  // All that is there lies below.
  void raise(size_t first, size_t last, int64_t to) { raise(1, 0, size_ - 1, first, last, to); }

 private:
  int64_t most(size_t node, size_t lo, size_t hi, size_t first, size_t last) const {
    if (last < lo || hi < first) return 0;
    if (first <= lo && hi <= last) return most_[node];
    const size_t mid = lo + (hi - lo) / 2;
    return std::max({set_[node], most(2 * node, lo, mid, first, last), most(2 * node + 1, mid + 1, hi, first, last)});
  }
  void raise(size_t node, size_t lo, size_t hi, size_t first, size_t last, int64_t to) {
    if (last < lo || hi < first) return;
    most_[node] = std::max(most_[node], to);
    if (first <= lo && hi <= last) {
      set_[node] = std::max(set_[node], to);
      return;
    }
    const size_t mid = lo + (hi - lo) / 2;
    raise(2 * node, lo, mid, first, last, to);
    raise(2 * node + 1, mid + 1, hi, first, last, to);
  }

  size_t size_ = 1;
  std::vector<int64_t> most_, set_;  // of a range: the highest in it; what was raised over all of it
};

// On top of everything that lives at the same time, whatever gaps there are below.
void Placer::stack(const Order& order) {
  std::vector<int64_t> offsets(lives_.size());
  Skyline skyline(end_);
  for (size_t i : order) {
    offsets[i] = skyline.most(lives_[i].first, lives_[i].last);
    skyline.raise(lives_[i].first, lives_[i].last, offsets[i] + bytes_[i]);
  }
  offer(offsets, skyline.most(0, end_ - 1));
}

}  // namespace

ArenaPlan planArena(std::span<const Lifetime> lifetimes) { return Placer(lifetimes).run(); }

}  // namespace uop
