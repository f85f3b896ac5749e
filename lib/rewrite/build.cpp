#include "rewrite/build.h"

#include <algorithm>
#include <numeric>

#include "ir/eval.h"

namespace uop {
namespace {

std::unexpected<Error> bad(const Match& m, std::string text) { return fail(Diag::RuleError, m.rule.rule.name, std::move(text)); }

const AttrTerm* findAttr(const Term& t, AttrKey key) {
  auto it = std::ranges::find(t.attrs, key, &AttrTerm::key);
  return it == t.attrs.end() ? nullptr : &*it;
}

int64_t attrValue(const Match& m, const AttrTerm& a) {
  if (a.var != kNoVar) return m.attrs[a.var];
  AttrType type = attrType(a.key);
  if (type == AttrType::Dims || type == AttrType::Pairs) return m.g.list(a.list);
  return type == AttrType::String ? m.g.string(a.text) : a.word;
}

bool isCompare(Op op) { return info(op).rule == TypeRule::Compare; }
size_t firstOperand(Op op) { return op == Op::Where ? 1 : 0; }

// The dtype of an element-wise term's operands: of the first that has one by itself.
std::optional<DType> operandDType(const Match& m, const Term& t) {
  for (size_t i = t.kind == Term::Kind::Apply ? firstOperand(t.op) : 0; i < t.args.size(); ++i)
    if (auto d = termDType(m, t.args[i])) return d;
  return std::nullopt;
}

class Builder {
 public:
  explicit Builder(Match& m) : m_(m), g_(m.g), t_(m.rule.terms) {}
  Result<NodeId> build(TermId id, DType want);

 private:
  Result<NodeId> constant(const Term& t, TermId id, DType want);
  Result<NodeId> apply(const Term& t, DType want);
  Result<void> spread(std::vector<NodeId>& sources);

