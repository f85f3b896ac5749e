#include <catch2/catch.hpp>

#include "backends/cstyle/prelude_testing.h"

namespace uop::cstyle::testing {
namespace {

// A 16-bit float format by its numbers; long double holds every source value exactly, i64 and u64 too.
struct Format {
  int mantissa, least, greatest;  // stored bits; exponents of the least and greatest normal values
};
constexpr Format kHalf = {10, -14, 15}, kBfloat = {7, -126, 127};

long double decode(uint16_t bits, Format f) {
  const int mantissa = bits & ((1 << f.mantissa) - 1), exponent = (bits & 0x7fff) >> f.mantissa;
  long double value = exponent == 0 ? std::ldexp(static_cast<long double>(mantissa), f.least - f.mantissa)
                                    : std::ldexp(static_cast<long double>(mantissa + (1 << f.mantissa)), f.least - f.mantissa + exponent - 1);
  if (exponent == f.greatest - f.least + 2) value = mantissa ? NAN : INFINITY;
  return bits & 0x8000 ? -value : value;
}

// To the nearest value of the format, ties to even, in one step.
long double roundTo(long double x, Format f) {
  if (std::isnan(x) || std::isinf(x) || x == 0) return x;
  const int unit = std::max(std::ilogb(x), f.least) - f.mantissa;
  const long double value = std::ldexp(std::nearbyint(std::ldexp(x, -unit)), unit);
  return std::fabs(value) >= std::ldexp(1.0L, f.greatest + 1) ? std::copysign(INFINITY, x) : value;
}

bool same(long double a, long double b) {
  return std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b);
}

template <class A>
void checkNarrowing(Loops& loops, const std::string& to, Format format, const std::vector<A>& x) {
  const std::vector<uint16_t> got = loops.unary<uint16_t>(std::string("uop_") + TypeName<A>::name + "_to_" + to, x);
  size_t wrong = 0;
  for (size_t i = 0; i < x.size(); i++) {
    const long double want = roundTo(static_cast<long double>(x[i]), format);
    if (same(decode(got[i], format), want)) continue;
    if (wrong++ == 0) UNSCOPED_INFO(TypeName<A>::name << " to " << to << ": " << x[i] << " gave " << got[i]);
  }
  CHECK(wrong == 0);
}

template <class A>
void checkBoth(Loops& loops, const std::vector<A>& x) {
  checkNarrowing(loops, "f16", kHalf, x);
  checkNarrowing(loops, "bf16", kBfloat, x);
}

// Every value of the two formats, the ties between neighbours, and the closest doubles on either side of a tie.
std::vector<double> ties() {
  std::vector<double> x;
  for (Format f : {kHalf, kBfloat})
    for (uint32_t bits = 0; bits < 0x7fff; bits++) {
      const double a = static_cast<double>(decode(static_cast<uint16_t>(bits), f));
      const double b = static_cast<double>(decode(static_cast<uint16_t>(bits + 1), f)), middle = (a + b) / 2;
      if (!std::isfinite(middle)) continue;
      for (double d : {a, middle, std::nextafter(middle, 0.0), std::nextafter(middle, INFINITY)}) x.insert(x.end(), {d, -d});
    }
  return x;
}

std::vector<double> doubles() {
  std::vector<double> x = floatSamples<double>(200000), more = ties();
  for (double d : {65519.99999999999, 65520.0, 65520.00000000001, 0x1.fep127, 0x1.fefffffffffffp127, 0x1.ffp127}) more.push_back(d);
  x.insert(x.end(), more.begin(), more.end());
  return x;
}

template <class T, class F>
void checkToInteger(Loops& loops, const std::vector<F>& x) {
  const std::vector<T> got = loops.unary<T>(std::string("uop_") + TypeName<F>::name + "_to_" + TypeName<T>::name, x);
  size_t wrong = 0;
  for (size_t i = 0; i < x.size(); i++) {
    const long double t = std::trunc(static_cast<long double>(x[i]));
    T want = 0;
    if (t >= static_cast<long double>(std::numeric_limits<T>::max())) want = std::numeric_limits<T>::max();
    else if (t <= static_cast<long double>(std::numeric_limits<T>::min())) want = std::numeric_limits<T>::min();
    else if (!std::isnan(x[i])) want = static_cast<T>(t);
    if (got[i] == want) continue;
    if (wrong++ == 0) UNSCOPED_INFO(TypeName<F>::name << " to " << TypeName<T>::name << ": " << x[i] << " gave " << +got[i]);
  }
  CHECK(wrong == 0);
}

template <class F>
void checkToIntegers(Loops& loops, const std::vector<F>& x) {
  checkToInteger<int8_t>(loops, x), checkToInteger<int16_t>(loops, x);
  checkToInteger<int32_t>(loops, x), checkToInteger<int64_t>(loops, x);
  checkToInteger<uint8_t>(loops, x), checkToInteger<uint16_t>(loops, x);
  checkToInteger<uint32_t>(loops, x), checkToInteger<uint64_t>(loops, x);
}

template <class T>
void checkFromInteger(Loops& loops, const std::vector<T>& x) {
  checkBoth(loops, x);
  const std::vector<float> got = loops.unary<float>(std::string("uop_") + TypeName<T>::name + "_to_f32", x);
  size_t wrong = 0;
  for (size_t i = 0; i < x.size(); i++) wrong += got[i] != static_cast<float>(static_cast<long double>(x[i]));
  CHECK(wrong == 0);
}

// 64-bit integers next to the ties of f32 and bf16, where rounding twice shows.
template <class T>
std::vector<T> hardIntegers() {
  std::vector<T> out = integerSamples<T>(100000);
  for (int top = 24; top < 64; top++)
    for (int keep : {8, 9, 24, 25, 53, 54})
      for (int d = -2; d <= 2; d++) {
        if (keep > top) continue;
        const uint64_t v = (uint64_t{1} << top) + (uint64_t{1} << (top - keep)) + static_cast<uint64_t>(d);
        out.push_back(static_cast<T>(v)), out.push_back(static_cast<T>(v | uint64_t{1} << (top - keep + 1))), out.push_back(static_cast<T>(-v));
      }
  return out;
}

}  // namespace

