#include "schedule/trip_counts.h"

#include <catch2/catch.hpp>

#include "schedule/testing.h"

namespace uop {
namespace {

using testing::Body;
using testing::parsedBody;

// How often the innermost loop's body runs, as text.
std::string innermost(const std::string& text) {
  Body body = parsedBody(text);
  auto tree = buildLoopTree(body.program.graph, body.node);
  if (!tree) return tree.error().message;
  auto count = tripCounts(body.program.graph, *tree).back();
  return count ? std::to_string(*count) : "unknown";
}

// A STORE in loops i < n, k < `bound`, over which `more` may say more.
std::string nest(int64_t n, const std::string& more, const std::string& bound) {
  return fmt::format(R"(%x = PARAM slot=0 dtype=i32 shape=[8] name="x"
%n = CONST value={} dtype=index
%c0 = CONST value=0 dtype=index
%c1 = CONST value=1 dtype=index
%c4 = CONST value=4 dtype=index
%one = CONST value=1 dtype=i32
%i = RANGE %n id=0 kind=loop
{}
%k = RANGE {} id=1 kind=loop
%at = AFTER %x %i %k
%p = INDEX %at %c0
%s = STORE %p %one
%e = END %s %k
%f = END %e %i
return f=%f)", n, more, bound);
}

}  // namespace

TEST_CASE("loops of constant length multiply") { CHECK(innermost(nest(6, "", "%c4")) == "24"); }

TEST_CASE("a triangle is counted row by row") {
  CHECK(innermost(nest(6, "%b = ADD %i %c1", "%b")) == "21");
  CHECK(innermost(nest(6, "%m = NEG %c4\n%b = ADD %i %m", "%b")) == "1");  // rows of a negative length are empty
}

TEST_CASE("the last block may be shorter") {
  CHECK(innermost(nest(3, "%begin = MUL %i %c4\n%m = NEG %begin\n%ten = CONST value=10 dtype=index\n%left = ADD %ten %m\n%last = CMPLT %left %c4\n%b = WHERE %last %left %c4", "%b")) == "10");
}

TEST_CASE("lengths that are not known, or too many, are not counted") {
  CHECK(innermost(nest(6, "%q = PARAM slot=1 dtype=i32 shape=[] min=0 max=8 name=\"q\"\n%b = CAST %q dtype=index", "%b")) == "unknown");
  CHECK(innermost(nest(int64_t{1} << 40, "%b = ADD %i %c1", "%b")) == "unknown");
}

}  // namespace uop
