// The shrinker, on rules that are wrong on purpose, and on what can be said of it alone.
#include "cmd/check/shrink.h"

#include <catch2/catch.hpp>

#include "cmd/check/check.h"
#include "cmd/check/random_program.h"
#include "passes/passes.h"

namespace uop {
namespace {

Compilation wrong(const std::string& rules) {
  SourceBuffer source("wrong.json", R"({"version": 1, "passes": ["canonicalize", "inline-calls", {"pass": "rules", "rules": [)" + rules + R"(]}, "simplify"]})");
  Diagnostics diags(&source);
  auto pipeline = readPipeline(source, passes(), diags);
  INFO(diags.render());
  REQUIRE(pipeline);
  Compilation c = builtinCompilation(0);
  c.pipeline = std::move(*pipeline);
  return c;
}

size_t nodes(const Program& p) { return cone(p.graph, p.roots(), true).size(); }

// The smallest form of the first few random programs that the rule breaks; how many nodes the largest of them has.
size_t largestOfSmall(const std::string& rule, size_t wanted) {
  Compilation c = wrong(rule);
  size_t found = 0, largest = 0;
  for (uint64_t seed = 1; seed < 3000 && found < wanted; ++seed) {
    auto failure = [&](const Program& p) { return checkProgram(p, randomInputs(p, seed), c).finding; };
    Program p = randomProgram(seed);
    auto first = failure(p);
    if (!first) continue;
    ++found;
    CHECK(first->pass == "rules");
    size_t before = nodes(p);
    Program small = shrink(compacted(p), [&](const Program& q) {
      auto again = failure(q);
      return again && again->sameKind(*first);
    });
    INFO("seed " << seed << ", " << before << " nodes, now\n" << printProgram(small));
    CHECK(failure(small));
    CHECK(nodes(small) <= 6);
    largest = std::max(largest, nodes(small));
  }
  CHECK(found == wanted);
  return largest;
}

}  // namespace

TEST_CASE("a program that a wrong rule breaks shrinks to the rule") {
  CHECK(largestOfSmall(R"r({"name": "wrong-max", "match": "(MAX ?x ?y)", "replace": "?x"})r", 5) <= 5);
  CHECK(largestOfSmall(R"r({"name": "wrong-less", "match": "(CMPLT ?x ?y)", "replace": "(CMPNE ?x ?y)"})r", 3) <= 6);
  CHECK(largestOfSmall(R"r({"name": "wrong-where", "match": "(WHERE ?c ?x ?y)", "replace": "?x"})r", 3) <= 6);
}

TEST_CASE("shrinking keeps what fails, and drops the rest") {
  auto has = [](const Program& p, Op op) {
    for (NodeId n : cone(p.graph, p.roots(), true))
      if (p.graph.op(n) == op) return true;
    return false;
  };
  for (Op op : {Op::Reduce, Op::Store, Op::Pad, Op::Call, Op::End, Op::Where}) {
    uint64_t seed = 1;
    while (!has(randomProgram(seed), op)) ++seed;
    Program small = shrink(randomProgram(seed), [&](const Program& p) { return has(p, op); });
    INFO(name(op) << "\n" << printProgram(small));
    CHECK(has(small, op));
    CHECK(nodes(small) <= 7);
    CHECK(small.results.size() == 1);
    for (NodeId n : cone(small.graph, small.roots()))
      for (Dim d : small.graph.shape(n)) CHECK(d <= 2);
  }
}

TEST_CASE("a bounded number of attempts") {
  size_t tries = 0;
  shrink(randomProgram(3), [&](const Program&) { return ++tries, false; }, 7);
  CHECK(tries == 7);
}

}  // namespace uop
