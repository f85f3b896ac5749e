// What random programs are made of, and what they once found.
#include "cmd/check/random_program.h"

#include <catch2/catch.hpp>
#include <set>

#include "cmd/check/check.h"
#include "cmd/check/isolate.h"
#include "cmd/check/rng.h"
#include "support/golden.h"

namespace uop {
namespace {

Program programOf(const std::string& name, const std::string& text) {
  SourceBuffer source(name, text);
  Diagnostics diags(&source);
  auto p = readProgram(source, diags);
  INFO(diags.render());
  REQUIRE(p);
  return compacted(*p);
}

}  // namespace

TEST_CASE("random programs are valid, the same for the same seed, and hold every op, dtype, kind and space") {
  std::set<Op> ops;
  std::set<DType> types;
  std::set<Kind> kinds;
  std::set<Space> spaces;
  std::set<size_t> ranks;
  bool empty = false, gatedStore = false, gatedLoad = false, window = false;
  for (uint64_t seed = 1; seed <= 2000; ++seed) {
    Program p = randomProgram(seed);
    Diagnostics diags;
    verifyProgram(p, diags);
    INFO("seed " << seed << "\n" << diags.render());
    REQUIRE(diags.errorCount() == 0);
    if (seed < 50) CHECK(printProgram(p) == printProgram(randomProgram(seed)));
    const Graph& g = p.graph;
    for (NodeId n = 0; n < g.size(); ++n) {
      Op op = g.op(n);
      ops.insert(op), types.insert(g.dtype(n)), ranks.insert(g.rank(n));
      if (op == Op::Range) kinds.insert(g.kind(n));
      if (op == Op::Alloc || op == Op::Stage) spaces.insert(g.space(n));
      empty |= g.elements(n) == 0, gatedStore |= op == Op::Store && g[n].srcCount == 3, gatedLoad |= op == Op::Load && g[n].srcCount == 3;
      window |= op == Op::Shrink && g[n].srcCount > 1;
    }
  }
  for (size_t i = 0; i < kOpCount; ++i) {
    INFO(name(static_cast<Op>(i)));
    CHECK(ops.contains(static_cast<Op>(i)));
  }
  CHECK(types.size() == 16);  // void and tuple among them
  CHECK(kinds.size() == kKindNames.size());
  CHECK(spaces.size() == kSpaceNames.size());
  CHECK(ranks.size() >= 6);
  CHECK((empty && gatedStore && gatedLoad && window));
}

TEST_CASE("the generator is SplitMix64") {
  Rng rng(1);
  CHECK(rng.next() == 0x910a2dec89025cc1u);
}

TEST_CASE("programs that once failed, at every level and compiled") {
  auto files = testing::programsIn(UOPC_TESTDATA "/random");
  CHECK(files.size() >= 5);
  for (const auto& file : files) {
    Program p = programOf(file.string(), *readFile(file.string()));
    for (int level = 0; level < 4; ++level) {
      PassCheck c = checkProgram(p, randomInputs(p, 1), builtinCompilation(level), {true, true});
      INFO(file << " -O" << level << ": " << (c.finding ? c.finding->pass + ": " + c.finding->what : ""));
      CHECK(c.passes > 0);
      CHECK_FALSE(c.finding);
    }
  }
}

TEST_CASE("a crash and a hang are told from an end") {
  CHECK(isolated([] { return std::string("well"); }, 60).output == "well");
  CHECK(isolated([]() -> std::string { std::abort(); }, 60).ending == Ending::Crash);
  CHECK(isolated([]() -> std::string { for (volatile bool go = true; go;) {} return ""; }, 1).ending == Ending::Hang);
  std::map<uint64_t, Ending> endings;
  uint64_t sum = 0;
  auto work = [](uint64_t i) -> uint64_t { return i == 70 ? std::abort(), 0 : i; };
  isolatedAll(200, 2, 60, work, [&](uint64_t i, Ending e, uint64_t word) { return sum += word, endings[i] = e, true; });
  CHECK(endings.size() == 200);
  CHECK(endings.at(70) == Ending::Crash);
  CHECK(std::ranges::count(endings, Ending::Done, [](const auto& e) { return e.second; }) == 199);
  CHECK(sum == 199 * 200 / 2 - 70);
}

}  // namespace uop
