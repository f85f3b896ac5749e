// Hashes: xxHash for tables, SHA-256 (libmd) for what is written to disk.
#pragma once
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace uop {

inline uint64_t hashBytes(const void* data, size_t size, uint64_t seed = 0) { return XXH3_64bits_withSeed(data, size, seed); }
inline uint64_t hashMix(uint64_t a, uint64_t b) {
  a = (a ^ (b + 0x9e3779b97f4a7c15ull)) * 0xff51afd7ed558ccdull;
  return a ^ (a >> 32);
}
template <class T>
uint64_t hashSpan(std::span<const T> items, uint64_t seed = 0) {
  return hashBytes(items.data(), items.size_bytes(), seed);
}

std::string sha256Hex(std::string_view data);  // 64 lower-case hex digits

}  // namespace uop
