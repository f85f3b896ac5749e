#include "rewrite/ranges.h"

#include <catch2/catch.hpp>
#include <random>

#include "ir/eval.h"

namespace uop {
namespace {

constexpr Op kBinary[] = {Op::Add, Op::Mul, Op::Max, Op::CmpLt, Op::CmpNe, Op::FloorDiv, Op::FloorMod, Op::And, Op::Or, Op::Xor, Op::Shl, Op::Shr};

// Some interval of values of `d`, of any size.
Interval some(DType d, std::mt19937_64& random) {
  Interval full = fullRange(d);
  auto count = static_cast<uint64_t>(full.hi - full.lo + 1);
  Wide lo = full.lo + static_cast<Wide>(random() % count);
  if (random() % 3 == 0) lo = static_cast<Wide>(random() % 9) + (full.lo < 0 ? -4 : 0);
  lo = std::min(lo, full.hi);
  return {lo, std::min<Wide>(full.hi, lo + static_cast<Wide>(random() % (random() % 2 ? 5 : 40)))};
}

}  // namespace

TEST_CASE("the interval of an op holds every value, and says where it wraps") {
  std::mt19937_64 random(1);
  for (DType d : {DType::I8, DType::U8, DType::Bool})
    for (Op op : kBinary) {
      DType result = op == Op::CmpLt || op == Op::CmpNe ? DType::Bool : d;
      if (!evalFn(op, d, result)) continue;
      for (int i = 0; i < 400; ++i) {
        Interval s[] = {some(d, random), some(d, random)};
        Interval out = applyOp(op, d, result, s);
        for (Wide x = s[0].lo; x <= s[0].hi; ++x)
          for (Wide y = s[1].lo; y <= s[1].hi; ++y) {
            Scalar v = evalOp(op, d, result, std::array{Scalar::ofInt(static_cast<int64_t>(x)), Scalar::ofInt(static_cast<int64_t>(y))});
            if (out.contains(intervalOf(v, result).lo)) continue;
            FAIL(name(op) << " of " << name(d) << " " << int64_t(x) << ", " << int64_t(y) << " is " << scalarText(v, result) << ", outside " << int64_t(out.lo) << " ... " << int64_t(out.hi));
          }
      }
    }
}

TEST_CASE("casts that wrap have the whole range") {
  Graph g;
  NodeId r = g.range(int64_t{256}, 0, Kind::Loop);
  ValueRanges ranges(g);
  CHECK(ranges.get(r) == Interval{0, 255});
  CHECK(ranges.get(g.cast(r, DType::I8)) == fullRange(DType::I8));
  CHECK(ranges.get(g.cast(r, DType::U8)) == Interval{0, 255});
  CHECK(ranges.get(g.binary(Op::Mul, r, r)) == Interval{0, 255 * 255});
  NodeId u = g.cast(r, DType::U8);
  CHECK(ranges.get(g.binary(Op::Mul, u, u)) == fullRange(DType::U8));
  CHECK(ranges.get(g.binary(Op::FloorMod, r, g.index(7))) == Interval{0, 6});
  CHECK(ranges.get(g.binary(Op::FloorDiv, r, g.index(16))) == Interval{0, 15});
  CHECK(ranges.get(g.cast(g.binary(Op::CmpLt, r, g.index(256)), DType::I32)) == Interval{1, 1});
}

TEST_CASE("ranges of PARAM, WHERE, PAD and the widest integers") {
  Graph g;
  auto param = [&](DType d, int64_t lo, int64_t hi) {
    return g.make(Op::Param, {}, Attrs{}.set(AttrKey::Slot, lo & 7).set(AttrKey::DTypeKey, static_cast<int64_t>(d)).set(AttrKey::Shape, g.list({})).set(AttrKey::Min, lo).set(AttrKey::Max, hi));
  };
  ValueRanges ranges(g);
  NodeId x = param(DType::I32, 3, 9), y = param(DType::I32, -2, 4), c = g.param(5, DType::Bool, {});
  CHECK(ranges.get(g.where(c, x, y)) == Interval{-2, 9});
  CHECK(ranges.get(g.make(Op::Pad, {g.reshape(x, std::array<Dim, 1>{1})}, Attrs{}.set(AttrKey::PadKey, g.list({1, 0})))) == Interval{0, 9});
  NodeId big = g.param(6, DType::U64, {});
  CHECK(ranges.get(g.binary(Op::Mul, big, big)) == fullRange(DType::U64));
  CHECK(ranges.get(g.binary(Op::FloorDiv, big, g.constInt(DType::U64, 2))).hi == static_cast<Wide>(maxValue(DType::U64) / 2));
  CHECK(ranges.get(g.param(7, DType::F32, {})).empty());
}

}  // namespace uop
