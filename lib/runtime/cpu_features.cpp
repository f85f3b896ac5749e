#include "runtime/cpu_features.h"

#include <cpuid.h>
#include <fmt/format.h>

#include <algorithm>

namespace uop {
namespace {

struct Feature {
  std::string_view name;
  bool (*test)();
};

// __builtin_cpu_supports wants a literal; the compiler's own table knows which register and which bit.
#define SUPPORTS(llvm, gcc) Feature{llvm, [] { return __builtin_cpu_supports(gcc) != 0; }}

// What that table lacks is asked by leaf, subleaf, register (0 EAX … 3 EDX) and bit (Intel SDM, CPUID).
template <unsigned Leaf, unsigned Sub, unsigned Register, unsigned Bit>
bool cpuidBit() {
  unsigned r[4] = {};
  return __get_cpuid_count(Leaf, Sub, &r[0], &r[1], &r[2], &r[3]) && (r[Register] >> Bit & 1);
}

const std::vector<Feature>& table() {
  static const std::vector<Feature> features = {
      SUPPORTS("aes", "aes"), SUPPORTS("avx", "avx"), SUPPORTS("avx2", "avx2"), SUPPORTS("avx512bf16", "avx512bf16"), SUPPORTS("avx512bitalg", "avx512bitalg"),
      SUPPORTS("avx512bw", "avx512bw"), SUPPORTS("avx512cd", "avx512cd"), SUPPORTS("avx512dq", "avx512dq"), SUPPORTS("avx512f", "avx512f"), SUPPORTS("avx512fp16", "avx512fp16"),
      SUPPORTS("avx512ifma", "avx512ifma"), SUPPORTS("avx512vbmi", "avx512vbmi"), SUPPORTS("avx512vbmi2", "avx512vbmi2"), SUPPORTS("avx512vl", "avx512vl"), SUPPORTS("avx512vnni", "avx512vnni"),
      SUPPORTS("avx512vp2intersect", "avx512vp2intersect"), SUPPORTS("avx512vpopcntdq", "avx512vpopcntdq"), SUPPORTS("avxvnni", "avxvnni"), SUPPORTS("bmi", "bmi"), SUPPORTS("bmi2", "bmi2"),
      SUPPORTS("cmov", "cmov"), SUPPORTS("cx16", "cmpxchg16b"), SUPPORTS("f16c", "f16c"), SUPPORTS("fma", "fma"), SUPPORTS("fma4", "fma4"), SUPPORTS("gfni", "gfni"), SUPPORTS("lzcnt", "lzcnt"),
      SUPPORTS("mmx", "mmx"), SUPPORTS("movbe", "movbe"), SUPPORTS("pclmul", "pclmul"), SUPPORTS("popcnt", "popcnt"), SUPPORTS("sse", "sse"), SUPPORTS("sse2", "sse2"), SUPPORTS("sse3", "sse3"),
      SUPPORTS("sse4.1", "sse4.1"), SUPPORTS("sse4.2", "sse4.2"), SUPPORTS("sse4a", "sse4a"), SUPPORTS("ssse3", "ssse3"), SUPPORTS("vaes", "vaes"), SUPPORTS("vpclmulqdq", "vpclmulqdq"),
      SUPPORTS("xop", "xop"),
      {"adx", cpuidBit<7, 0, 1, 19>}, {"sha", cpuidBit<7, 0, 1, 29>}, {"tbm", cpuidBit<0x80000001, 0, 2, 21>}, {"avxifma", cpuidBit<7, 1, 0, 23>},
      {"avxvnniint8", cpuidBit<7, 1, 3, 4>}, {"avxneconvert", cpuidBit<7, 1, 3, 5>}, {"avxvnniint16", cpuidBit<7, 1, 3, 10>},
      {"amx-bf16", cpuidBit<7, 0, 3, 22>}, {"amx-tile", cpuidBit<7, 0, 3, 24>}, {"amx-int8", cpuidBit<7, 0, 3, 25>}, {"amx-fp16", cpuidBit<7, 1, 0, 21>},
  };
  return features;
}
#undef SUPPORTS

const Feature* find(std::string_view name) {
  auto it = std::ranges::find(table(), name, &Feature::name);
  return it == table().end() ? nullptr : &*it;
}

}  // namespace

Result<bool> cpuHasFeature(std::string_view name) {
  const Feature* f = find(name);
  if (!f) return fail(Diag::MissingFeature, std::string(name) + " (not a known feature)");
  __builtin_cpu_init();
  return f->test();
}

Result<void> requireCpuFeatures(std::span<const std::string> names) {
  std::vector<std::string> lacking;
  for (const std::string& n : names) {
    auto has = cpuHasFeature(n);
    if (!has || !*has) lacking.push_back(has ? n : n + " (not a known feature)");
  }
  if (lacking.empty()) return {};
  return fail(Diag::MissingFeature, fmt::format("{}", fmt::join(lacking, ", ")));
}

std::vector<std::string_view> knownCpuFeatures() {
  std::vector<std::string_view> out;
  for (const Feature& f : table()) out.push_back(f.name);
  std::ranges::sort(out);
  return out;
}

}  // namespace uop