  Match& m_;
  Graph& g_;
  const Terms& t_;
};

Result<NodeId> Builder::build(TermId id, DType want) {
  const Term& t = t_[id];
  switch (t.kind) {
    case Term::Kind::Var: return m_.vars[t.var];
    case Term::Kind::Apply: return apply(t, want);
    default: return constant(t, id, want);
  }
}

Result<NodeId> Builder::constant(const Term& t, TermId id, DType want) {
  auto value = computeConst(m_, id, want);
  if (!value) return bad(m_, fmt::format("its constant has no value of dtype {}", name(want)));
  NodeId c = g_.constant(value->dtype, value->scalar);
  bool like = t.kind == Term::Kind::Literal && t.var != kNoVar;
  return like ? g_.expand(c, g_.shape(m_.vars[t.var])) : c;
}

// Element-wise sources of unlike shape, broadcast explicitly as numpy would.
Result<void> Builder::spread(std::vector<NodeId>& sources) {
  std::vector<Dim> shape;
  for (NodeId s : sources) {
    auto own = g_.shape(s);
    if (own.size() > shape.size()) shape.insert(shape.begin(), own.size() - shape.size(), 1);
    for (size_t i = 0; i < own.size(); ++i) {
      Dim& at = shape[shape.size() - own.size() + i];
      if (at == 1) at = own[i];
    }
  }
  for (NodeId& s : sources) {
    auto wide = broadcastTo(g_, s, shape);
    if (!wide) return bad(m_, fmt::format("its operands do not broadcast: shapes {} and {}", shapeText(g_.shape(s)), shapeText(shape)));
    s = *wide;
  }
  return {};
}

Result<NodeId> Builder::apply(const Term& t, DType want) {
  bool elementwise = hasTrait(t.op, trait::Elementwise);
  DType inner = operandDType(m_, t).value_or(want);
  std::vector<NodeId> sources;
  for (size_t i = 0; i < t.args.size(); ++i) {
    auto s = build(t.args[i], elementwise && i < firstOperand(t.op) ? DType::Bool : inner);
    if (!s) return s;
    sources.push_back(*s);
  }
  if (elementwise && sources.size() > 1)
    if (auto ok = spread(sources); !ok) return std::unexpected(ok.error());
  Attrs attrs;
  for (const AttrTerm& a : t.attrs) attrs.set(a.key, attrValue(m_, a));
  auto made = g_.tryMake(t.op, sources, attrs);
  if (!made) return bad(m_, "its replacement is wrong: " + made.error().message);
  return made;
}

std::optional<ConstValue> computeGcd(const Match& m, const Term& t, DType want) {
  DType d = operandDType(m, t).value_or(want);
  auto a = computeConst(m, t.args[0], d), b = computeConst(m, t.args[1], d);
  if (!a || !b || !isInteger(d)) return std::nullopt;
  auto size = [&](Scalar s) { return isUnsigned(d) || s.asInt() >= 0 ? s.bits : -s.bits; };
  return ConstValue{Scalar::ofInt(wrapTo(static_cast<int64_t>(std::gcd(size(a->scalar), size(b->scalar))), d)), d};
}

std::optional<ConstValue> computeApply(const Match& m, const Term& t, DType want) {
  DType inner = operandDType(m, t).value_or(want), operand = inner;
  std::vector<Scalar> sources;
  for (size_t i = 0; i < t.args.size(); ++i) {
    auto v = computeConst(m, t.args[i], i < firstOperand(t.op) ? DType::Bool : inner);
    if (!v) return std::nullopt;
    operand = v->dtype;
    sources.push_back(v->scalar);
  }
  DType result = operand;
  if (isCompare(t.op)) result = DType::Bool;
  if (const AttrTerm* to = findAttr(t, AttrKey::DTypeKey)) result = static_cast<DType>(attrValue(m, *to));
  if (!evalFn(t.op, operand, result)) return std::nullopt;
  return ConstValue{evalOp(t.op, operand, result, sources), result};
}

}  // namespace

std::optional<DType> termDType(const Match& m, TermId id) {
  const Term& t = m.rule.terms[id];
  switch (t.kind) {
    case Term::Kind::Var: return m.g.dtype(m.vars[t.var]);
    case Term::Kind::Literal: return t.var == kNoVar ? std::nullopt : std::optional(m.g.dtype(m.vars[t.var]));
    case Term::Kind::Compute: return termDType(m, t.args[0]);
    case Term::Kind::Gcd: return operandDType(m, t);
    case Term::Kind::Apply: break;
  }
  if (isCompare(t.op)) return DType::Bool;
  if (const AttrTerm* to = findAttr(t, AttrKey::DTypeKey)) return static_cast<DType>(attrValue(m, *to));
  return operandDType(m, t);
}

std::optional<ConstValue> computeConst(const Match& m, TermId id, DType want) {
  const Term& t = m.rule.terms[id];
  switch (t.kind) {
    case Term::Kind::Var: {
      NodeId c = m.facts.constant(m.vars[t.var]);
      if (c == kNoNode) return std::nullopt;
      return ConstValue{m.g.constValue(c), m.g.dtype(c)};
    }
    case Term::Kind::Literal: {
      DType d = t.var == kNoVar ? want : m.g.dtype(m.vars[t.var]);
      auto v = literalIn(t.literal, d);
      return v ? std::optional(ConstValue{*v, d}) : std::nullopt;
    }
    case Term::Kind::Compute: return computeConst(m, t.args[0], want);
    case Term::Kind::Gcd: return computeGcd(m, t, want);
    case Term::Kind::Apply: return computeApply(m, t, want);
  }
  return std::nullopt;
}

Result<NodeId> buildReplacement(Match& m) { return Builder(m).build(m.rule.replace, m.g.dtype(m.root)); }

std::optional<NodeId> broadcastTo(Graph& g, NodeId x, std::span<const Dim> shape) {
  auto own = g.shape(x);
  if (std::ranges::equal(own, shape)) return x;
  if (own.size() > shape.size()) return std::nullopt;
  for (size_t i = 0; i < own.size(); ++i) {
    Dim to = shape[shape.size() - own.size() + i];
    if (own[i] != 1 && own[i] != to) return std::nullopt;
  }
  return g.expand(x, shape);
}

}  // namespace uop
