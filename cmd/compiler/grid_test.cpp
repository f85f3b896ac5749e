#include "cmd/compiler/grid.h"

#include <catch2/catch.hpp>

namespace uop {
namespace {

NodeId scalar(Graph& g, int64_t slot, int64_t min, int64_t max) {
  Attrs a;
  a.set(AttrKey::Slot, slot).set(AttrKey::DTypeKey, static_cast<int64_t>(DType::I32)).set(AttrKey::Shape, g.list({}));
  return g.make(Op::Param, {}, a.set(AttrKey::Min, min).set(AttrKey::Max, max));
}

TEST_CASE("a grid that depends on arguments is an expression with its maximum") {
  Graph g;
  NodeId n = scalar(g, 0, 1, 10), m = scalar(g, 1, -3, 5);
  auto argument = [&](NodeId id) { return id == n ? 4 : 7; };
  NodeId halves = g.binary(Op::FloorDiv, g.cast(n, DType::Index), g.index(2));
  Amount one = gridAmount(g, std::vector{n}, argument);
  CHECK(one.expr == "arg4");
  CHECK(one.value == 10);
  Amount both = gridAmount(g, std::vector{n, m}, argument);
  CHECK(both.expr == "(MUL arg4 (MAX 0 arg7))");
  CHECK(both.value == 50);
  Amount half = gridAmount(g, std::vector{halves}, argument);
  CHECK(half.expr == "(MAX 0 (FLOORDIV arg4 2))");
  CHECK(half.value >= 5);
  auto parsed = Expression::parse(half.expr);
  REQUIRE(parsed);
  std::vector<int64_t> scalars = {0, 0, 0, 0, 9};
  CHECK(parsed->evaluate(scalars) == 4);
}

}  // namespace
}  // namespace uop
