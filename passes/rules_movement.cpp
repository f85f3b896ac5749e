// Movement ops, reductions and tuples: nothing here computes. On places a movement op is a view, and stays one.
#include "ir/eval.h"
#include "passes/rules.h"
#include "rewrite/match.h"

namespace uop {
namespace {

const std::string kMoves = "rearranges elements, which has no scalar meaning: checked against the interpreter";

using List = std::vector<int64_t>;

NodeId moved(Match& m, Op op, AttrKey key, const List& items, NodeId x) { return m.g.make(op, {x}, Attrs{}.set(key, m.g.list(items))); }

bool isIdentity(const Match& m) {
  auto axes = m.list("a");
  for (size_t i = 0; i < axes.size(); ++i)
    if (axes[i] != static_cast<int64_t>(i)) return false;
  return true;
}

NodeId permuteTwice(Match& m) {
  List axes;
  for (int64_t a : m.list("b")) axes.push_back(m.list("a")[static_cast<size_t>(a)]);
  return m.g.permute(m.node("x"), axes);
}

// Axes of one element need no flip; the rest in order.
NodeId flipAxes(Match& m, std::vector<bool> flipped) {
  List axes;
  auto shape = m.g.shape(m.root);
  for (size_t i = 0; i < shape.size(); ++i)
    if (flipped[i] && shape[i] != 1) axes.push_back(static_cast<int64_t>(i));
  return axes.empty() ? m.node("x") : moved(m, Op::Flip, AttrKey::Axes, axes, m.node("x"));
}

NodeId flipOnce(Match& m) {
  std::vector<bool> flipped(m.g.rank(m.root));
  for (int64_t a : m.list("a")) flipped[static_cast<size_t>(a)] = true;
  return flipAxes(m, flipped);
}

NodeId flipTwice(Match& m) {
  std::vector<bool> flipped(m.g.rank(m.root));
  for (auto axes : {m.list("a"), m.list("b")})
    for (int64_t a : axes) flipped[static_cast<size_t>(a)] = !flipped[static_cast<size_t>(a)];
  return flipAxes(m, flipped);
}

bool addsNothing(const Match& m) { return std::ranges::equal(m.g.shape(m.node("x")), m.g.shape(m.root)); }

NodeId padTwice(Match& m) {
  List pad(m.list("a").begin(), m.list("a").end());
  for (size_t i = 0; i < pad.size(); ++i) pad[i] += m.list("b")[i];
  return moved(m, Op::Pad, AttrKey::PadKey, pad, m.node("x"));
}

NodeId shrinkTwice(Match& m) {
  List bounds(m.list("b").begin(), m.list("b").end());
  for (size_t i = 0; i < bounds.size(); ++i) bounds[i] += m.list("a")[i & ~size_t{1}];
  return moved(m, Op::Shrink, AttrKey::Bounds, bounds, m.node("x"));
}

// A broadcast constant of the root's shape.
NodeId spread(Match& m, Scalar value) { return m.g.expand(m.g.constant(m.g.dtype(m.root), value), m.g.shape(m.root)); }
NodeId moveConst(Match& m) { return spread(m, m.g.constValue(m.constantOf("c"))); }

bool isZero(const Match& m) {
  NodeId c = m.constantOf("c");
  return m.g.constValue(c) == zeroOf(m.g.dtype(c));
}

// How many elements each result of a REDUCE over leading axes takes in; -1 where that does not fit.
int64_t reduced(const Match& m) {
  int64_t n = 1;
  for (Dim d : m.g.shape(m.g.src(m.root, 0)).first(static_cast<size_t>(m.attr("n"))))
    if (d == 0 || n == 0) n = 0;
    else if (n > 0 && __builtin_mul_overflow(n, d, &n)) n = -1;
  return n;
}

NodeId reduceOnes(Match& m) { return reduced(m) == 1 ? m.g.reshape(m.node("x"), m.g.shape(m.root)) : kNoNode; }
NodeId reduceEmpty(Match& m) { return reduced(m) == 0 ? spread(m, identityOf(m.g.reduceOp(m.root), m.g.dtype(m.root))) : kNoNode; }

NodeId reduceConst(Match& m) {
  int64_t n = reduced(m);
  DType d = m.g.dtype(m.root);
  ReduceOp op = m.g.reduceOp(m.root);
  Scalar c = m.g.constValue(m.constantOf("c"));
  if (n <= 0) return kNoNode;
  if (op == ReduceOp::Max || (op == ReduceOp::Mul && d == DType::Bool)) return spread(m, c);
  if (op != ReduceOp::Add || !isInteger(d)) return kNoNode;
  return spread(m, Scalar::ofInt(wrapTo(static_cast<int64_t>(c.bits * static_cast<uint64_t>(n)), d)));
}

NodeId tupleItem(Match& m) {
  NodeId t = m.node("t");
  return m.g.op(t) == Op::Tuple ? m.g.src(t, static_cast<size_t>(m.attr("i"))) : kNoNode;
}

}  // namespace

std::vector<Rule> movementRules() {
  std::vector<Rule> out = {
      {"reshape-same", "(RESHAPE ?x shape=?s)", "?x", {"shape(?x, ?s)"}, kMoves},
      {"reshape-reshape", "(RESHAPE (RESHAPE ?x) shape=?s)", "(RESHAPE ?x shape=?s)", {}, kMoves},
      {"reshape-const", "(RESHAPE ?c:const shape=?s)", "(EXPAND (= ?c) shape=?s)", {}, kMoves},
      {"expand-same", "(EXPAND ?x shape=?s)", "?x", {"shape(?x, ?s)"}, kMoves},
      {"expand-expand", "(EXPAND (EXPAND ?x) shape=?s)", "(EXPAND ?x shape=?s)", {}, kMoves},
      {"reduce-nothing", "(REDUCE ?x n=0)", "?x", {}, kMoves},
  };
  auto computed = [&](std::string name, std::string match, std::string replace, GuardFn when, BuildFn build) {
    out.push_back({.name = std::move(name), .match = std::move(match), .replace = std::move(replace), .guards = {}, .unproved = kMoves, .when = when, .build = build});
  };
  computed("permute-same", "(PERMUTE ?x axes=?a)", "?x", isIdentity, nullptr);
  computed("permute-permute", "(PERMUTE (PERMUTE ?x axes=?a) axes=?b)", "one PERMUTE", nullptr, permuteTwice);
  computed("permute-const", "(PERMUTE ?c:const)", "(EXPAND ?c)", nullptr, moveConst);
  computed("flip-flip", "(FLIP (FLIP ?x axes=?a) axes=?b)", "one FLIP", nullptr, flipTwice);
  computed("flip-ones", "(FLIP ?x axes=?a)", "only axes of more than one element, in order", nullptr, flipOnce);
  computed("flip-const", "(FLIP ?c:const)", "(EXPAND ?c)", nullptr, moveConst);
  computed("pad-same", "(PAD ?x pad=?a)", "?x", addsNothing, nullptr);
  computed("pad-pad", "(PAD (PAD ?x pad=?a) pad=?b)", "one PAD", nullptr, padTwice);
  computed("pad-zero", "(PAD ?c:const)", "(EXPAND ?c)", isZero, moveConst);
  computed("shrink-same", "(SHRINK ?x bounds=?a)", "?x", addsNothing, nullptr);
  computed("shrink-shrink", "(SHRINK (SHRINK ?x bounds=?a) bounds=?b)", "one SHRINK", nullptr, shrinkTwice);
  computed("shrink-const", "(SHRINK ?c:const)", "(EXPAND ?c)", nullptr, moveConst);
  computed("reduce-empty", "(REDUCE ?x n=?n)", "the identity of op", nullptr, reduceEmpty);
  computed("reduce-ones", "(REDUCE ?x n=?n)", "(RESHAPE ?x)", nullptr, reduceOnes);
  computed("reduce-const", "(REDUCE ?c:const n=?n)", "n times ?c, or ?c", nullptr, reduceConst);
  computed("get-tuple", "(GET ?t index=?i)", "the item", nullptr, tupleItem);
  return out;
}

}  // namespace uop
