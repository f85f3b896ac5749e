#include "cmd/compiler/codegen.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "cmd/common/testing.h"

namespace uop {
namespace {

using testing::Folder;

cpu::CpuTarget target(std::string_view spec) { return cpu::parseTarget(spec).value(); }

CodeUnit unit(const std::string& name, int constant = 1) {
  return {name, "__attribute__((visibility(\"default\"))) int " + name + "(int x) { return x + " + std::to_string(constant) + "; }\n"};
}
const std::vector<CodeUnit> kThree = {unit("one"), unit("two"), unit("three")};

struct Outcome {
  std::vector<std::string> objects;
  size_t cached = 0, compiled = 0;
};
Outcome compile(std::span<const CodeUnit> units, const std::string& folder, std::string_view spec = "cpu:x86-64-v3", unsigned level = 1) {
  Timeline timeline;
  CodegenOptions options{{!folder.empty(), folder}, &timeline};
  Outcome out{compileUnits(units, target(spec), level, options).value()};
  for (const TraceSlice& s : timeline.slices()) ++(s.category == "cached" ? out.cached : out.compiled);
  return out;
}

TEST_CASE("a key depends on all that an object depends on") {
  auto identity = [](std::string_view spec, unsigned level = 1, cpu::Emit emit = cpu::Emit::Object) { return cpu::compileIdentity(target(spec), {level, emit}); };
  const std::string base = identity("cpu:x86-64-v3");
  std::vector<std::string> identities = {base, identity("cpu:x86-64-v2"), identity("cpu:x86-64-v3,+avx512f"), identity("cpu:x86-64-v3,-fma"),
                                         identity("cpu:x86-64-v3", 0), identity("cpu:x86-64-v3", 2), identity("cpu:x86-64-v3", 1, cpu::Emit::Bitcode)};
  std::vector<std::string> keys = {objectKey(unit("one", 2), base), objectKey(unit("other"), base), objectKey({"x", unit("one").source}, base)};
  for (const std::string& i : identities) keys.push_back(objectKey(unit("one"), i));
  // No border between parts can be moved.
  keys.push_back(objectKey({"ab", "c"}, base));
  keys.push_back(objectKey({"a", "bc"}, base));
  std::ranges::sort(keys);
  CHECK(std::ranges::adjacent_find(keys) == keys.end());
  CHECK(objectKey(unit("one"), base) == objectKey(unit("one"), identity("cpu:x86-64-v3")));
  for (const std::string& part : {cpu::clangVersion(), cpu::llvmVersion(), std::string("-ffp-contract=off")})
    CHECK(base.find(part) != std::string::npos);
}

TEST_CASE("objects are the same from Clang and from the cache") {
  Folder dir;
  const std::string cache = dir / "cache";
  const Outcome without = compile(kThree, "");
  const Outcome cold = compile(kThree, cache), warm = compile(kThree, cache);
  CHECK(without.compiled == 3);
  CHECK(cold.compiled == 3);
  CHECK(cold.cached == 0);
  CHECK(warm.cached == 3);
  CHECK(warm.compiled == 0);
  CHECK(cold.objects == without.objects);
  CHECK(warm.objects == without.objects);
}

TEST_CASE("only what changed is compiled again") {
  Folder dir;
  const std::string cache = dir / "cache";
  compile(kThree, cache);
  const std::vector<CodeUnit> edited = {unit("zero"), kThree[2], unit("one", 7), kThree[1]};
  const Outcome now = compile(edited, cache);
  CHECK(now.cached == 2);
  CHECK(now.compiled == 2);
  CHECK(now.objects == compile(edited, "").objects);
  CHECK(compile(kThree, cache, "cpu:x86-64-v3", 0).compiled == 3);
  CHECK(compile(kThree, cache, "cpu:x86-64-v2").compiled == 3);
  CHECK(compile(kThree, cache, "cpu:x86-64-v3,-fma").compiled == 3);
  CHECK(compile(kThree, cache).compiled == 0);
}

TEST_CASE("a damaged object is compiled anew") {
  Folder dir;
  const std::string cache = dir / "cache";
  const Outcome cold = compile(kThree, cache);
  const std::string key = objectKey(kThree[1], cpu::compileIdentity(target("cpu:x86-64-v3"), {1, cpu::Emit::Object}));
  const std::string file = "cache/" + key.substr(0, 2) + "/" + key.substr(2);
  std::string text = dir.read(file);
  text[text.size() / 2] ^= 1;
  dir.write(file, text);
  const Outcome again = compile(kThree, cache);
  CHECK(again.compiled == 1);
  CHECK(again.objects == cold.objects);
  CHECK(compile(kThree, cache).cached == 3);
}

TEST_CASE("a function that comes or goes changes few units") {
  std::vector<cstyle::KernelSource> sources(200);
  for (size_t i = 0; i < sources.size(); ++i) {
    sources[i].symbol = fmt::format("k{}", i);
    sources[i].text = unit(sources[i].symbol).source + std::string(i % 7 * 200, ' ');
  }
  auto texts = [](std::span<const cstyle::KernelSource> list) {
    std::set<std::string> out;
    for (const CodeUnit& u : makeUnits(list)) out.insert(u.name + u.source);
    return out;
  };
  const auto all = texts(sources);
  CHECK(all.size() > 40);
  CHECK(all.size() < 120);
  for (size_t gone : {0, 57, 199}) {
    auto fewer = sources;
    fewer.erase(fewer.begin() + static_cast<ptrdiff_t>(gone));
    size_t fresh = 0;
    for (const std::string& text : texts(fewer)) fresh += !all.contains(text);
    CHECK(fresh <= 6);
  }
}

TEST_CASE("no units are no objects") { CHECK(compile({}, "").objects.empty()); }

}  // namespace
}  // namespace uop
