// One scalar of any dtype in 64 bits, the representation shared by constants, folding and the interpreter:
// integers and bool as int64 (u64 as its bits), every float as the bits of the double that has its value. A NaN is one
// NaN: payloads are kept by nothing but BITCAST, which refuses to fold them away.
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>
#include <string>

#include "support/dtype.h"

namespace uop {

struct Scalar {
  uint64_t bits = 0;
  static Scalar ofInt(int64_t v) { return {static_cast<uint64_t>(v)}; }
  static Scalar ofDouble(double v) { return {std::bit_cast<uint64_t>(v)}; }
  int64_t asInt() const { return static_cast<int64_t>(bits); }
  double asDouble() const { return std::bit_cast<double>(bits); }
  friend bool operator==(Scalar, Scalar) = default;
};

// The nearest value of a float dtype, ties to even, overflow to infinity; NaN becomes the canonical NaN.
double roundTo(double value, DType);
// Wraps to the width of an integer dtype (two's complement); `index` and the 64-bit types keep all bits.
int64_t wrapTo(int64_t value, DType);

// Storage bits of an element in memory (little end in the low bytes) and back.
uint64_t toStorage(Scalar, DType);
Scalar fromStorage(uint64_t bits, DType);

Scalar zeroOf(DType);
Scalar oneOf(DType);
// Shortest text that reads back to the same bits, as the format spells it: 1.0, -0.0, 1e-05, inf, nan, true, -3.
std::string scalarText(Scalar, DType);

}  // namespace uop
