// Interning: equal sequences get one id, and their storage never moves.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "support/hash.h"

namespace uop {

// Contiguous runs of T whose addresses stay valid for the pool's life.
template <class T>
class StablePool {
 public:
  std::span<const T> store(std::span<const T> items) {
    if (items.empty()) return {};
    if (chunks_.empty() || used_ + items.size() > capacity_) {
      capacity_ = std::max(kChunk, items.size());
      chunks_.push_back(std::make_unique_for_overwrite<T[]>(capacity_));
      used_ = 0;
    }
    T* at = chunks_.back().get() + used_;
    std::copy(items.begin(), items.end(), at);
    used_ += items.size();
    return {at, items.size()};
  }

 private:
  static constexpr size_t kChunk = 65536 / sizeof(T);
  std::vector<std::unique_ptr<T[]>> chunks_;
  size_t used_ = 0, capacity_ = 0;
};

// An open-addressing table of ids, at most three quarters full; the owner compares and hashes what an id stands for.
class IdTable {
 public:
  // Calls same(id) for candidates; returns the id found, or stores `fresh` and returns it.
  template <class Same>
  uint32_t findOrInsert(uint64_t hash, uint32_t fresh, Same same) {
    if (4 * (size_ + 1) > 3 * slots_.size()) grow();
    auto low = static_cast<uint32_t>(hash);
    for (size_t at = low & mask();; at = (at + 1) & mask()) {
      Slot& slot = slots_[at];
      if (slot.id == kEmpty) {
        slot = {fresh, low};
        ++size_;
        return fresh;
      }
      if (slot.hash == low && same(slot.id)) return slot.id;
    }
  }
  static constexpr uint32_t kEmpty = ~0u;

  // kEmpty where there is none.
  template <class Same>
  uint32_t find(uint64_t hash, Same same) const {
    if (slots_.empty()) return kEmpty;
    auto low = static_cast<uint32_t>(hash);
    for (size_t at = low & mask();; at = (at + 1) & mask()) {
      const Slot& slot = slots_[at];
      if (slot.id == kEmpty || (slot.hash == low && same(slot.id))) return slot.id;
    }
  }
  // Of an id that is not in it.
  void insert(uint64_t hash, uint32_t id) {
    findOrInsert(hash, id, [](uint32_t) { return false; });
  }
  // Room for so many ids.
  void reserve(size_t count) {
    while (4 * count > 3 * slots_.size()) grow();
  }

 private:
  struct Slot {
    uint32_t id = kEmpty, hash = 0;
  };
  size_t mask() const { return slots_.size() - 1; }
  void grow() {
    std::vector<Slot> old = std::move(slots_);
    slots_.assign(std::max<size_t>(64, old.size() * 2), Slot{});
    for (const Slot& s : old) {
      if (s.id == kEmpty) continue;
      size_t at = s.hash & mask();
      while (slots_[at].id != kEmpty) at = (at + 1) & mask();
      slots_[at] = s;
    }
  }
  std::vector<Slot> slots_;
  size_t size_ = 0;
};

// Sequences of T by id; id 0 is the empty sequence.
template <class T>
class Interner {
 public:
  Interner() { intern({}); }
  uint32_t intern(std::span<const T> items) {
    auto fresh = static_cast<uint32_t>(spans_.size());
    uint32_t id = table_.findOrInsert(hashSpan(items), fresh, [&](uint32_t other) {
      return spans_[other].size() == items.size() && std::equal(items.begin(), items.end(), spans_[other].begin());
    });
    if (id == fresh) spans_.push_back(pool_.store(items));
    return id;
  }
  std::span<const T> operator[](uint32_t id) const { return spans_[id]; }

 private:
  StablePool<T> pool_;
  std::vector<std::span<const T>> spans_;
  IdTable table_;
};

}  // namespace uop
