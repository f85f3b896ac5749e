// For tests: a rule's pattern built over PARAMs of random ranges and random constants, and the rule applied to it.
#pragma once
#include <catch2/catch.hpp>
#include <random>

#include "passes/rules_testing.h"
#include "rewrite/match.h"

namespace uop::testing {

inline constexpr DType kDTypes[] = {DType::Bool, DType::I8, DType::I16, DType::I32, DType::I64, DType::U8, DType::U16, DType::U32,
                             DType::U64, DType::F16, DType::BF16, DType::F32, DType::F64, DType::Index};

class Trial {
 public:
  Trial(const CompiledRule& rule, const Typing& types, std::mt19937_64& random) : rule_(rule), types_(types), random_(random) {}

  // Whether the rule fired. Records failures.
  bool run() {
    NodeId root = build(rule_.match);
    if (root == kNoNode) return false;
    ValueRanges facts(g_);
    auto to = applyRule(g_, facts, rule_, root);
    REQUIRE(to);
    if (*to == kNoNode) return false;
    INFO(rule_.rule.name << ": " << nodeText(g_, root) << " -> " << nodeText(g_, *to));
    REQUIRE(g_.dtype(*to) == g_.dtype(root));
    for (int i = 0; i < 12; ++i) compare(root, *to);
    return true;
  }

  // Whether `other`, compiled from elsewhere, does to the same pattern what the rule does.
  bool sameAs(const CompiledRule& other) {
    NodeId root = build(rule_.match);
    if (root == kNoNode) return true;
    ValueRanges facts(g_);
    auto mine = applyRule(g_, facts, rule_, root), theirs = applyRule(g_, facts, other, root);
    return mine && theirs && *mine == *theirs;
  }

 private:
  uint64_t below(uint64_t n) { return random_() % n; }
  NodeId build(TermId id);
  NodeId variable(VarId v);
  Scalar integer(DType d);
  Scalar any(DType d);
  Scalar draw(NodeId param);
  void compare(NodeId a, NodeId b);
  Scalar value(NodeId id, std::vector<Scalar>& values);

