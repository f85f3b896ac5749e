// Steele, Lea, Flood: Fast splittable pseudorandom number generators (OOPSLA '14).
#pragma once
#include <cstdint>
#include <iterator>

namespace uop {

// One draw an argument list: the order of arguments is the compiler's.
class Rng {
 public:
  explicit Rng(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
  }
  uint64_t below(uint64_t n) { return next() % n; }
  int64_t between(int64_t least, int64_t most) { return least + static_cast<int64_t>(below(static_cast<uint64_t>(most - least) + 1)); }
  bool chance(unsigned percent) { return below(100) < percent; }
  template <class Items>
  auto pick(const Items& items) { return items[below(std::size(items))]; }

 private:
  uint64_t state_;
};

}  // namespace uop
