#include "schedule/in_place.h"

#include <catch2/catch.hpp>

#include "ir/functions.h"
#include "schedule/testing.h"

namespace uop {
namespace {

const std::string kArrays = R"(%x = PARAM slot=0 dtype=f32 shape=[8,4] name="x"
%y = PARAM slot=1 dtype=f32 shape=[8,4] name="y"
%w = PARAM slot=2 dtype=f32 shape=[4,4] name="w"
%n = CONST value=8 dtype=index
%m = CONST value=4 dtype=index
%two = CONST value=2 dtype=index
%c0 = CONST value=0 dtype=index
%f = CONST value=3.0 dtype=f32
%i = RANGE %n id=0 kind=loop
%j = RANGE %m id=1 kind=loop
%k = RANGE %m id=2 kind=reduce
%h = RANGE %m id=3 kind=loop
%l = RANGE %two id=4 kind=loop
)";

using testing::Body;

Body parsed(const std::string& text) { return testing::parsedBody(kArrays + text); }

std::vector<InPlace> pairs(const std::string& text) {
  Body body = parsed(text);
  return inPlacePairs(body.program.graph, body.node);
}
const std::vector<InPlace> kBoth = {{0, 1}}, kNothing = {};

TEST_CASE("each element read where it is written") {
  CHECK(pairs("%a = INDEX %x %i %j\n%v = LOAD %a\n%u = MUL %v %f\n%b = INDEX %y %i %j\n%s = STORE %b %u\n%e = END %s %i %j\nreturn %e\n") == kBoth);
  // Read twice, by two LOADs, and implicitly.
  CHECK(pairs("%a = INDEX %x %i %j\n%v = LOAD %a\n%u = MUL %v %a\n%b = INDEX %y %i %j\n%s = STORE %b %u\n%e = END %s %i %j\nreturn %e\n") == kBoth);
  // Outside of the loop of a sum that is added to it.
  CHECK(pairs(R"(%acc0 = ALLOC slot=0 dtype=f32 shape=[] space=reg
%acc = AFTER %acc0 %i %j
%z = CONST value=0.0 dtype=f32
%init = STORE %acc %z
%acc1 = AFTER %acc %init %k
%old = LOAD %acc1
%wi = INDEX %w %k %j
%wv = LOAD %wi
%sum = ADD %old %wv
%st = STORE %acc1 %sum
%le = END %st %k
%acc2 = AFTER %acc %le
%total = LOAD %acc2
%a = INDEX %x %i %j
%v = LOAD %a
%u = ADD %total %v
%b = INDEX %y %i %j
%s = STORE %b %u
%e = END %s %i %j
return %e
)") == kBoth);
}

TEST_CASE("tiles: counters that are digits of one index") {
  auto tiled = [](const std::string& weight) {
    return "%c = CONST value=" + weight + " dtype=index\n%t = MUL %h %c\n%r = ADD %t %l\n%a = INDEX %x %r %j\n%v = LOAD %a\n%b = INDEX %y %r %j\n%s = STORE %b %v\n%e = END %s %h %l %j\nreturn %e\n";
  };
  CHECK(pairs(tiled("2")) == kBoth);
  CHECK(pairs(tiled("1")) == kNothing);  // rows 1 to 3 are met twice
}

TEST_CASE("no sharing where an element is read in another iteration") {
  auto loop = [](const std::string& read, const std::string& write, const std::string& ranges) {
    return pairs("%a = INDEX %x " + read + "\n%v = LOAD %a\n%b = INDEX %y " + write + "\n%s = STORE %b %v\n%e = END %s " + ranges + "\nreturn %e\n");
  };
  CHECK(loop("%i %j", "%i %j", "%i %j") == kBoth);
  CHECK(loop("%h %j", "%j %h", "%h %j") == kNothing);              // transposed
  CHECK(loop("%i %j", "%i %c0", "%i %j") == kNothing);             // written over and over
  CHECK(loop("%i %c0", "%i %c0", "%i %j") == kNothing);            // read again after it was written
  CHECK(loop("%h %h", "%h %h", "%h") == kBoth);                    // a diagonal
  // Read while it is summed, by another loop's counter.
  CHECK(pairs("%a = INDEX %x %i %j\n%v = LOAD %a\n%b = INDEX %y %i %j\n%s = STORE %b %v\n%e = END %s %i %j\n"
              "%y2 = AFTER %y %e\n%b2 = INDEX %y2 %h %c0\n%v2 = LOAD %b2\n%wi = INDEX %w %h %c0\n%s2 = STORE %wi %v2\n%e2 = END %s2 %h\nreturn %e2\n") == kNothing);
}

// The row's sum, by a loop of its own, is added to `element`.
std::string rowSum(const std::string& row, const std::string& element, const std::string& result) {
  return "%acc0 = ALLOC slot=0 dtype=f32 shape=[] space=reg\n%z = CONST value=0.0 dtype=f32\n%acc = AFTER %acc0 %i\n%init = STORE %acc %z\n"
         "%acc1 = AFTER %acc %init %k\n%old = LOAD %acc1\n%a = INDEX %x " + row + "\n%v = LOAD %a\n%sum = ADD %old %v\n%st = STORE %acc1 %sum\n"
         "%le = END %st %k\n%acc2 = AFTER %acc %le\n%total = LOAD %acc2\n%a2 = INDEX %x " + element + "\n%v2 = LOAD %a2\n%u = ADD %total %v2\n%b = INDEX %y " + result +
         "\n%s = STORE %b %u\n%e = END %s %i %j\nreturn %e\n";
}

TEST_CASE("a row is read several times before it is replaced") {
  CHECK(pairs(rowSum("%i %k", "%i %j", "%i %j")) == kBoth);
  CHECK(pairs(rowSum("%i %k", "%i %c0", "%i %j")) == kBoth);      // of what is hoisted, too
  CHECK(pairs(rowSum("%c0 %k", "%i %j", "%i %j")) == kNothing);   // the first row is gone when the second is summed
  CHECK(pairs(rowSum("%k %j", "%i %j", "%i %j")) == kNothing);    // a column
  // Half a row at a time: the other half's iterations find it replaced.
  CHECK(pairs("%half = ADD %i %c0\n%q = FLOORDIV %i %two\n%a = INDEX %x %q %j\n%v = LOAD %a\n%b = INDEX %y %half %j\n%s = STORE %b %v\n%e = END %s %i %j\nreturn %e\n") == kNothing);
}

TEST_CASE("all is read before anything is written") {
  CHECK(pairs(R"(%acc0 = ALLOC slot=0 dtype=f32 shape=[] space=reg
%z = CONST value=0.0 dtype=f32
%init = STORE %acc0 %z
%acc1 = AFTER %acc0 %init %h %k
%old = LOAD %acc1
%a = INDEX %x %h %k
%v = LOAD %a
%sum = ADD %old %v
%st = STORE %acc1 %sum
%le = END %st %h %k
%acc2 = AFTER %acc0 %le
%total = LOAD %acc2
%b = INDEX %y %i %j
%s = STORE %b %total
%e = END %s %i %j
return %e
)") == kBoth);
}

TEST_CASE("no sharing between shapes, or with what is written itself") {
  CHECK(pairs("%a = INDEX %w %h %j\n%v = LOAD %a\n%b = INDEX %y %h %j\n%s = STORE %b %v\n%e = END %s %h %j\nreturn %e\n") == kNothing);
  CHECK(pairs("%a = INDEX %x %i %j\n%v = LOAD %a\n%s0 = STORE %a %f\n%b = INDEX %y %i %j\n%s = STORE %b %v\n%both = SINK %s0 %s\n%e = END %both %i %j\nreturn %e\n") == kNothing);
  CHECK(pairs("%b = INDEX %y %i %j\n%s = STORE %b %f\n%e = END %s %i %j\nreturn %e\n") == kNothing);
}

TEST_CASE("merged arguments are one PARAM, read before it is written") {
  Body body = parsed("%a = INDEX %x %i %j\n%v = LOAD %a\n%u = MUL %v %f\n%b = INDEX %y %i %j\n%s = STORE %b %u\n%e = END %s %i %j\nreturn %e\n");
  const Excerpt merged = mergeArguments(body.program.graph, body.node, {0, 1});
  const FunctionInfo info = Functions(merged.graph).of({&merged.root, 1});
  REQUIRE(info.params.size() == 1);
  CHECK(merged.graph.attr(info.params[0], AttrKey::Slot) == 0);
  REQUIRE(merged.from.size() == merged.graph.size());
  for (NodeId n = 0; n < merged.graph.size(); ++n) CHECK(merged.graph.op(n) == body.program.graph.op(merged.from[n]));
  CHECK(info.written == std::vector<int64_t>{0});
}

}  // namespace
}  // namespace uop
