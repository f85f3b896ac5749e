#include "ir/scalar.h"

#include <charconv>
#include <limits>

namespace uop {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// To a binary float of `digits` significand bits (with the hidden one) and least exponent `minExp` of the value's last
// place, by scaling: exact, since a double's own rounding does the work once.
double roundDigits(double v, int digits, int minLast, double largest) {
  if (v == 0 || std::isinf(v)) return v;
  int exp = 0;
  std::frexp(v, &exp);
  int last = std::max(exp - digits, minLast);
  double r = std::ldexp(std::nearbyint(std::ldexp(v, -last)), last);
  return std::fabs(r) > largest ? std::copysign(std::numeric_limits<double>::infinity(), v) : r;
}

std::string floatText(double v, DType d) {
  if (std::isnan(v)) return "nan";
  if (std::isinf(v)) return v < 0 ? "-inf" : "inf";
  char buffer[64];
  std::string text;
  // Shortest digits for which the reader (decimal to double, then one rounding) comes back to v.
  for (int precision = 1; precision <= 17; ++precision) {
    auto end = std::to_chars(buffer, buffer + sizeof buffer, v, std::chars_format::general, precision).ptr;
    text.assign(buffer, end);
    double back = 0;
    std::from_chars(buffer, end, back);
    if (roundTo(back, d) == v) break;
  }
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

}  // namespace

double roundTo(double v, DType d) {
  if (std::isnan(v)) return kNaN;
  switch (d) {
    case DType::F16: return roundDigits(v, 11, -24, 65504.0);
    case DType::BF16: return roundDigits(v, 8, -133, 0x1.fep127);
    case DType::F32: return static_cast<double>(static_cast<float>(v));
    default: return v;
  }
}

int64_t wrapTo(int64_t v, DType d) {
  switch (d) {
    case DType::I8: return static_cast<int8_t>(v);
    case DType::I16: return static_cast<int16_t>(v);
    case DType::I32: return static_cast<int32_t>(v);
    case DType::U8: return static_cast<uint8_t>(v);
    case DType::U16: return static_cast<uint16_t>(v);
    case DType::U32: return static_cast<uint32_t>(v);
    case DType::Bool: return v != 0;
    default: return v;
  }
}

uint64_t toStorage(Scalar s, DType d) {
  switch (d) {
    case DType::F64: return s.bits;
    case DType::F32: return std::bit_cast<uint32_t>(static_cast<float>(s.asDouble()));
    case DType::BF16: return std::bit_cast<uint32_t>(static_cast<float>(s.asDouble())) >> 16;
    case DType::F16: {
      double v = s.asDouble();
      uint64_t sign = std::signbit(v) ? 0x8000 : 0;
      if (std::isnan(v)) return 0x7e00;
      if (std::isinf(v)) return sign | 0x7c00;
      double a = std::fabs(v);
      if (a < 0x1p-14) return sign | static_cast<uint64_t>(a * 0x1p24);
      int exp = std::ilogb(a);
      return sign | (static_cast<uint64_t>(exp + 15) << 10) | (static_cast<uint64_t>(std::ldexp(a, 10 - exp)) & 0x3ff);
    }
    default: {
      uint32_t bytes = byteSize(d);
      return bytes >= 8 ? s.bits : s.bits & ((uint64_t{1} << (8 * bytes)) - 1);
    }
  }
}

Scalar fromStorage(uint64_t bits, DType d) {
  switch (d) {
    case DType::F64: return {bits};
    case DType::F32: return Scalar::ofDouble(std::bit_cast<float>(static_cast<uint32_t>(bits)));
    case DType::BF16: return Scalar::ofDouble(std::bit_cast<float>(static_cast<uint32_t>(bits) << 16));
    case DType::F16: {
      double sign = bits & 0x8000 ? -1.0 : 1.0;
      auto exp = static_cast<int>((bits >> 10) & 31);
      auto frac = static_cast<double>(bits & 0x3ff);
      if (exp == 31) return Scalar::ofDouble(frac != 0 ? kNaN : sign * std::numeric_limits<double>::infinity());
      if (exp == 0) return Scalar::ofDouble(sign * frac * 0x1p-24);
      return Scalar::ofDouble(sign * std::ldexp(1024 + frac, exp - 25));
    }
    default: return Scalar::ofInt(wrapTo(static_cast<int64_t>(bits), d));
  }
}

Scalar zeroOf(DType d) { return isFloat(d) ? Scalar::ofDouble(0) : Scalar::ofInt(0); }
Scalar oneOf(DType d) { return isFloat(d) ? Scalar::ofDouble(1) : Scalar::ofInt(1); }

std::string scalarText(Scalar s, DType d) {
  if (d == DType::Bool) return s.bits ? "true" : "false";
  if (isFloat(d)) return floatText(s.asDouble(), d);
  return isUnsigned(d) ? std::to_string(s.bits) : std::to_string(s.asInt());
}

}  // namespace uop
