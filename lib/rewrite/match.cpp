// Matching: goals on a list through the C++ stack, whose depth the pattern bounds (never the graph).
#include "rewrite/match.h"

#include <algorithm>
#include <limits>

#include "rewrite/build.h"
#include "rewrite/guards.h"

namespace uop {
namespace {

struct Goal {
  TermId term;
  NodeId node;
  const Goal* rest;
};

class Matcher {
 public:
  explicit Matcher(Match& m) : m_(m), t_(m.rule.terms) {}
  // Whether the goals can all be met such that guards hold and the replacement differs from the root.
  bool solve(const Goal* goals);
  Result<NodeId> result = kNoNode;

 private:
  bool variable(const Term& t, const Goal& goal);
  bool apply(const Term& t, const Goal& goal);
  bool attributes(const Term& t, NodeId node);
  bool attribute(const AttrTerm& a, NodeId node);
  bool arguments(const Term& t, NodeId node, const Goal* rest, bool swapped);
  bool finish();

  Match& m_;
  const Terms& t_;
};

bool Matcher::solve(const Goal* goals) {
  if (!goals) return finish();
  const Term& t = t_[goals->term];
  switch (t.kind) {
    case Term::Kind::Var: return variable(t, *goals);
    case Term::Kind::Literal: {
      NodeId c = m_.facts.constant(goals->node);
      if (c == kNoNode) return false;
      auto want = literalIn(t.literal, m_.g.dtype(c));
      return want && *want == m_.g.constValue(c) && solve(goals->rest);
    }
    case Term::Kind::Apply: return apply(t, *goals);
    default: return false;
  }
}

bool Matcher::variable(const Term& t, const Goal& goal) {
  NodeId& bound = m_.vars[t.var];
  bool isConst = t_.isConst[t.var];
  if (bound != kNoNode) return (bound == goal.node || (isConst && m_.facts.constant(bound) == m_.facts.constant(goal.node))) && solve(goal.rest);
  if (isConst && m_.facts.constant(goal.node) == kNoNode) return false;
  bound = goal.node;
  if (solve(goal.rest)) return true;
  bound = kNoNode;
  return false;
}

bool Matcher::apply(const Term& t, const Goal& goal) {
  const Node& n = m_.g[goal.node];
  if (n.op != t.op || n.srcCount != t.args.size()) return false;
  if (n.attr != 0 && !m_.g.dotted(goal.node).empty()) return false;
  auto attrs = m_.attrs;
  uint32_t boundAttrs = m_.boundAttrs;
  if (attributes(t, goal.node)) {
    if (arguments(t, goal.node, goal.rest, false)) return true;
    if (hasTrait(t.op, trait::Commutative) && n.srcs[0] != n.srcs[1] && arguments(t, goal.node, goal.rest, true)) return true;
  }
  m_.attrs = attrs, m_.boundAttrs = boundAttrs;
  return false;
}

bool Matcher::arguments(const Term& t, NodeId node, const Goal* rest, bool swapped) {
  std::array<Goal, 8> goals;
  size_t count = t.args.size();
  if (count > goals.size()) return false;
  // Chained from the back; ops come before variables among equals only by their order in the text.
  for (size_t i = count; i-- > 0;) {
    goals[i] = {t.args[swapped ? count - 1 - i : i], m_.g.src(node, i), rest};
    rest = &goals[i];
  }
  return solve(rest);
}

bool Matcher::attributes(const Term& t, NodeId node) {
  return std::ranges::all_of(t.attrs, [&](const AttrTerm& a) { return attribute(a, node); });
}

bool Matcher::attribute(const AttrTerm& a, NodeId node) {
  if (!m_.g.hasAttr(node, a.key)) return false;
  int64_t have = m_.g.attr(node, a.key);
  if (a.var == kNoVar) {
    AttrType type = attrType(a.key);
    if (type == AttrType::Dims || type == AttrType::Pairs) return std::ranges::equal(m_.g.listById(have), a.list);
    if (type == AttrType::String) return m_.g.stringById(have) == a.text;
    return have == a.word;
  }
  uint32_t bit = 1u << a.var;
  if (m_.boundAttrs & bit) return m_.attrs[a.var] == have;
  m_.boundAttrs |= bit;
  m_.attrs[a.var] = have;
  return true;
}

bool Matcher::finish() {
  if (!guardsHold(m_)) return false;
  if (m_.rule.rule.when && !m_.rule.rule.when(m_)) return false;
  result = m_.rule.rule.build ? Result<NodeId>(m_.rule.rule.build(m_)) : buildReplacement(m_);
  return !result || (*result != kNoNode && *result != m_.root);
}

}  // namespace

Result<NodeId> applyRule(Graph& g, ValueRanges& facts, const CompiledRule& rule, NodeId root) {
  Match m(g, facts, rule, root);
  Matcher matcher(m);
  Goal goal{rule.match, root, nullptr};
  if (!matcher.solve(&goal)) return kNoNode;
  return matcher.result;
}

std::optional<Scalar> literalIn(const Literal& l, DType d) {
  bool number = isNumber(d);
  if (l.special != Special::None) {
    if (isFloat(d)) {
      double inf = std::numeric_limits<double>::infinity();
      return l.special == Special::Ones ? std::nullopt : std::optional(Scalar::ofDouble(l.special == Special::Max ? inf : -inf));
    }
    if (!number && d != DType::Bool) return std::nullopt;
    if (l.special == Special::Min) return Scalar::ofInt(minValue(d));
    if (l.special == Special::Max) return Scalar{maxValue(d)};
    return Scalar::ofInt(d == DType::Bool ? 1 : wrapTo(-1, d));
  }
  if (l.isBool) return d == DType::Bool ? std::optional(Scalar::ofInt(l.integer)) : std::nullopt;
  if (l.isFloat) return isFloat(d) ? std::optional(Scalar::ofDouble(roundTo(l.real, d))) : std::nullopt;
  if (isFloat(d)) return Scalar::ofDouble(roundTo(static_cast<double>(l.integer), d));
  if (d == DType::Bool) return l.integer == 0 || l.integer == 1 ? std::optional(Scalar::ofInt(l.integer)) : std::nullopt;
  if (!number || wrapTo(l.integer, d) != l.integer || (isUnsigned(d) && l.integer < 0)) return std::nullopt;
  return Scalar::ofInt(l.integer);
}

}  // namespace uop
