#include "rewrite/engine.h"

#include <catch2/catch.hpp>
#include <chrono>

#include "rewrite/json_rules.h"

namespace uop {
namespace {

RuleSet setOf(std::vector<Rule> rules) {
  RuleSet set;
  REQUIRE(set.add(rules, false));
  return set;
}

const std::vector<Rule> kArithmetic = {
    {"fold-add", "(ADD ?a:const ?b:const)", "(= (ADD ?a ?b))"},
    {"fold-mul", "(MUL ?a:const ?b:const)", "(= (MUL ?a ?b))"},
    {"add-consts", "(ADD (ADD ?x ?a:const) ?b:const)", "(ADD ?x (= (ADD ?a ?b)))"},
    {"add-zero", "(ADD ?x (CONST 0))", "?x", {"int(?x)"}},
    {"mul-one", "(MUL ?x (CONST 1))", "?x"},
    {"double-neg", "(NEG (NEG ?x))", "?x"},
};

struct Fixture {
  Graph g;
  NodeId scalar(int64_t slot, DType d = DType::I32) { return g.param(slot, d, {}); }
  NodeId c(int64_t v, DType d = DType::I32) { return g.constInt(d, v); }
  Result<NodeId> run(NodeId root, const RuleSet& set, RewriteOptions o = {}) {
    NodeId roots[] = {root};
    stats = {};
    auto now = rewrite(g, roots, set, o, stats);
    if (!now) return std::unexpected(now.error());
    return (*now)[root];
  }
  RewriteStats stats;
};

}  // namespace

TEST_CASE("rules apply bottom-up to the fixed point, and are counted") {
  Fixture f;
  NodeId x = f.scalar(0);
  NodeId sum = f.g.binary(Op::Add, f.g.binary(Op::Add, f.g.binary(Op::Mul, x, f.c(1)), f.c(5)), f.c(-5));
  auto now = f.run(f.g.unary(Op::Neg, f.g.unary(Op::Neg, sum)), setOf(kArithmetic));
  REQUIRE(now);
  CHECK(*now == x);
  CHECK(f.stats.hits == std::map<std::string, uint64_t>{{"mul-one", 1}, {"add-consts", 1}, {"add-zero", 1}, {"double-neg", 1}});
  CHECK(f.stats.rewrites == 4);
}

TEST_CASE("commutative ops match either way round, constants also when broadcast") {
  Fixture f;
  Dim shape[] = {2, 3};
  NodeId x = f.g.param(0, DType::I32, shape), value = f.g.unary(Op::Neg, x);
  NodeId zero = f.g.expand(f.g.reshape(f.c(0), std::array<Dim, 2>{1, 1}), shape);
  auto now = f.run(f.g.binary(Op::Add, zero, value), setOf(kArithmetic));
  REQUIRE(now);
  CHECK(*now == value);
  // A computed constant has the shape of its neighbour, spelled out.
  NodeId five = f.g.expand(f.c(5), shape);
  now = f.run(f.g.binary(Op::Add, five, f.g.binary(Op::Add, value, five)), setOf(kArithmetic));
  REQUIRE(now);
  CHECK(*now == f.g.binary(Op::Add, value, f.g.expand(f.c(10), shape)));
}

TEST_CASE("a value that becomes a place is loaded, so that a later AFTER does not reach it") {
  Fixture f;
  Dim shape[] = {4};
  NodeId p = f.g.param(0, DType::I32, shape);
  auto now = f.run(f.g.binary(Op::Add, p, f.g.expand(f.c(0), shape)), setOf(kArithmetic));
  REQUIRE(now);
  CHECK(*now == f.g.load(p));
}

TEST_CASE("rules that never settle are stopped and named") {
  Fixture f;
  NodeId x = f.scalar(0), y = f.scalar(1);
  auto expect = [&](NodeId root, Rule rule, RewriteOptions o) {
    auto now = f.run(root, setOf({{"double-neg", "(NEG (NEG ?x))", "?x"}, rule}), o);
    REQUIRE(!now);
    CHECK(now.error().kind == Diag::FuelSpent);
    INFO(now.error().message);
    CHECK(now.error().message.find("rules that kept firing: " + rule.name + ";") != std::string::npos);
    CHECK(now.error().message.find("last at %") != std::string::npos);
  };
  NodeId sum = f.g.binary(Op::Add, x, y);
  expect(sum, {"swap", "(ADD ?x ?y)", "(ADD ?y ?x)"}, {});
  expect(sum, {"wrap", "(ADD ?x ?y)", "(NEG (NEG (ADD ?x ?y)))"}, {});
  expect(f.g.binary(Op::Add, x, f.c(1)), {"count", "(ADD ?x ?c:const)", "(ADD ?x (= (ADD ?c (CONST 1))))"}, {.limit = 100});
  expect(f.g.binary(Op::Mul, x, f.c(3)), {"grow", "(MUL ?x ?c:const)", "(MUL (NEG ?x) ?c)"}, {.limit = 1000});
}

TEST_CASE("a replacement of another dtype or shape is refused") {
  Fixture f;
  Dim shape[] = {2, 3}, flat[] = {6};
  NodeId x = f.g.unary(Op::Neg, f.g.param(0, DType::I32, shape));
  auto message = [&](NodeId root, Rule rule) {
    auto now = f.run(root, setOf({rule}));
    return now ? "fine" : now.error().message;
  };
  CHECK_THAT(message(f.g.reshape(x, flat), {"r", "(RESHAPE ?x)", "?x"}), Catch::Contains("rule 'r': the replacement's shape [2,3] is not [6]"));
  CHECK_THAT(message(f.g.cast(x, DType::F32), {"c", "(CAST ?x)", "?x"}), Catch::Contains("rule 'c': the replacement's dtype i32 is not f32"));
  CHECK_THAT(message(f.g.binary(Op::And, x, x), {"s", "(AND ?x ?y)", "(SQRT ?x)"}), Catch::Contains("its replacement is wrong: SQRT needs"));
  RuleSet builtin;
  REQUIRE(builtin.add({{"r", "(RESHAPE ?x)", "?x"}}, true));
  NodeId root = f.g.reshape(x, flat), roots[] = {root};
  CHECK_THROWS_AS(rewrite(f.g, roots, builtin, {}, f.stats), InternalError);
}

TEST_CASE("an index that is proven outside stays as it was") {
  Fixture f;
  NodeId p = f.g.param(0, DType::F32, std::array<Dim, 1>{4});
  NodeId at = f.g.binary(Op::Add, f.g.index(3), f.g.index(2));
  NodeId place = f.g.indexInto(p, std::array{at});
  auto now = f.run(f.g.load(place), setOf(kArithmetic));
  REQUIRE(now);
  CHECK(f.g.src(*now, 0) == place);
}

TEST_CASE("what writes stays inside its loop") {
  Fixture f;
  NodeId p = f.g.param(0, DType::F32, std::array<Dim, 1>{4});
  NodeId r = f.g.range(int64_t{4}, 0, Kind::Loop);
  NodeId zero = f.g.binary(Op::Mul, r, f.g.index(0));
  NodeId store = f.g.store(f.g.indexInto(p, std::array{zero}), f.c(1, DType::F32));
  auto now = f.run(f.g.end(store, std::array{r}), setOf({{"mul-zero", "(MUL ?x (CONST 0))", "(CONST 0 like=?x)"}}));
  REQUIRE(now);
  CHECK(f.g.isOpen(f.g.src(*now, 0), r));
}

TEST_CASE("tags follow their nodes") {
  Program p;
  NodeId x = p.graph.param(0, DType::I32, {});
  NodeId neg = p.graph.unary(Op::Neg, x), same = p.graph.binary(Op::Add, neg, p.graph.constInt(DType::I32, 0));
  p.results = {{"y", same}};
  p.setTag(same, "label");
  RewriteStats stats;
  auto q = rewriteProgram(std::move(p), setOf(kArithmetic), {}, stats);
  REQUIRE(q);
  CHECK(q->results[0].node == neg);
  CHECK(q->tag(neg) == "label");
}

TEST_CASE("a chain of 100,000 and a graph of a million nodes") {
  Fixture f;
  NodeId deep = f.scalar(0);
  for (int i = 0; i < 100000; ++i) deep = f.g.unary(i % 3 ? Op::Neg : Op::Exp2, f.g.cast(deep, DType::F32));
  REQUIRE(f.run(deep, setOf(kArithmetic)));
  NodeId x = f.scalar(1), y = f.scalar(2), sum = x;
  for (int i = 0; i < 250000; ++i) sum = f.g.binary(i % 2 ? Op::Mul : Op::Add, f.g.binary(Op::Add, f.g.binary(Op::Max, sum, y), f.c(i)), f.c(i + 1));
  auto start = std::chrono::steady_clock::now();
  REQUIRE(f.run(sum, setOf(kArithmetic)));
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  WARN(f.stats.nodes << " nodes and " << f.stats.rewrites << " rewrites in " << seconds << " s");
  CHECK(seconds < 20);
}

}  // namespace uop