  const CompiledRule& rule_;
  const Typing& types_;
  std::mt19937_64& random_;
  Graph g_;
  std::array<NodeId, kMaxVars> vars_ = [] { std::array<NodeId, kMaxVars> a; a.fill(kNoNode); return a; }();
  std::vector<NodeId> params_;
};

// Small ones with common factors most of the time, else limits and their neighbours, or anything.
inline Scalar Trial::integer(DType d) {
  static constexpr int64_t kSmall[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32, 48, 64, 100, -1, -2, -3, -4, -8, -12};
  int64_t v = kSmall[below(std::size(kSmall))];
  if (below(8) == 0) v = static_cast<int64_t>(maxValue(d)) - static_cast<int64_t>(below(3));
  if (below(8) == 0) v = minValue(d) + static_cast<int64_t>(below(3));
  if (below(12) == 0) v = static_cast<int64_t>(random_());
  return Scalar::ofInt(wrapTo(v, d));
}

inline Scalar Trial::any(DType d) {
  if (d == DType::Bool) return Scalar::ofInt(static_cast<int64_t>(below(2)));
  if (isInteger(d)) return integer(d);
  double inf = std::numeric_limits<double>::infinity();
  const double special[] = {0.0, -0.0, 1.0, -1.0, 0.5, 2.0, inf, -inf, std::numeric_limits<double>::quiet_NaN(), 0x1p-149, -0x1p-149, 0x1p-24, 5e-324, 65504, 3.4e38, 1e308, 3.25, -7.5};
  double v = below(3) ? special[below(std::size(special))] : (static_cast<double>(random_() >> 11) * 0x1p-53 - 0.5) * std::ldexp(1, static_cast<int>(below(40)) - 10);
  return Scalar::ofDouble(roundTo(v, d));
}

inline NodeId Trial::variable(VarId v) {
  if (vars_[v] != kNoNode) return vars_[v];
  DType d = types_.ofVar(v);
  if (rule_.terms.isConst[v] || below(8) == 0) return vars_[v] = g_.constant(d, any(d));
  Attrs attrs;
  attrs.set(AttrKey::Slot, v).set(AttrKey::DTypeKey, static_cast<int64_t>(d)).set(AttrKey::Shape, g_.list({}));
  if (isInteger(d) && below(4)) {
    Interval a = intervalOf(integer(d), d), b = intervalOf(integer(d), d);
    attrs.set(AttrKey::Min, static_cast<int64_t>(std::min(a.lo, b.lo))).set(AttrKey::Max, static_cast<int64_t>(std::max(a.lo, b.lo)));
    if (isUnsigned(d) && byteSize(d) == 8) attrs.set(AttrKey::Min, 0).set(AttrKey::Max, static_cast<int64_t>(below(100)));
  }
  auto made = g_.tryMake(Op::Param, {}, attrs);
  if (!made) return kNoNode;
  params_.push_back(*made);
  return vars_[v] = *made;
}

inline NodeId Trial::build(TermId id) {
  const Term& t = rule_.terms[id];
  if (t.kind == Term::Kind::Var) return variable(t.var);
  if (t.kind == Term::Kind::Literal) {
    auto v = literalIn(t.literal, types_.ofTerm(id));
    return v ? g_.constant(types_.ofTerm(id), *v) : kNoNode;
  }
  std::vector<NodeId> sources;
  for (TermId a : t.args) {
    sources.push_back(build(a));
    if (sources.back() == kNoNode) return kNoNode;
  }
  Attrs attrs;
  for (const AttrTerm& a : t.attrs) attrs.set(a.key, a.var == kNoVar ? a.word : static_cast<int64_t>(types_.ofAttr(a.var)));
  auto made = g_.tryMake(t.op, sources, attrs);
  return made ? *made : kNoNode;
}

inline Scalar Trial::draw(NodeId param) {
  DType d = g_.dtype(param);
  if (!g_.hasAttr(param, AttrKey::Min)) return any(d);
  auto lo = static_cast<uint64_t>(g_.attr(param, AttrKey::Min)), span = static_cast<uint64_t>(g_.attr(param, AttrKey::Max)) - lo;
  uint64_t by = below(4) == 0 ? (below(2) ? span : 0) : span == ~uint64_t{0} ? random_() : below(span + 1);
  return Scalar::ofInt(wrapTo(static_cast<int64_t>(lo + by), d));
}

inline Scalar Trial::value(NodeId root, std::vector<Scalar>& values) {
  NodeId roots[] = {root};
  for (NodeId id : cone(g_, roots)) {
    if (g_.isConst(id)) values[id] = g_.constValue(id);
    if (!hasTrait(g_.op(id), trait::Elementwise)) continue;
    std::vector<Scalar> s;
    for (NodeId x : g_.srcs(id)) s.push_back(values[x]);
    values[id] = evalOp(g_.op(id), g_.dtype(g_.srcs(id).back()), g_.dtype(id), s);
  }
  return values[root];
}

inline void Trial::compare(NodeId a, NodeId b) {
  std::vector<Scalar> values(g_.size());
  std::string operands;
  for (NodeId p : params_) {
    values[p] = draw(p);
    operands += " " + nodeText(g_, p) + " = " + scalarText(values[p], g_.dtype(p)) + ";";
  }
  Scalar x = value(a, values), y = value(b, values);
  DType d = g_.dtype(a);
  bool same = x == y;
  if (isFloat(d)) same = same || (std::isnan(x.asDouble()) && std::isnan(y.asDouble()));
  // The sign of a zero that MAX gives is unspecified.
  if (isFloat(d) && rule_.rule.match.find("MAX") != std::string::npos) same = same || x.asDouble() == y.asDouble();
  INFO(operands << " left " << scalarText(x, d) << ", right " << scalarText(y, d));
  REQUIRE(same);
}

}  // namespace uop::testing
