#include "cmd/compiler/call_graph.h"

#include <algorithm>
#include <catch2/catch.hpp>

namespace uop {
namespace {

// Bodies: one that fills its place, one that copies the first to the second.
const std::string kBodies = R"(uop 1
%p = PARAM slot=0 dtype=f32 shape=[4]
%q = PARAM slot=1 dtype=f32 shape=[4]
%n = CONST value=4 dtype=index
%r = RANGE %n id=0 kind=loop
%pi = INDEX %p %r
%qi = INDEX %q %r
%one = CONST value=1.0 dtype=f32
%fs = STORE %pi %one
%fill = END %fs %r
%v = LOAD %pi
%cs = STORE %qi %v
%copy = END %cs %r
%a = ALLOC slot=0 dtype=f32 shape=[4] space=global
%b = ALLOC slot=1 dtype=f32 shape=[4] space=global
%w = BUFFER slot=0 dtype=f32 shape=[4] name="w"
)";

CallGraph graphOf(const std::string& text) {
  SourceBuffer source("calls.uop", kBodies + text);
  Diagnostics diags(&source);
  auto program = readProgram(source, diags);
  INFO(diags.render());
  REQUIRE(program);
  return callGraphOf(*program);
}

std::vector<uint32_t> deps(const CallGraph& g, size_t launch) {
  std::vector<uint32_t> out = g.graph.launches[launch].deps;
  std::ranges::sort(out);
  out.erase(std::ranges::unique(out).begin(), out.end());
  return out;
}

TEST_CASE("a write comes after the reads before it, a read after the write before it") {
  const CallGraph g = graphOf(R"(%c0 = CALL %fill %a
%a0 = AFTER %a %c0
%c1 = CALL %copy %a0 %b
%c2 = CALL %copy %a0 %w
%a1 = AFTER %a0 %c1 %c2
%c3 = CALL %fill %a1
%a2 = AFTER %a1 %c3
%b0 = AFTER %b %c1
return a=%a2 b=%b0
)");
  REQUIRE(g.calls.size() == 4);
  CHECK(deps(g, 1) == std::vector<uint32_t>{0});
  CHECK(deps(g, 2) == std::vector<uint32_t>{0});
  CHECK(deps(g, 3) == std::vector<uint32_t>{0, 1, 2});
  CHECK(g.temps.size() == 2);
  CHECK(g.graph.temps[0].bytes == 64);
  CHECK((g.graph.temps[0].after && g.graph.temps[1].after));
  CHECK(g.graph.launches[2].temps == std::vector<uint32_t>{0});
  CHECK(g.graph.launches[1].reuse == std::vector<LaunchGraph::Reuse>{{0, 1}});
}

TEST_CASE("an AFTER orders calls that touch nothing in common, once along a chain") {
  const CallGraph g = graphOf(R"(%c0 = CALL %fill %a
%b0 = AFTER %b %c0
%c1 = CALL %fill %b0
%b1 = AFTER %b0 %c1
%c2 = CALL %fill %b1
%b2 = AFTER %b1 %c2
%a0 = AFTER %a %c0
return a=%a0 b=%b2
)");
  CHECK(deps(g, 1) == std::vector<uint32_t>{0});
  CHECK(deps(g, 2) == std::vector<uint32_t>{1});
}

TEST_CASE("a long chain of updates takes no time or memory that grows with its square") {
  std::string text = "%x0 = AFTER %a\n";
  const int n = 20'000;
  for (int i = 0; i < n; ++i) text += fmt::format("%c{0} = CALL %fill %x{0}\n%x{1} = AFTER %x{0} %c{0}\n", i, i + 1);
  const CallGraph g = graphOf(text + fmt::format("return a=%x{}\n", n));
  size_t edges = 0;
  for (const auto& l : g.graph.launches) edges += l.deps.size();
  CHECK(edges == n - 1);
}

}  // namespace
}  // namespace uop
