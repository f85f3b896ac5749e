// Memory and order of whole programs, compiled by the built-in pipelines.
#include <algorithm>
#include <catch2/catch.hpp>
#include <sstream>

#include "cmd/compiler/artifact.h"

namespace uop {
namespace {

Manifest planned(const std::string& text, int level = 0) {
  std::ostringstream err;
  const Messages messages{err};
  int status = kDone;
  auto compilation = chooseCompilation({"cpu:x86-64-v3", level, "", {}}, messages, status);
  REQUIRE(compilation);
  SourceBuffer source("in.uop", "uop 1\n" + text);
  Diagnostics diags(&source);
  auto program = readProgram(source, diags);
  INFO(diags.render());
  REQUIRE(program);
  Program original = compacted(*program);
  auto lowered = PassManager(compilation->pipeline, {}).run(std::move(*program));
  REQUIRE(lowered);
  auto built = build(*lowered, original, *compilation);
  REQUIRE(built);
  return built->plan.manifest;
}

TEST_CASE("a chain of elementwise kernels works in one place") {
  // At -O0 each value is a kernel's; x is the caller's and stays as it is.
  const Manifest m = planned(R"(%x = PARAM slot=0 dtype=f32 shape=[64,16] name="x"
%a = NEG %x
%b = EXP2 %a
%c = MUL %b %x
%d = SQRT %c
return d=%d
)");
  CHECK(m.launches.size() == 4);
  CHECK(m.memory.arenaBytes == 64 * 16 * 4);
  CHECK(m.memory.peakBytes == 64 * 16 * 4);
  CHECK(m.launches[1].args.size() == 1);  // EXP2 in place
  CHECK(m.launches[1].args[0].write);
  for (const Launch& l : m.launches)
    for (const LaunchArg& a : l.args) CHECK(a.write == (a.place.base == Base::Arena));
}

TEST_CASE("what is read later, or elsewhere, is not overwritten") {
  const std::string x = "%x = PARAM slot=0 dtype=f32 shape=[16,16] name=\"x\"\n%a = NEG %x\n";
  CHECK(planned(x + "%b = EXP2 %a\n%c = SQRT %a\n%d = MUL %b %c\nreturn d=%d\n").memory.peakBytes == 2 * 1024);
  CHECK(planned(x + "%b = EXP2 %a\nreturn a=%a b=%b\n").memory.peakBytes == 2 * 1024);
  CHECK(planned(x + "%t = PERMUTE %a axes=[1,0]\n%b = ADD %a %t\nreturn b=%b\n").memory.peakBytes == 2 * 1024);
  CHECK(planned(x + "%b = CAST %a dtype=i32\nreturn b=%b\n").memory.peakBytes == 2 * 1024);
}

TEST_CASE("updates and results are not copied") {
  for (int level : {0, 2}) {
    const Manifest m = planned(R"(%g = PARAM slot=0 dtype=f32 shape=[32] name="g"
%w = BUFFER slot=0 dtype=f32 shape=[32] name="w"
%n = ADD %w %g
%s = STORE %w %n
%now = AFTER %w %s
return now=%now
)", level);
    CHECK(m.results[0].place.base == Base::Buffer);
    if (level == 0) continue;
    CHECK(m.launches.size() == 1);
    CHECK(m.memory.arenaBytes == 0);
  }
  const Manifest direct = planned("%x = PARAM slot=0 dtype=f32 shape=[32] name=\"x\"\n%y = NEG %x\nreturn y=%y same=%x\n");
  CHECK(direct.launches.size() == 1);
  CHECK(direct.memory.arenaBytes == 128);
  CHECK(direct.results[0].place == direct.launches[0].args[1].place);
}

TEST_CASE("branches run so that little lives at once") {
  // Four large tables, each summed into a few numbers.
  std::string text = "%x = PARAM slot=0 dtype=f32 shape=[16,1] name=\"x\"\n%y = PARAM slot=1 dtype=f32 shape=[1,256] name=\"y\"\n", result;
  for (int i = 0; i < 4; ++i)
    text += fmt::format("%c{0} = CONST value={1} dtype=f32\n%xs{0} = ADD %x %c{0}\n%p{0} = MUL %xs{0} %y\n%s{0} = REDUCE %p{0} op=ADD axes=[1]\n", i, i + 0.5);
  text += "%a = ADD %s0 %s1\n%b = ADD %s2 %s3\n%c = ADD %a %b\nreturn c=%c\n";
  const Manifest m = planned(text);
  CHECK(m.memory.peakBytes >= 16 * 256 * 4);
  CHECK(m.memory.peakBytes <= 16 * 256 * 4 + 5 * 64);
  CHECK(m.memory.arenaBytes == m.memory.peakBytes);
}

TEST_CASE("readers of old contents come before the write, in whatever order memory would like") {
  const Manifest m = planned(R"(%w = BUFFER slot=0 dtype=f32 shape=[32] name="w"
%old = EXP2 %w
%n = NEG %w
%s = STORE %w %n
%now = AFTER %w %s
%b = SQRT %now
return old=%old b=%b
)");
  auto touches = [&](const Launch& l, bool write) { return std::ranges::any_of(l.args, [&](const LaunchArg& a) { return a.place.base == Base::Buffer && a.write == write; }); };
  size_t write = 0, before = 0, after = 0;
  while (!touches(m.launches[write], true)) ++write;
  for (size_t i = 0; i < m.launches.size(); ++i)
    if (touches(m.launches[i], false)) ++(i < write ? before : after);
  CHECK(before >= 1);
  CHECK(after == 1);
}

}  // namespace
}  // namespace uop
