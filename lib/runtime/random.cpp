#include "runtime/random.h"

#include <algorithm>
#include <cstring>

#include "runtime/half.h"
#include "support/hash.h"

namespace uop {
namespace {

// SplitMix64, by index: element i is the i-th output of the generator that starts at `key`.
uint64_t draw(uint64_t key, uint64_t i) {
  uint64_t x = key + (i + 1) * 0x9e3779b97f4a7c15ull;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ x >> 27) * 0x94d049bb133111ebull;
  return x ^ x >> 31;
}

double uniformDouble(uint64_t x) { return static_cast<double>(x >> 11) * 0x1p-52 - 1.0; }
float uniformFloat(uint64_t x) { return static_cast<float>(x >> 40) * 0x1p-23f - 1.0f; }
// 0x3bff and 0x3f7f are the greatest below 1, to which what would round to 1 is cut.
uint16_t uniformHalf(uint64_t x) { return floatToHalf(std::min(uniformFloat(x), halfToFloat(0x3bff))); }
uint16_t uniformBfloat(uint64_t x) { return floatToBfloat(std::min(uniformFloat(x), bfloatToFloat(0x3f7f))); }

template <class T, class Make>
void fill(Tensor& tensor, uint64_t key, Make make) {
  uint64_t i = 0;
  for (T& element : tensor.as<T>()) element = static_cast<T>(make(draw(key, i++)));
}

struct Bounds {
  int64_t low;
  uint64_t span;  // greatest minus least
};

// Wide arithmetic, as u64 and "up to 9 from it" leave 64 bits.
Bounds integerBounds(DType dtype, std::optional<int64_t> min, std::optional<int64_t> max) {
  __int128 least = minValue(dtype), greatest = maxValue(dtype);
  __int128 low = min ? *min : max ? std::min<__int128>(0, static_cast<__int128>(*max) - 9) : 0;
  __int128 high = max ? *max : min ? std::max<__int128>(9, static_cast<__int128>(*min) + 9) : 9;
  low = std::clamp(low, least, greatest);
  high = std::clamp(high, low, greatest);
  return {static_cast<int64_t>(low), static_cast<uint64_t>(high - low)};
}

void fillIntegers(Tensor& tensor, uint64_t key, Bounds bounds) {
  // The high word of the product maps a draw to the range, with a bias below 2^-64 × the range's size.
  auto make = [bounds](uint64_t x) -> uint64_t {
    unsigned __int128 size = static_cast<unsigned __int128>(bounds.span) + 1;
    return static_cast<uint64_t>(bounds.low) + static_cast<uint64_t>(size * x >> 64);
  };
  switch (byteSize(tensor.dtype)) {
    case 1: return fill<uint8_t>(tensor, key, make);
    case 2: return fill<uint16_t>(tensor, key, make);
    case 4: return fill<uint32_t>(tensor, key, make);
    default: return fill<uint64_t>(tensor, key, make);
  }
}

}  // namespace

Result<Tensor> randomTensor(DType dtype, Shape shape, uint64_t seed, std::string_view name, std::optional<int64_t> min,
                            std::optional<int64_t> max) {
  auto tensor = Tensor::zeros(dtype, std::move(shape));
  if (!tensor) return tensor;
  uint64_t key = hashBytes(name.data(), name.size(), seed);
  switch (dtype) {
    case DType::F64: fill<double>(*tensor, key, uniformDouble); break;
    case DType::F32: fill<float>(*tensor, key, uniformFloat); break;
    case DType::F16: fill<uint16_t>(*tensor, key, uniformHalf); break;
    case DType::BF16: fill<uint16_t>(*tensor, key, uniformBfloat); break;
    case DType::Bool: fillIntegers(*tensor, key, {0, 1}); break;
    default: fillIntegers(*tensor, key, integerBounds(dtype, min, max)); break;
  }
  return tensor;
}

}  // namespace uop
