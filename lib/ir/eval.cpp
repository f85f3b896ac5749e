#include "ir/eval.h"

#include <cmath>
#include <limits>
#include <type_traits>

namespace uop {
namespace {

double toDouble(uint64_t bits) { return std::bit_cast<double>(bits); }
uint64_t bitsOf(double v) { return std::bit_cast<uint64_t>(v); }

// The type that arithmetic on D happens in: f16, bf16 and f32 compute in float, one rounding an op.
template <DType D>
using Work = std::conditional_t<D == DType::F64, double, std::conditional_t<D == DType::F32 || D == DType::F16 || D == DType::BF16, float, int64_t>>;

constexpr bool isFloatType(DType d) { return d == DType::F16 || d == DType::BF16 || d == DType::F32 || d == DType::F64; }
constexpr bool isUnsignedType(DType d) { return d == DType::U8 || d == DType::U16 || d == DType::U32 || d == DType::U64; }

template <DType D>
Work<D> in(uint64_t bits) {
  if constexpr (isFloatType(D)) return static_cast<Work<D>>(toDouble(bits));
  else return static_cast<int64_t>(bits);
}

template <DType D>
uint64_t out(Work<D> v) {
  if constexpr (isFloatType(D)) return bitsOf(roundTo(static_cast<double>(v), D));
  else return static_cast<uint64_t>(wrapTo(v, D));
}

int64_t wrapMul(int64_t a, int64_t b) { return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b)); }
int64_t wrapAdd(int64_t a, int64_t b) { return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b)); }

template <DType D>
int64_t floorDiv(int64_t a, int64_t b) {
  if (b == 0) return 0;
  if constexpr (isUnsignedType(D)) return static_cast<int64_t>(static_cast<uint64_t>(a) / static_cast<uint64_t>(b));
  if (b == -1) return wrapMul(a, -1);
  int64_t q = a / b;
  return q - (a % b != 0 && (a < 0) != (b < 0));
}

