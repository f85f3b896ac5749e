// What collapse-reduce may do is bounded by the licences of a sum: under "fp": "strict" there is none.
#include <catch2/catch.hpp>

#include "pass/manager.h"
#include "passes/passes.h"

namespace uop {
namespace {

Program collapsed(const std::string& body, const char* fp) {
  std::string json = std::string(R"({"version": 1, "fp": ")") + fp + R"(", "passes": ["canonicalize", "inline-calls", "rangeify", "simplify", "collapse-reduce"]})";
  SourceBuffer pipelineText("pipeline", json), source("test.uop", "uop 1\n" + body);
  Diagnostics pipelineDiags(&pipelineText), diags(&source);
  auto pipeline = readPipeline(pipelineText, passes(), pipelineDiags);
  auto program = readProgram(source, diags);
  INFO(pipelineDiags.render() + diags.render());
  REQUIRE(pipeline);
  REQUIRE(program);
  auto done = PassManager(*pipeline, ManagerOptions{}).run(std::move(*program));
  REQUIRE(done);
  return std::move(*done);
}

// Nodes of an op that are left; of RANGEs, those whose bound is not constant.
size_t left(const std::string& body, Op op, const char* fp = "default") {
  Program p = collapsed(body, fp);
  const Graph& g = p.graph;
  auto nodes = cone(g, p.roots());
  return static_cast<size_t>(std::ranges::count_if(nodes, [&](NodeId n) { return g.op(n) == op && !(op == Op::Range && g.constInt(g.src(n, 0))); }));
}

// r of 32 against an index, x being one element of 32.
const std::string kOneHot = R"(
%n = CONST value=32 dtype=index
%r = RANGE %n id=0 kind=reduce
%k = CAST %r dtype=i32
%at = PARAM slot=0 dtype=i32 shape=[] name="at" min=0 max=40
%miss = CMPNE %k %at
%x = PARAM slot=1 dtype=f32 shape=[32] name="x"
%xr = INDEX %x %r
%e = LOAD %xr
%zero = CONST value=0.0 dtype=f32
)";
const std::string kProduct = kOneHot + R"(
%true = CONST value=true dtype=bool
%hit = CMPNE %miss %true
%f = CAST %hit dtype=f32
%t = MUL %f %e
%s = REDUCE %t %r op=ADD
return s=%s
)";
const std::string kSelected = kOneHot + "%t = WHERE %miss %zero %e\n%s = REDUCE %t %r op=ADD\nreturn s=%s\n";

// A softmax's sum over what stands below `least`: rows may be empty where that can be 0.
std::string maskedSum(const std::string& least) {
  return R"(
%pos = PARAM slot=0 dtype=i32 shape=[] name="pos" )" + least + R"( max=32
%x = PARAM slot=1 dtype=f32 shape=[32] name="x"
%one = CONST value=1.0 dtype=f32
%n = CONST value=32 dtype=index
%r = RANGE %n id=0 kind=loop
%k = CAST %r dtype=i32
%keep = CMPLT %k %pos
%xr = INDEX %x %r
%e = LOAD %xr
%never = CONST value=-inf dtype=f32
%masked = WHERE %keep %e %never
%line = STAGE %masked %r fuse.why="used twice"
%a = RANGE %n id=1 kind=reduce
%la = INDEX %line %a
%va = LOAD %la
%m = REDUCE %va %a op=MAX
%minus = NEG %m
%b = RANGE %n id=2 kind=reduce
%lb = INDEX %line %b
%vb = LOAD %lb
%d = ADD %vb %minus
%p = EXP2 %d
%s = REDUCE %p %b op=ADD
return s=%s
)";
}

}  // namespace

TEST_CASE("collapse-reduce: a product with a false bool is left out by licence, a selection always") {
  CHECK(left(kProduct, Op::Reduce) == 0);
  CHECK(left(kProduct, Op::Reduce, "strict") == 1);
  CHECK(left(kSelected, Op::Reduce) == 0);
  CHECK(left(kSelected, Op::Reduce, "strict") == 0);
  CHECK(left(kSelected, Op::Add) == 0);
  CHECK(left(kSelected, Op::Add, "strict") == 1);  // a sum is never −0
}

TEST_CASE("collapse-reduce: terms that EXP2 of -inf makes 0 go only where some term remains") {
  CHECK(left(maskedSum("min=1"), Op::Range) == 2);  // the maximum's and the sum's
  CHECK(left(maskedSum("min=0"), Op::Range) == 1);  // the maximum's
  CHECK(left(maskedSum("min=1"), Op::Range, "strict") == 1);
}

}  // namespace uop
