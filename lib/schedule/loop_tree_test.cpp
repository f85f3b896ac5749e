#include "schedule/loop_tree.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>

#include "schedule/testing.h"

namespace uop {
namespace {

using testing::Body;
using testing::parsedBody;

void outline(const Graph& g, const LoopTree& tree, uint32_t loop, std::string& out) {
  for (const LoopTree::Item& item : tree.loops[loop].body) {
    if (item.isLoop) {
      out += fmt::format(" r{}(", g.attr(tree.loops[item.loop].range, AttrKey::Id));
      outline(g, tree, item.loop, out);
      out += " )";
      continue;
    }
    const auto access = std::ranges::find(tree.accesses, item.node, &Access::node);
    if (access == tree.accesses.end()) continue;
    out += fmt::format(" {}{}", access->write ? "W" : "R", bindingName(g, access->place.root).back());
  }
}

// Reads and writes in order, named by the last letter of the place.
std::string order(const std::string& text) {
  Body body = parsedBody(text);
  auto tree = buildLoopTree(body.program.graph, body.node);
  if (!tree) return tree.error().message;
  std::string out;
  outline(body.program.graph, *tree, 0, out);
  return out;
}

const std::string kArrays = R"(%x = PARAM slot=0 dtype=i32 shape=[8] name="x"
%y = PARAM slot=1 dtype=i32 shape=[8] name="y"
%n = CONST value=8 dtype=index
%m = CONST value=4 dtype=index
%c0 = CONST value=0 dtype=index
%c1 = CONST value=1 dtype=index
%one = CONST value=1 dtype=i32
%i = RANGE %n id=0 kind=loop
%k = RANGE %m id=1 kind=reduce
)";

bool mentions(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a read comes before the STOREs of its iteration that it does not wait for") {
  CHECK(order(kArrays + R"(%xi = AFTER %x %i
%p = INDEX %xi %c0
%s = STORE %p %one
%v = LOAD %p
%q = INDEX %y %i
%t = STORE %q %v
%both = SINK %s %t
%e = END %both %i
return %e
)") == " r0( Rx Wx Wy )");
}

TEST_CASE("a bare place is read before anything writes to it") {
  CHECK(order(kArrays + R"(%p = INDEX %x %i
%s = STORE %p %one
%e = END %s %i
%z = INDEX %x %c1
%v = LOAD %z
%d = INDEX %y %c0
%t = STORE %d %v
return %e %t
)") == " Rx r0( Wx ) Wy");
}

TEST_CASE("constants apart are free of each other") {
  CHECK(order(kArrays + R"(%p0 = INDEX %x %c0
%p1 = INDEX %x %c1
%s0 = STORE %p0 %one
%v = LOAD %p1
%w = AFTER %v %s0
%q = INDEX %y %c0
%t = STORE %q %w
return %t
)") == " Wx Rx Wy");
}

TEST_CASE("a loop is an item that reads: what it does not wait for comes later") {
  const std::string out = order(kArrays + R"(%s = INDEX %x %c0
%w = STORE %s %one
%xk = AFTER %x %i %k
%p = INDEX %xk %k
%v = LOAD %p
%q = INDEX %y %k
%t = STORE %q %v
%e = END %t %k
%xi = AFTER %x %i
%z = INDEX %xi %c1
%u = STORE %z %one
%both = SINK %u %e
%f = END %both %i
return %f
)");
  CHECK(out == " r0( r1( Rx Wy ) Wx )");
}

TEST_CASE("what does not depend on a loop is outside of it") {
  CHECK(order(kArrays + R"(%p = INDEX %x %i
%v = LOAD %p
%yi = AFTER %y %i %k
%q = INDEX %yi %k
%s = STORE %q %v
%e = END %s %i %k
return %e
)") == " r0( Rx r1( Wy ) )");
}

TEST_CASE("no order: a read that must come before and after a STORE") {
  const std::string message = order(kArrays + R"(%xi = AFTER %x %i
%p = INDEX %xi %c0
%s = STORE %p %one
%yi = AFTER %y %s
%q = INDEX %yi %c0
%at = LOAD %q
%b = INDEX %xi %at
%v = LOAD %b
%t = STORE %q %v
%e = END %t %i
return %e
)");
  CHECK(mentions(message, "no order exists"));
  CHECK(mentions(message, "STORE"));
}

TEST_CASE("a place read bare in a loop that overwrites it") {
  CHECK(order(kArrays + "%p = INDEX %x %i\n%v = LOAD %p\n%d = ADD %v %v\n%s = STORE %p %d\n%e = END %s %i\nreturn %e\n") == " r0( Rx Wx )");
  const auto closed = [&](const std::string& read, const std::string& write, const std::string& range) {
    return order(kArrays + "%ni = NEG %i\n%seven = CONST value=7 dtype=index\n%rev = ADD %ni %seven\n%two = CONST value=2 dtype=index\n" +
                 "%j = RANGE %m id=2 kind=loop\n%even = MUL %j %two\n%odd = ADD %even %c1\n%p = INDEX %x %" + read + "\n%v = LOAD %p\n%p2 = INDEX %x %" + write +
                 "\n%s = STORE %p2 %v\n%e = END %s %" + range + "\nreturn %e\n");
  };
  CHECK(mentions(closed("rev", "i", "i"), "the indices differ"));
  CHECK(closed("odd", "even", "j") == " r2( Rx Wx )");
  CHECK(mentions(order(kArrays + R"(%p = INDEX %x %i
%v = LOAD %p
%y0 = INDEX %y %k
%w = LOAD %y0
%u = ADD %v %w
%s = STORE %p %u
%e = END %s %k
%f = END %e %i
return %f
)"), "r0( Rx r1("));  // hoisted, so every iteration adds to what was there at first
  CHECK(mentions(order(kArrays + R"(%y0 = INDEX %y %k
%w = LOAD %y0
%kk = MUL %k %c0
%ix = ADD %i %kk
%p = INDEX %x %i
%pk = INDEX %x %ix
%v = LOAD %pk
%u = ADD %v %w
%s = STORE %p %u
%e = END %s %k
%f = END %e %i
return %f
)"), "no order exists"));
}

TEST_CASE("a body in an open loop is refused") {
  Body body = parsedBody(kArrays + "%p = INDEX %x %i\n%s = STORE %p %one\n%e = END %s %i\nreturn %e\n");
  Graph& g = body.program.graph;
  auto tree = buildLoopTree(g, g.src(body.node, 0));
  REQUIRE(!tree);
  CHECK(tree.error().kind == Diag::PassError);
  CHECK(mentions(tree.error().message, "no END closes"));
}

TEST_CASE("deep nests") {
  Graph g;
  const Dim shape[] = {4};
  std::vector<NodeId> ranges;
  NodeId sum = g.index(0);
  for (int id = 0; id < 200; ++id) ranges.push_back(g.range(int64_t{1}, id, Kind::Loop)), sum = g.binary(Op::Add, sum, ranges.back());
  const NodeId body = g.end(g.store(g.indexInto(g.param(0, DType::Index, shape), std::span(&sum, 1)), sum), ranges);
  auto tree = buildLoopTree(g, body);
  REQUIRE(tree);
  CHECK(tree->loops.back().depth == 200);
}

// n read-modify-writes of one local array of 16; `chained`: each waits for the one before it, else for its own element's.
static Graph longProgram(int64_t n, bool chained, NodeId& body) {
  Graph g;
  const Dim shape[] = {16}, big[] = {16};
  const NodeId place = g.alloc(0, DType::F32, shape, Space::Reg), out = g.param(0, DType::F32, big);
  std::vector<NodeId> last(16, kNoNode), stores;
  NodeId state = place;
  for (int64_t i = 0; i < n; ++i) {
    const NodeId at = g.index(i % 16);
    const NodeId own = last[static_cast<size_t>(i % 16)];
    const NodeId here = chained ? state : own == kNoNode ? place : g.after(place, std::span(&own, 1));
    const NodeId cell = g.indexInto(here, std::span(&at, 1));
    const NodeId store = g.store(cell, g.binary(Op::Add, g.load(cell), g.constant(DType::F32, Scalar::ofDouble(static_cast<double>(i)))));
    last[static_cast<size_t>(i % 16)] = store;
    if (chained) state = g.after(state, std::span(&store, 1));
  }
  const NodeId done = g.after(place, last), range = g.range(int64_t{16}, 0, Kind::Loop);
  const NodeId value = g.load(g.indexInto(done, std::span(&range, 1)));
  body = g.end(g.store(g.indexInto(out, std::span(&range, 1)), value), std::span(&range, 1));
  return g;
}

TEST_CASE("a hundred thousand statements take a moment") {
  for (bool chained : {true, false}) {
    NodeId body;
    const Graph g = longProgram(100'000, chained, body);
    const auto start = std::chrono::steady_clock::now();
    auto tree = buildLoopTree(g, body);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    REQUIRE(tree);
    CHECK(tree->accesses.size() == 200'002);
    WARN((chained ? "chained " : "apart ") << took.count() << " s");
  }
}

TEST_CASE("many elements of one place, each read and written") {
  Graph g;
  const int64_t n = 50'000;
  const Dim shape[] = {n};
  const NodeId place = g.param(0, DType::F32, shape), tile = g.alloc(0, DType::F32, shape, Space::Local);
  std::vector<NodeId> fills, stores;
  for (int64_t i = 0; i < n; ++i) {
    const NodeId at = g.index(i), back = g.index(n - 1 - i);
    fills.push_back(g.store(g.indexInto(tile, std::span(&at, 1)), g.load(g.indexInto(place, std::span(&back, 1)))));
  }
  const NodeId filled = g.after(tile, fills);
  for (int64_t i = 0; i < n; ++i) {
    const NodeId at = g.index(i);
    stores.push_back(g.store(g.indexInto(place, std::span(&at, 1)), g.load(g.indexInto(filled, std::span(&at, 1)))));
  }
  const auto start = std::chrono::steady_clock::now();
  auto tree = buildLoopTree(g, g.make(Op::Sink, stores));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  REQUIRE(tree);
  WARN(took.count() << " s");
}

}  // namespace uop
