#include "backends/cpu/target.h"

#include <algorithm>
#include <catch2/catch.hpp>

namespace uop::cpu {
namespace {

std::string errorOf(std::string_view spec) {
  const Result<CpuTarget> target = parseTarget(spec);
  REQUIRE(!target);
  return target.error().message;
}

bool contains(const std::vector<std::string>& list, std::string_view item) { return std::ranges::find(list, item) != list.end(); }

}  // namespace

TEST_CASE("a target is a cpu and changes to its features") {
  const CpuTarget target = parseTarget("cpu:znver4,-avx512f,+avxvnni").value();
  CHECK(target.cpu == "znver4");
  CHECK(target.features == std::vector<std::string>{"-avx512f", "+avxvnni"});
  CHECK(targetSpec(target) == "cpu:znver4,-avx512f,+avxvnni");
  CHECK(hasFeature(target, "avx2"));
  CHECK(hasFeature(target, "avxvnni"));
  CHECK(!hasFeature(target, "avx512f"));
  CHECK(!hasFeature(target, "avx512bf16"));  // what rests on it goes with it
  CHECK(vectorBits(target) == 256);
  CHECK(vectorBits(parseTarget("cpu:znver4").value()) == 512);
  CHECK(vectorBits(parseTarget("cpu:x86-64").value()) == 128);
}

TEST_CASE("unknown names are errors that name the nearest one") {
  CHECK(errorOf("cpu:znver44") == "unknown CPU 'znver44'" + suggest("znver44", {"znver4"}));
  CHECK(errorOf("cpu:znver4,+avx512bf61") == "unknown CPU feature 'avx512bf61'" + suggest("avx512bf61", {"avx512bf16"}));
  CHECK(errorOf("cpu:znver44").find("did you mean 'znver4'") != std::string::npos);
  CHECK(errorOf("cpu:znver4,-sse") == "'cpu:znver4,-sse' has no SSE2, which every x86-64 CPU has");
  CHECK(errorOf("cpu:").starts_with("unknown CPU ''"));
  CHECK(errorOf("cpu:znver4,avx2").starts_with("a CPU feature is written +name or -name, found 'avx2'"));
  CHECK(errorOf("cpu:znver4,").starts_with("a CPU feature is written"));
  CHECK(errorOf("gpu").starts_with("'gpu' is no CPU target"));
  CHECK(parseTarget("cpux").error().kind == Diag::Usage);
}

TEST_CASE("required features are what the instruction set needs, sorted, and no operating system's business") {
  const std::vector<std::string> v3 = requiredFeatures(parseTarget("cpu:x86-64-v3").value());
  CHECK(std::ranges::is_sorted(v3));
  for (const char* f : {"avx2", "fma", "f16c", "bmi2", "sse4.2"}) CHECK(contains(v3, f));
  CHECK(!contains(v3, "avx512f"));
  const std::vector<std::string> zen = requiredFeatures(parseTarget("cpu:znver4").value());
  for (const char* f : {"avx512f", "avx512bf16", "avx512vnni"}) CHECK(contains(zen, f));
  for (const char* f : {"pku", "shstk", "clzero", "fast-15bytenop", "64bit", "cx8"}) CHECK(!contains(zen, f));
}

TEST_CASE("the host's target is written out and read back") {
  const CpuTarget host = hostTarget();
  CHECK(parseTarget("cpu").value() == host);
  CHECK(parseTarget("cpu:native").value() == host);
  CHECK(parseTarget(targetSpec(host)).value() == host);
  CHECK(host.cpu != "native");
  CHECK(parseTarget("cpu:native,-avx2").value().features.back() == "-avx2");
  CHECK(contains(requiredFeatures(host), "sse2"));
}

TEST_CASE("known names are sorted and complete enough") {
  CHECK(std::ranges::is_sorted(knownCpus()));
  CHECK(std::ranges::is_sorted(knownFeatures()));
  for (const char* cpu : {"x86-64", "x86-64-v4", "znver4", "skylake-avx512", "sapphirerapids"}) CHECK(contains(knownCpus(), cpu));
  CHECK(!contains(knownCpus(), "i386"));
}

}  // namespace uop::cpu
