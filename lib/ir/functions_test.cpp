#include "ir/functions.h"

#include <catch2/catch.hpp>

using namespace uop;

namespace {

// A body that stores `value` to all of PARAM 0.
NodeId fillBody(Graph& g, std::span<const Dim> shape) {
  NodeId p = g.param(0, DType::I32, shape);
  return g.store(p, g.expand(g.constInt(DType::I32, 7), shape));
}

}  // namespace

TEST_CASE("a function writes what its CALLs write through views and AFTERs of its PARAMs") {
  Graph g;
  const Dim six[] = {6}, table[] = {2, 3};
  NodeId fill = fillBody(g, six);
  NodeId p = g.param(1, DType::I32, table), q = g.param(2, DType::I32, table);
  NodeId b = g.make(Op::Buffer, {}, g.attrsOf(p));
  NodeId first = g.make(Op::Call, {fill, g.reshape(p, six)});
  NodeId outer = g.make(Op::Call, {fill, g.reshape(g.after(b, std::span(&first, 1)), six)});
  NodeId middle = g.make(Op::Sink, {first, outer, g.make(Op::Sink, {g.load(q)})});
  Functions functions(g);
  CHECK(functions.body(fill).written == std::vector<int64_t>{0});
  CHECK(functions.body(fill).params.size() == 1);
  const FunctionInfo& info = functions.body(middle);
  CHECK(info.written == std::vector<int64_t>{1});
  CHECK(info.buffersWritten == std::vector{b});
  CHECK(info.params == std::vector{p, q});
  CHECK(&functions.body(middle) == &info);
}

TEST_CASE("each of 20,000 nested bodies passes its PARAM on") {
  Graph g;
  const Dim shape[] = {4};
  NodeId body = fillBody(g, shape);
  for (int depth = 0; depth < 20000; ++depth) body = g.make(Op::Call, {body, g.param(0, DType::I32, shape)});
  CHECK(Functions(g).body(body).written == std::vector<int64_t>{0});
}

TEST_CASE("a CALL with too few arguments, or with a value for a place, writes through the others") {
  Graph g;
  const Dim shape[] = {4};
  NodeId fill = fillBody(g, shape), p = g.param(0, DType::I32, shape);
  NodeId calls[] = {g.make(Op::Call, {fill}), g.make(Op::Call, {fill, g.unary(Op::Neg, p)})};
  CHECK(Functions(g).of(calls).written.empty());
}
