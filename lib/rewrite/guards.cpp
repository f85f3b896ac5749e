#include "rewrite/guards.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "rewrite/build.h"

namespace uop {
namespace {

constexpr auto kGuards = std::to_array<GuardInfo>({
#define GUARD(id, least, most, help) {#id, least, most, help},
#include "rewrite/guards.def"
});
constexpr unsigned kFewTerms = 32;

// One call's arguments as the guards read them.
struct Args {
  const Match& m;
  const GuardCall& call;

  DType dtype(size_t i) const {
    if (call.attrVars[i] != kNoVar) return static_cast<DType>(m.attrs[call.attrVars[i]]);
    return termDType(m, call.args[i]).value_or(DType::Void);
  }
  DType common() const {  // what literals without a neighbour are
    for (size_t i = 0; i < call.args.size(); ++i)
      if (DType d = dtype(i); d != DType::Void) return d;
    return DType::Index;
  }
  NodeId node(size_t i) const {
    if (call.attrVars[i] != kNoVar) return kNoNode;
    const Term& t = m.rule.terms[call.args[i]];
    return t.kind == Term::Kind::Var ? m.vars[t.var] : kNoNode;
  }
  std::span<const Dim> shape(size_t i) const { return call.attrVars[i] != kNoVar ? m.g.listById(m.attrs[call.attrVars[i]]) : m.g.shape(node(i)); }
  Interval range(size_t i, bool* wraps = nullptr) const { return termRange(m, call.args[i], common(), wraps); }
  std::optional<ConstValue> constant(size_t i) const { return computeConst(m, call.args[i], common()); }
  std::optional<Wide> integer(size_t i) const {
    auto c = constant(i);
    if (!c || !isInteger(c->dtype)) return std::nullopt;
    return intervalOf(c->scalar, c->dtype).lo;
  }
};

bool divides(const Args& a) {
  auto c = a.integer(0), d = a.integer(1);
  return c && d && *c > 0 && *d % *c == 0;
}

bool isPow2(const Args& a) {
  auto c = a.integer(0);
  return c && *c > 0 && (*c & (*c - 1)) == 0;
}

bool notNan(const Args& a) {
  auto c = a.constant(0);
  return c && !(isFloat(c->dtype) && std::isnan(c->scalar.asDouble()));
}

bool noWrap(const Args& a) {
  bool wraps = false;
  return !a.range(0, &wraps).empty() && !wraps;
}

bool compareRanges(Guard guard, const Args& a) {
  Interval x = a.range(0), y = a.range(1);
  if (x.empty() || y.empty()) return false;
  switch (guard) {
    case Guard::lt_: return x.hi < y.lo;
    case Guard::le_: return x.hi <= y.lo;
    case Guard::eq_: return x.single() && x == y;
    case Guard::disjoint_: return x.hi < y.lo || y.hi < x.lo;
    default: return y.lo <= x.lo && y.single() && a.range(2).single() && x.hi <= a.range(2).lo;
  }
}

bool compareZero(Guard guard, const Args& a) {
  Interval x = a.range(0);
  if (x.empty()) return false;
  switch (guard) {
    case Guard::nonneg_: return x.lo >= 0;
    case Guard::positive_: return x.lo > 0;
    case Guard::negative_: return x.hi < 0;
    default: return !x.contains(0);
  }
}

bool holds(const Match& m, const GuardCall& call) {
  Args a{m, call};
  auto guard = static_cast<Guard>(call.guard);
  switch (guard) {
    case Guard::float_: return isFloat(a.dtype(0));
    case Guard::int_: return isInteger(a.dtype(0));
    case Guard::signed_: return isSigned(a.dtype(0));
    case Guard::unsigned_: return isUnsigned(a.dtype(0));
    case Guard::bool_: return a.dtype(0) == DType::Bool;
    case Guard::number_: return isNumber(a.dtype(0));
    case Guard::index_: return a.dtype(0) == DType::Index;
    case Guard::nonindex_: return a.dtype(0) != DType::Index;
    case Guard::nonfloat_: return isInteger(a.dtype(0)) || a.dtype(0) == DType::Bool;
    case Guard::nothalf_: return a.dtype(0) != DType::F16 && a.dtype(0) != DType::BF16;
    case Guard::samedtype_: return a.dtype(0) == a.dtype(1);
    case Guard::otherdtype_: return a.dtype(0) != a.dtype(1);
    case Guard::widens_: return widens(a.dtype(0), a.dtype(1));
    case Guard::keepsbits_: return isInteger(a.dtype(0)) && isInteger(a.dtype(1)) && byteSize(a.dtype(1)) <= byteSize(a.dtype(0));
    case Guard::const_: return a.constant(0).has_value();
    case Guard::nonconst_: return !a.constant(0);
    case Guard::notnan_: return notNan(a);
    case Guard::pow2_: return isPow2(a);
    case Guard::divides_: return divides(a);
    case Guard::nonneg_:
    case Guard::positive_:
    case Guard::negative_:
    case Guard::nonzero_: return compareZero(guard, a);
    case Guard::lt_:
    case Guard::le_:
    case Guard::eq_:
    case Guard::disjoint_:
    case Guard::range_: return compareRanges(guard, a);
    case Guard::nowrap_: return noWrap(a);
    case Guard::fewterms_: return m.facts.terms(a.node(0)) <= kFewTerms;
    case Guard::before_: return m.facts.before(a.node(0), a.node(1));
    case Guard::gate_: return m.facts.isGate(a.node(0));
    case Guard::shape_: return std::ranges::equal(a.shape(0), a.shape(1));
    case Guard::scalar_: return a.shape(0).empty();
    case Guard::value_: return !m.g[a.node(0)].place;
  }
  return false;
}

// Guards that look at nodes, not terms of them.
bool wantsVariable(Guard g) {
  return g == Guard::fewterms_ || g == Guard::before_ || g == Guard::gate_ || g == Guard::shape_ || g == Guard::scalar_ || g == Guard::value_ || g == Guard::nonconst_;
}
// Guards that ask for a dtype come first in the table.
bool takesAttr(Guard g, size_t at) { return g <= Guard::keepsbits_ || (g == Guard::shape_ && at == 1); }

std::string_view trimmed(std::string_view s) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) s.remove_prefix(1);
  while (!s.empty() && (s.back() == ' ' || s.back() == '\t')) s.remove_suffix(1);
  return s;
}

