#include <numeric>

#include "ir/testing.h"

using namespace uop;
using namespace uop::testing;

TEST_CASE("tags: a node keeps its first one, an empty one is one, and retarget moves them") {
  Program p = read("%x = CONST value=1 dtype=i32 tag=\"\"\n%y = NEG %x tag=\"first\"\n%again = NEG %x tag=\"second\"\n%z = MUL %y %x\nreturn %z %again\n");
  NodeId z = p.results[0].node, y = p.results[1].node, x = p.graph.src(y, 0);
  CHECK(p.tag(y) == "first");
  CHECK((p.hasTag(x) && p.tag(x).empty()));
  CHECK_FALSE(p.hasTag(z));
  std::vector<NodeId> now(p.graph.size());
  std::iota(now.begin(), now.end(), 0);
  now[y] = z;
  now[x] = kNoNode;
  retarget(p, now);
  CHECK(p.results[1].node == z);
  CHECK(p.tag(z) == "first");
  CHECK_FALSE((p.hasTag(x) || p.hasTag(y)));
}

TEST_CASE("longestReduce: axes and ranges multiply; bodies count") {
  CHECK(longestReduce(read("%x = PARAM slot=0 dtype=f32 shape=[4]\n%y = NEG %x\nreturn %y\n")) == 1);
  CHECK(longestReduce(read("%x = PARAM slot=0 dtype=f32 shape=[3,4,5]\n%y = REDUCE %x op=ADD axes=[0,1]\n%z = REDUCE %y op=ADD n=1\nreturn %z\n")) == 12);
  CHECK(longestReduce(read("%n = CONST value=6 dtype=index\n%m = CONST value=7 dtype=index\n%i = RANGE %n id=0 kind=reduce\n%j = RANGE %m id=1 kind=reduce\n"
                           "%c = ADD %i %j\n%s = REDUCE %c %i %j op=ADD\nreturn %s\n")) == 42);
}
