#include <catch2/catch.hpp>

#include "backends/cstyle/prelude_testing.h"

namespace uop::cstyle::testing {
namespace {

using Wide = __int128;

template <class T>
T floorDiv(T x, T y) {
  if (y == 0) return 0;
  const Wide q = Wide(x) / y, r = Wide(x) % y;
  return static_cast<T>(q - (r != 0 && (r < 0) != (y < 0)));
}
template <class T>
T floorMod(T x, T y) {
  if (y == 0) return 0;
  const Wide r = Wide(x) % y;
  return static_cast<T>(r != 0 && (r < 0) != (y < 0) ? r + y : r);
}
template <class T>
T shiftLeft(T x, T y) {
  return y < 0 || y >= static_cast<Wide>(8 * sizeof(T)) ? T(0) : static_cast<T>(static_cast<unsigned __int128>(x) << y);
}
template <class T>
T shiftRight(T x, T y) {
  if (y < 0 || y >= static_cast<Wide>(8 * sizeof(T))) return static_cast<T>(x < 0 ? -1 : 0);
  return static_cast<T>(Wide(x) >> y);
}

template <class T>
void pairsOf(std::vector<T>& x, std::vector<T>& y) {
  std::vector<T> values = integerSamples<T>(sizeof(T) == 1 ? 0 : 300);
  if (sizeof(T) == 1)
    for (int i = 0; i < 256; i++) values.push_back(static_cast<T>(i));  // all of them
  for (int i = -3; i < 70; i++) values.push_back(static_cast<T>(i));
  for (T a : values)
    for (T b : values) x.push_back(a), y.push_back(b);
}

template <class T>
void checkOps(Loops& loops) {
  std::vector<T> x, y;
  pairsOf(x, y);
  struct Op {
    const char* name;
    T (*oracle)(T, T);
  };
  for (const Op& op : {Op{"floordiv", floorDiv<T>}, Op{"floormod", floorMod<T>}, Op{"shl", shiftLeft<T>}, Op{"shr", shiftRight<T>}}) {
    const std::string helper = std::string("uop_") + op.name + "_" + TypeName<T>::name;
    const std::vector<T> got = loops.binary(helper, x, y);
    size_t wrong = 0;
    for (size_t i = 0; i < x.size(); i++)
      if (got[i] != op.oracle(x[i], y[i]) && wrong++ == 0) UNSCOPED_INFO(helper << "(" << +x[i] << ", " << +y[i] << ") gave " << +got[i]);
    CHECK(wrong == 0);
  }
}

template <class F>
bool identical(F a, F b) {
  return std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b);
}

template <class F>
void checkUnary(Loops& loops, const std::vector<F>& x, const std::string& name, F (*oracle)(F)) {
  const std::vector<F> got = loops.unary<F>(std::string("uop_") + name + "_" + TypeName<F>::name, x);
  size_t wrong = 0;
  for (size_t i = 0; i < x.size(); i++) wrong += !identical(got[i], oracle(x[i]));
  INFO(name);
  CHECK(wrong == 0);
}

template <class F>
void checkBinary(Loops& loops, const std::string& name, F (*oracle)(F, F)) {
  std::vector<F> x = floatSamples<F>(200003), y(x.rbegin(), x.rend());
  for (F a : {F(0), F(-0.0), F(1), F(-1), F(7.5), F(INFINITY), F(-INFINITY), F(NAN), F(3), F(0.1)})
    for (F b : {F(0), F(-0.0), F(1), F(-1), F(2.5), F(INFINITY), F(-INFINITY), F(NAN), F(0.1)}) x.push_back(a), y.push_back(b);
  const std::vector<F> got = loops.binary(std::string("uop_") + name + "_" + TypeName<F>::name, x, y);
  size_t wrong = 0;
  for (size_t i = 0; i < x.size(); i++) {
    const F want = oracle(x[i], y[i]);
    wrong += !identical(got[i], want) && !(name == "max" && got[i] == want);  // the sign of MAX's zero is free
  }
  INFO(name);
  CHECK(wrong == 0);
}

template <class F>
void checkFloats(Loops& loops) {
  const std::vector<F> x = floatSamples<F>(1000003);
  checkUnary<F>(loops, x, "trunc", [](F v) { return std::trunc(v); });
  checkUnary<F>(loops, x, "floor", [](F v) { return std::floor(v); });
  checkUnary<F>(loops, x, "sqrt", [](F v) { return std::sqrt(v); });
  checkBinary<F>(loops, "max", [](F a, F b) { return std::isnan(a) || std::isnan(b) ? F(NAN) : std::max(a, b); });
  checkBinary<F>(loops, "floordiv", [](F a, F b) { return std::floor(a / b); });
  checkBinary<F>(loops, "floormod", [](F a, F b) {
    const volatile F product = std::floor(a / b) * b;
    return static_cast<F>(a - product);
  });
}

}  // namespace

TEST_CASE("integer quotients, remainders and shifts, all pairs of i8 and u8") {
  for (const std::string& spec : runnableTargets()) {
    INFO(spec);
    Loops loops(spec);
    checkOps<int8_t>(loops), checkOps<int16_t>(loops), checkOps<int32_t>(loops), checkOps<int64_t>(loops);
    checkOps<uint8_t>(loops), checkOps<uint16_t>(loops), checkOps<uint32_t>(loops), checkOps<uint64_t>(loops);
  }
}

TEST_CASE("rounding, roots, maxima and quotients of floats") {
  for (const std::string& spec : runnableTargets()) {
    INFO(spec);
    Loops loops(spec);
    checkFloats<float>(loops);
    checkFloats<double>(loops);
  }
}

TEST_CASE("bit casts") {
  Loops loops("cpu");
  CHECK(loops.unary<uint32_t>("uop_bits_f32_u32", std::vector<float>{1, -0.0f}) == std::vector<uint32_t>{0x3f800000, 0x80000000});
  CHECK(loops.unary<int32_t>("uop_bits_f32_i32", std::vector<float>{-0.0f}) == std::vector<int32_t>{INT32_MIN});
  CHECK(loops.unary<float>("uop_bits_u32_f32", std::vector<uint32_t>{0x3f800000}) == std::vector<float>{1});
  CHECK(loops.unary<float>("uop_bits_i32_f32", std::vector<int32_t>{0x40000000}) == std::vector<float>{2});
  CHECK(loops.unary<uint64_t>("uop_bits_f64_u64", std::vector<double>{1}) == std::vector<uint64_t>{0x3ff0000000000000});
  CHECK(loops.unary<int64_t>("uop_bits_f64_i64", std::vector<double>{-0.0}) == std::vector<int64_t>{INT64_MIN});
  CHECK(loops.unary<double>("uop_bits_u64_f64", std::vector<uint64_t>{0x3ff0000000000000}) == std::vector<double>{1});
  CHECK(loops.unary<double>("uop_bits_i64_f64", std::vector<int64_t>{0x4000000000000000}) == std::vector<double>{2});
}

}  // namespace uop::cstyle::testing