Result<void> parseArgument(std::string_view rule, std::string_view guardText, std::string_view& text, Terms& terms, GuardCall& call) {
  auto guard = static_cast<Guard>(call.guard);
  auto bad = [&](std::string what) { return fail(Diag::RuleError, rule, fmt::format("guard '{}': {}", guardText, what)); };
  text = trimmed(text);
  size_t end = text.find_first_of(",) ");
  std::string_view first = text.substr(0, end);
  if (first.starts_with('?') && terms.attrVar(first.substr(1)) != kNoVar) {
    if (!takesAttr(guard, call.args.size())) return bad(fmt::format("{} is an attribute, and a node is expected", first));
    call.attrVars.push_back(terms.attrVar(first.substr(1)));
    call.args.push_back(0);
    text.remove_prefix(first.size());
  } else {
    auto term = parseTerm(rule, text, TermPlace::Guard, terms);
    if (!term) return std::unexpected(term.error());
    if (wantsVariable(guard) && terms[*term].kind != Term::Kind::Var) return bad("a variable is expected");
    call.args.push_back(*term);
    call.attrVars.push_back(kNoVar);
  }
  text = trimmed(text);
  return {};
}

}  // namespace

std::span<const GuardInfo> guardTable() { return kGuards; }

Result<GuardCall> parseGuard(std::string_view rule, std::string_view whole, Terms& terms) {
  auto bad = [&](std::string what) { return fail(Diag::RuleError, rule, fmt::format("guard '{}': {}", whole, what)); };
  std::string_view text = trimmed(whole);
  size_t open = text.find('(');
  if (open == std::string_view::npos || text.back() != ')') return bad("expected name(?x, ...)");
  std::string_view name = trimmed(text.substr(0, open));
  auto row = std::ranges::find(kGuards, name, &GuardInfo::name);
  if (row == kGuards.end()) {
    std::vector<std::string_view> names;
    for (const GuardInfo& g : kGuards) names.push_back(g.name);
    return bad(fmt::format("there is no guard '{}'{}", name, suggest(name, names)));
  }
  GuardCall call{static_cast<uint8_t>(row - kGuards.begin()), {}, {}};
  std::string_view rest = text.substr(open + 1);
  for (;;) {
    if (auto ok = parseArgument(rule, whole, rest, terms, call); !ok) return std::unexpected(ok.error());
    if (rest.empty() || (rest.front() != ',' && rest.front() != ')')) return bad("expected ',' or ')'");
    bool last = rest.front() == ')';
    rest.remove_prefix(1);
    if (last) break;
  }
  if (!rest.empty()) return bad("expected nothing after ')'");
  if (call.args.size() < row->least || call.args.size() > row->most) return bad(fmt::format("{} takes {} arguments, found {}", name, row->least, call.args.size()));
  return call;
}

bool guardsHold(const Match& m) {
  return std::ranges::all_of(m.rule.guards, [&](const GuardCall& call) { return holds(m, call); });
}

Interval termRange(const Match& m, TermId id, DType want, bool* wraps) {
  const Term& t = m.rule.terms[id];
  if (t.kind == Term::Kind::Var) return m.facts.get(m.vars[t.var]);
  if (t.kind != Term::Kind::Apply) {
    auto c = computeConst(m, id, want);
    return c ? intervalOf(c->scalar, c->dtype) : Interval{};
  }
  DType result = termDType(m, id).value_or(want), operand = want;
  for (TermId a : t.args)
    if (auto d = termDType(m, a)) operand = *d;
  std::vector<Interval> ranges;
  for (TermId a : t.args) ranges.push_back(termRange(m, a, operand, wraps));
  if (std::ranges::any_of(ranges, &Interval::empty)) return {};
  return applyOp(t.op, operand, result, ranges, wraps);
}

bool widens(DType from, DType to) {
  if (from == to || from == DType::Bool) return isValue(to);
  auto digits = [](DType d) { return d == DType::F16 ? 11u : d == DType::BF16 ? 8u : d == DType::F32 ? 24u : 53u; };
  if (isInteger(from) && isInteger(to)) return fullRange(to).lo <= fullRange(from).lo && fullRange(from).hi <= fullRange(to).hi;
  // Within the digits; f16's greatest value is far above what its digits hold of an integer.
  if (isInteger(from) && isFloat(to)) return 8 * byteSize(from) - isSigned(from) <= digits(to);
  if (!isFloat(from) || !isFloat(to)) return false;
  return digits(from) <= digits(to) && byteSize(from) < byteSize(to);
}

}  // namespace uop
