// For tests: every helper as a loop over arrays, compiled in this process for one target.
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "backends/cpu/compile.h"
#include "backends/cpu/jit.h"
#include "backends/cstyle/prelude.h"

namespace uop::cstyle::testing {

template <class T>
struct TypeName;
#define UOP_TYPE(type, dtype, c)              \
  template <>                                 \
  struct TypeName<type> {                     \
    static constexpr const char* name = dtype; \
    static constexpr const char* cName = c;   \
  };
UOP_TYPE(int8_t, "i8", "int8_t")
UOP_TYPE(int16_t, "i16", "int16_t")
UOP_TYPE(int32_t, "i32", "int32_t")
UOP_TYPE(int64_t, "i64", "int64_t")
UOP_TYPE(uint8_t, "u8", "uint8_t")
UOP_TYPE(uint16_t, "u16", "uint16_t")
UOP_TYPE(uint32_t, "u32", "uint32_t")
UOP_TYPE(uint64_t, "u64", "uint64_t")
UOP_TYPE(float, "f32", "float")
UOP_TYPE(double, "f64", "double")
#undef UOP_TYPE

inline std::string loopSource(std::string_view helper, std::string_view result, std::string_view argument, bool binary) {
  const std::string f(helper), r(result), a(argument);
  std::string text = preludeText({helper}) + "UOP_KERNEL void loop(" + r + "* restrict o, const " + a + "* restrict x, ";
  if (binary) text += "const " + a + "* restrict y, ";
  text += "int64_t n) {\n  for (int64_t i = 0; i < n; i++) o[i] = " + f;
  return text + (binary ? "(x[i], y[i]);\n}\n" : "(x[i]);\n}\n");
}

// What this machine can run of: the baseline, AVX2 with FMA and F16C, AVX-512.
inline std::vector<std::string> runnableTargets() {
  std::vector<std::string> specs = {"cpu:x86-64"};
  const cpu::CpuTarget host = cpu::hostTarget();
  if (cpu::hasFeature(host, "avx2") && cpu::hasFeature(host, "fma")) specs.push_back("cpu:x86-64-v3");
  if (cpu::hasFeature(host, "avx512f")) specs.push_back("cpu:native");
  return specs;
}

class Loops {
 public:
  explicit Loops(std::string spec) : target_(cpu::parseTarget(spec).value()) {}

  template <class R, class A>
  std::vector<R> unary(const std::string& helper, const std::vector<A>& x) {
    std::vector<R> out(x.size());
    using Loop = void (*)(R*, const A*, int64_t);
    const Loop loop = compiled<Loop>(helper, TypeName<R>::cName, TypeName<A>::cName, false);
    loop(out.data(), x.data(), static_cast<int64_t>(x.size()));
    return out;
  }
  template <class A>
  std::vector<A> binary(const std::string& helper, const std::vector<A>& x, const std::vector<A>& y) {
    std::vector<A> out(x.size());
    using Loop = void (*)(A*, const A*, const A*, int64_t);
    const Loop loop = compiled<Loop>(helper, TypeName<A>::cName, TypeName<A>::cName, true);
    loop(out.data(), x.data(), y.data(), static_cast<int64_t>(x.size()));
    return out;
  }

 private:
  template <class Loop>
  Loop compiled(const std::string& helper, const char* result, const char* argument, bool binary) {
    auto object = cpu::compileC(loopSource(helper, result, argument, binary), helper, target_).value();
    auto jit = cpu::Jit::create().value();
    jit->addObject(object.bytes).value();
    void* address = jit->lookup("loop").value();
    jits_.push_back(std::move(jit));
    return reinterpret_cast<Loop>(address);
  }
  cpu::CpuTarget target_;
  std::vector<std::unique_ptr<cpu::Jit>> jits_;
};

// Every `stride`-th bit pattern of F, and the ones around zero, the powers of two and the ends.
template <class F>
std::vector<F> floatSamples(uint64_t count) {
  using U = std::conditional_t<sizeof(F) == 4, uint32_t, uint64_t>;
  constexpr int mantissa = std::numeric_limits<F>::digits - 1;
  std::vector<F> out;
  const U stride = static_cast<U>(static_cast<U>(-1) / count) | 1;
  for (uint64_t i = 0; i < count; i++) out.push_back(std::bit_cast<F>(static_cast<U>(stride * i)));
  for (U exponent = 0; exponent < (U{1} << (8 * sizeof(F) - mantissa)); exponent++)
    for (U delta = 0; delta < 7; delta++) out.push_back(std::bit_cast<F>(static_cast<U>((exponent << mantissa) + delta - 3)));
  for (int i = -1100; i <= 1100; i++)
    for (F f : {F(0), F(0.25), F(0.5), F(0.75)}) out.push_back(static_cast<F>(i) + f);
  if (sizeof(F) == 4)
    for (U bits : {U{0x7FFF8C22}, U{0x7F800001}, U{0xFFFFFFFF}}) out.push_back(std::bit_cast<F>(bits));  // NaNs
  return out;
}

template <class T>
std::vector<T> integerSamples(size_t random) {
  std::vector<T> out;
  for (int k = 0; k < 8 * static_cast<int>(sizeof(T)); k++)
    for (int d = -3; d <= 3; d++)
      for (uint64_t sign : {uint64_t{1}, ~uint64_t{0}})
        out.push_back(static_cast<T>(sign * ((uint64_t{1} << k) + static_cast<uint64_t>(d))));
  std::mt19937_64 bits(7);
  for (size_t i = 0; i < random; i++) out.push_back(static_cast<T>(bits() >> (bits() % (8 * sizeof(T)))));
  return out;
}

// |got − want| in units of the spacing of F's values around `want`; 0 for two NaNs or equal infinities, else infinite.
template <class F>
long double ulps(F got, long double want) {
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) == std::isnan(got) ? 0 : INFINITY;
  const F rounded = static_cast<F>(want);
  if (std::isinf(rounded) || std::isinf(got)) return got == rounded ? 0 : INFINITY;
  constexpr int least = std::numeric_limits<F>::min_exponent - 1;
  const int exponent = want == 0 ? least : std::max(std::ilogb(want), least);
  return std::fabs(static_cast<long double>(got) - want) / std::ldexp(1.0L, exponent - std::numeric_limits<F>::digits + 1);
}

}  // namespace uop::cstyle::testing