TEST_CASE("f16 and bf16 widen to f32 exactly, all 65536 of each") {
  std::vector<uint16_t> all(65536);
  for (size_t i = 0; i < all.size(); i++) all[i] = static_cast<uint16_t>(i);
  for (const std::string& spec : runnableTargets()) {
    Loops loops(spec);
    const auto half = loops.unary<float>("uop_f16_to_f32", all), bfloat = loops.unary<float>("uop_bf16_to_f32", all);
    size_t wrong = 0;
    for (size_t i = 0; i < all.size(); i++)
      wrong += !same(half[i], decode(all[i], kHalf)) + !same(bfloat[i], decode(all[i], kBfloat));
    CHECK(wrong == 0);
    const auto back = loops.unary<uint16_t>("uop_f32_to_f16", half), again = loops.unary<uint16_t>("uop_f32_to_bf16", bfloat);
    for (size_t i = 0; i < all.size(); i++)
      wrong += (back[i] != all[i] && !std::isnan(half[i])) + (again[i] != all[i] && !std::isnan(bfloat[i]));
    CHECK(wrong == 0);
  }
}

TEST_CASE("floats round once to f16 and bf16") {
  const std::vector<double> wide = doubles();
  std::vector<float> narrow = floatSamples<float>(4206599);
  for (double d : ties()) narrow.insert(narrow.end(), {static_cast<float>(d), std::nextafter(static_cast<float>(d), 0.0f)});
  for (const std::string& spec : runnableTargets()) {
    INFO(spec);
    Loops loops(spec);
    checkBoth(loops, narrow);
    checkBoth(loops, wide);
  }
}

TEST_CASE("the hardware's f16 conversion and the one by hand agree on NaNs") {
  const std::vector<float> x = floatSamples<float>(100003);
  const std::vector<std::string> specs = runnableTargets();
  const auto first = Loops(specs.front()).unary<uint16_t>("uop_f32_to_f16", x);
  CHECK(first == Loops(specs.back()).unary<uint16_t>("uop_f32_to_f16", x));
}

TEST_CASE("floats to integers truncate and saturate, NaN gives 0") {
  std::vector<float> narrow = floatSamples<float>(1000003);
  for (const std::string& spec : runnableTargets()) {
    INFO(spec);
    Loops loops(spec);
    checkToIntegers(loops, narrow);
    checkToIntegers(loops, doubles());
  }
}

TEST_CASE("integers to floats round once") {
  for (const std::string& spec : runnableTargets()) {
    INFO(spec);
    Loops loops(spec);
    checkFromInteger(loops, integerSamples<int8_t>(1000)), checkFromInteger(loops, integerSamples<uint8_t>(1000));
    checkFromInteger(loops, integerSamples<int16_t>(70000)), checkFromInteger(loops, integerSamples<uint16_t>(70000));
    checkFromInteger(loops, hardIntegers<int32_t>()), checkFromInteger(loops, hardIntegers<uint32_t>());
    checkFromInteger(loops, hardIntegers<int64_t>()), checkFromInteger(loops, hardIntegers<uint64_t>());
  }
}

}  // namespace uop::cstyle::testing