template <DType D>
int64_t floorMod(int64_t a, int64_t b) {
  if (b == 0) return 0;
  if constexpr (isUnsignedType(D)) return static_cast<int64_t>(static_cast<uint64_t>(a) % static_cast<uint64_t>(b));
  if (b == -1) return 0;
  int64_t r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

template <DType D>
bool less(uint64_t a, uint64_t b) {
  if constexpr (isFloatType(D)) return toDouble(a) < toDouble(b);
  else if constexpr (isUnsignedType(D)) return a < b;
  else return static_cast<int64_t>(a) < static_cast<int64_t>(b);
}

template <DType D>
uint64_t maxOf(uint64_t a, uint64_t b) {
  if constexpr (isFloatType(D)) {
    if (std::isnan(toDouble(a)) || std::isnan(toDouble(b))) return bitsOf(std::numeric_limits<double>::quiet_NaN());
  }
  return less<D>(a, b) ? b : a;
}

template <DType D>
uint64_t shift(Op op, uint64_t a, uint64_t b) {
  auto n = static_cast<int64_t>(b);
  int64_t width = 8 * byteSize(D);
  bool inside = isUnsignedType(D) ? b < static_cast<uint64_t>(width) : n >= 0 && n < width;
  auto x = static_cast<int64_t>(a);
  if (op == Op::Shl) return inside ? out<D>(static_cast<int64_t>(a << n)) : 0;
  if constexpr (isUnsignedType(D)) return inside ? a >> n : 0;
  return inside ? static_cast<uint64_t>(x >> n) : x < 0 ? ~uint64_t{0} : 0;
}

template <Op O, DType D>
uint64_t number(uint64_t a, uint64_t b, uint64_t c) {
  if constexpr (O == Op::Where) return a ? b : c;
  else if constexpr (O == Op::Detach) return a;
  else if constexpr (O == Op::CmpNe) return isFloatType(D) ? toDouble(a) != toDouble(b) : a != b;
  else if constexpr (O == Op::CmpLt) return less<D>(a, b);
  else if constexpr (O == Op::Max) return D == DType::Bool ? a | b : maxOf<D>(a, b);
  else if constexpr (O == Op::And || O == Op::Or || O == Op::Xor) return O == Op::And ? a & b : O == Op::Or ? a | b : a ^ b;
  else if constexpr (O == Op::Shl || O == Op::Shr) return shift<D>(O, a, b);
  else if constexpr (isFloatType(D)) {
    using W = Work<D>;
    W x = in<D>(a), y = in<D>(b);
    if constexpr (O == Op::Add) return out<D>(x + y);
    else if constexpr (O == Op::Mul) return out<D>(x * y);
    else if constexpr (O == Op::Neg) return out<D>(-x);
    else if constexpr (O == Op::FloorDiv) return out<D>(std::floor(x / y));
    else {
      W q = x / y;
      W m = std::floor(q) * y;
      return out<D>(x - m);
    }
  } else {
    auto x = static_cast<int64_t>(a), y = static_cast<int64_t>(b);
    if constexpr (O == Op::Add) return out<D>(wrapAdd(x, y));
    else if constexpr (O == Op::Mul) return D == DType::Bool ? a & b : out<D>(wrapMul(x, y));
    else if constexpr (O == Op::Neg) return out<D>(wrapMul(x, -1));
    else if constexpr (O == Op::FloorDiv) return out<D>(floorDiv<D>(x, y));
    else return out<D>(floorMod<D>(x, y));
  }
}

// f16, bf16 and f32 go through double, so that one rounding remains.
template <Op O, DType D>
uint64_t floating(uint64_t a, uint64_t, uint64_t) {
  double x = toDouble(a), y = 0;
  if constexpr (O == Op::Recip) y = D == DType::F64 ? 1.0 / x : static_cast<double>(1.0f / static_cast<float>(x));
  else if constexpr (O == Op::Exp2) y = std::exp2(x);
  else if constexpr (O == Op::Log2) y = std::log2(x);
  else if constexpr (O == Op::Sin) y = std::sin(x);
  else if constexpr (O == Op::Sqrt) y = D == DType::F64 ? std::sqrt(x) : static_cast<double>(std::sqrt(static_cast<float>(x)));
  else y = std::trunc(x);
  return bitsOf(roundTo(y, D));
}

// An integer as a double that rounds to f16, bf16 and f32 as the integer itself would: what does not fit is rounded to odd.
double wideDouble(uint64_t bits, bool isUnsigned) {
  bool negative = !isUnsigned && static_cast<int64_t>(bits) < 0;
  uint64_t magnitude = negative ? uint64_t{0} - bits : bits;
  if (magnitude >> 53) magnitude = (magnitude & ~uint64_t{0x7ff}) | (magnitude & 0x7ff ? 0x800 : 0);
  auto v = static_cast<double>(magnitude);
  return negative ? -v : v;
}

template <DType From, DType To>
uint64_t cast(uint64_t a, uint64_t, uint64_t) {
  if constexpr (To == DType::Bool) return isFloatType(From) ? toDouble(a) != 0 : a != 0;
  else if constexpr (isFloatType(From) && isFloatType(To)) return bitsOf(roundTo(toDouble(a), To));
  else if constexpr (isFloatType(To)) {
    if constexpr (To == DType::F64) return bitsOf(isUnsignedType(From) ? static_cast<double>(a) : static_cast<double>(static_cast<int64_t>(a)));
    else return bitsOf(roundTo(wideDouble(a, isUnsignedType(From)), To));
  } else if constexpr (isFloatType(From)) {
    double x = std::trunc(toDouble(a));
    if (std::isnan(x)) return 0;
    if (x <= static_cast<double>(minValue(To))) return static_cast<uint64_t>(minValue(To));
    if (x >= static_cast<double>(maxValue(To))) return maxValue(To);
    return isUnsignedType(To) ? static_cast<uint64_t>(x) : static_cast<uint64_t>(static_cast<int64_t>(x));
  } else {
    return static_cast<uint64_t>(wrapTo(static_cast<int64_t>(a), To));
  }
}

template <DType From, DType To>
uint64_t bitcast(uint64_t a, uint64_t, uint64_t) { return fromStorage(toStorage({a}, From), To).bits; }

template <DType D>
EvalFn numberFn(Op op) {
  switch (op) {
#define ROW(O) case Op::O: return number<Op::O, D>;
    ROW(Add) ROW(Mul) ROW(Max) ROW(CmpLt) ROW(CmpNe) ROW(FloorDiv) ROW(FloorMod) ROW(And) ROW(Or) ROW(Xor) ROW(Shl) ROW(Shr) ROW(Where) ROW(Neg) ROW(Detach)
#undef ROW
    default: break;
  }
  if constexpr (isFloatType(D)) {
    switch (op) {
#define ROW(O) case Op::O: return floating<Op::O, D>;
      ROW(Recip) ROW(Exp2) ROW(Log2) ROW(Sin) ROW(Sqrt) ROW(Trunc)
#undef ROW
      default: break;
    }
  }
  return nullptr;
}

#define VALUE_DTYPES(ROW) ROW(Bool) ROW(I8) ROW(I16) ROW(I32) ROW(I64) ROW(U8) ROW(U16) ROW(U32) ROW(U64) ROW(F16) ROW(BF16) ROW(F32) ROW(F64) ROW(Index)

template <DType From>
EvalFn conversionFn(Op op, DType to) {
  switch (to) {
#define ROW(D) case DType::D: return op == Op::Cast ? cast<From, DType::D> : bitcast<From, DType::D>;
    VALUE_DTYPES(ROW)
#undef ROW
    default: return nullptr;
  }
}

}  // namespace

EvalFn evalFn(Op op, DType operand, DType result) {
  bool conversion = op == Op::Cast || op == Op::Bitcast;
  switch (operand) {
#define ROW(D) case DType::D: return conversion ? conversionFn<DType::D>(op, result) : numberFn<DType::D>(op);
    VALUE_DTYPES(ROW)
#undef ROW
    default: return nullptr;
  }
}

Scalar evalOp(Op op, DType operand, DType result, std::span<const Scalar> sources) {
  uint64_t s[3] = {};
  for (size_t i = 0; i < sources.size(); ++i) s[i] = sources[i].bits;
  return {evalFn(op, operand, result)(s[0], s[1], s[2])};
}

Scalar identityOf(ReduceOp op, DType d) {
  if (op == ReduceOp::Add) return zeroOf(d);
  if (op == ReduceOp::Mul) return oneOf(d);
  return isFloat(d) ? Scalar::ofDouble(-std::numeric_limits<double>::infinity()) : Scalar::ofInt(minValue(d));
}

}  // namespace uop
