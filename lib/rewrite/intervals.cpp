// The interval of each op, from the meaning of integers in the format's section 5.
#include <algorithm>
#include <bit>

#include "rewrite/ranges.h"

namespace uop {
namespace {

Interval join(Interval a, Interval b) {
  if (a.empty()) return b;
  if (b.empty()) return a;
  return {std::min(a.lo, b.lo), std::max(a.hi, b.hi)};
}

Interval truth(bool mayBeFalse, bool mayBeTrue) { return {mayBeFalse ? 0 : 1, mayBeTrue ? 1 : 0}; }

Wide floorDiv(Wide a, Wide b) {
  Wide q = a / b;
  return q - (a % b != 0 && (a < 0) != (b < 0));
}

Interval divBy(Interval x, Interval y) {  // y on one side of zero
  if (y.empty()) return y;
  Wide c[] = {floorDiv(x.lo, y.lo), floorDiv(x.lo, y.hi), floorDiv(x.hi, y.lo), floorDiv(x.hi, y.hi)};
  return {*std::ranges::min_element(c), *std::ranges::max_element(c)};
}

Interval divide(Interval x, Interval y) {
  Interval out = join(divBy(x, {y.lo, std::min<Wide>(y.hi, -1)}), divBy(x, {std::max<Wide>(y.lo, 1), y.hi}));
  return y.contains(0) ? join(out, {0, 0}) : out;
}

Interval modBy(Interval x, Interval y) {
  if (y.empty()) return y;
  if (y.single() && floorDiv(x.lo, y.lo) == floorDiv(x.hi, y.lo)) {
    Wide base = floorDiv(x.lo, y.lo) * y.lo;
    return {x.lo - base, x.hi - base};
  }
  if (y.lo > 0) {
    if (x.lo >= 0 && x.hi < y.lo) return x;
    return {0, x.lo >= 0 ? std::min(x.hi, y.hi - 1) : y.hi - 1};
  }
  if (x.hi <= 0 && x.lo > y.hi) return x;
  return {x.hi <= 0 ? std::max(x.lo, y.lo + 1) : y.lo + 1, 0};
}

Interval modulo(Interval x, Interval y) {
  Interval out = join(modBy(x, {y.lo, std::min<Wide>(y.hi, -1)}), modBy(x, {std::max<Wide>(y.lo, 1), y.hi}));
  return y.contains(0) ? join(out, {0, 0}) : out;
}

Wide allBits(Wide v) {  // the least 2^k - 1 that is at least v
  Wide mask = 0;
  while (mask < v) mask = mask * 2 + 1;
  return mask;
}

Interval bitwise(Op op, DType d, Interval x, Interval y) {
  if (x.single() && y.single()) {
    auto a = static_cast<uint64_t>(x.lo), b = static_cast<uint64_t>(y.lo);
    return intervalOf(Scalar::ofInt(static_cast<int64_t>(op == Op::And ? a & b : op == Op::Or ? a | b : a ^ b)), d);
  }
  if (op == Op::And && (x.lo >= 0 || y.lo >= 0)) return {0, x.lo < 0 ? y.hi : y.lo < 0 ? x.hi : std::min(x.hi, y.hi)};
  if (x.lo < 0 || y.lo < 0) return fullRange(d);
  return {op == Op::Or ? std::max(x.lo, y.lo) : 0, allBits(std::max(x.hi, y.hi))};
}

Interval shiftRight(DType d, Interval x, Interval y) {
  Wide width = 8 * byteSize(d);
  if (!y.single()) return x.lo >= 0 ? Interval{0, x.hi} : join(x, {-1, 0});
  if (y.lo < 0 || y.lo >= width) return {x.lo < 0 ? -1 : 0, x.hi < 0 ? -1 : 0};
  return {x.lo >> y.lo, x.hi >> y.lo};
}

// The exact result of arithmetic, which may lie outside the dtype; empty where even Wide is too narrow.
Interval exact(Op op, DType d, std::span<const Interval> s) {
  Interval x = s[0], y = s.size() > 1 ? s[1] : Interval{};
  switch (op) {
    case Op::Neg: return {-x.hi, -x.lo};
    case Op::Add: return {x.lo + y.lo, x.hi + y.hi};
    case Op::Max: return {std::max(x.lo, y.lo), std::max(x.hi, y.hi)};
    case Op::FloorDiv: return divide(x, y);
    case Op::FloorMod: return modulo(x, y);
    case Op::And:
    case Op::Or:
    case Op::Xor: return bitwise(op, d, x, y);
    case Op::Shr: return shiftRight(d, x, y);
    case Op::Shl: {
      if (!y.single() || y.lo < 0 || y.lo >= 8 * byteSize(d)) return x == Interval{0, 0} || (y.single() && y.lo >= 0) ? Interval{0, 0} : Interval{};
      Wide by = Wide{1} << y.lo;
      return exact(Op::Mul, d, std::array{x, Interval{by, by}});
    }
    case Op::Mul: {
      Wide c[4];
      if (__builtin_mul_overflow(x.lo, y.lo, &c[0]) || __builtin_mul_overflow(x.lo, y.hi, &c[1]) || __builtin_mul_overflow(x.hi, y.lo, &c[2]) ||
          __builtin_mul_overflow(x.hi, y.hi, &c[3]))
        return {};
      return {*std::ranges::min_element(c), *std::ranges::max_element(c)};
    }
    default: return {};
  }
}

Interval castRange(DType from, DType to, Interval x, bool* wraps) {
  Interval full = fullRange(to);
  if (x.empty() || full.empty() || isFloat(from)) return full;
  if (to == DType::Bool) return truth(x.contains(0), x.lo != 0 || x.hi != 0);
  if (x.lo >= full.lo && x.hi <= full.hi) return x;
  if (wraps) *wraps = true;
  return full;
}

}  // namespace

Interval fullRange(DType d) {
  if (d != DType::Bool && !isInteger(d)) return {};
  return {minValue(d), static_cast<Wide>(maxValue(d))};
}

Interval intervalOf(Scalar s, DType d) {
  if (d != DType::Bool && !isInteger(d)) return {};
  Wide v = isUnsigned(d) ? static_cast<Wide>(s.bits) : static_cast<Wide>(s.asInt());
  return {v, v};
}

Interval applyOp(Op op, DType operand, DType result, std::span<const Interval> s, bool* wraps) {
  Interval full = fullRange(result);
  if (full.empty()) return full;
  if (op == Op::Cast) return castRange(operand, result, s[0], wraps);
  if (op == Op::Detach) return s[0];
  if (op == Op::Where) return s[0].single() ? s[s[0].lo ? 1 : 2] : join(s[1], s[2]);
  if (op == Op::Bitcast || std::ranges::any_of(s, &Interval::empty)) return full;
  if (op == Op::CmpLt) return truth(s[0].hi >= s[1].lo, s[0].lo < s[1].hi);
  if (op == Op::CmpNe) return truth(s[0].lo <= s[1].hi && s[1].lo <= s[0].hi, !(s[0].single() && s[0] == s[1]));
  Interval out = exact(op, operand, s);
  if (!out.empty() && out.lo >= full.lo && out.hi <= full.hi) return out;
  if (wraps) *wraps = true;
  return full;
}

}  // namespace uop
