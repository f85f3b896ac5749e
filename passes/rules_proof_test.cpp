// Every rule is proved by Z3 on bit-vectors, with symbolic operands and constants under the rule's guards, or carries a
// written reason why not. A guard stands for what it promises about the values: a proof from that alone is a stronger one.
#include <z3++.h>

#include <catch2/catch.hpp>
#include <map>

#include "passes/rules_testing.h"
#include "rewrite/match.h"

namespace uop {
namespace {

using testing::Typing;

constexpr DType kDTypes[] = {DType::Bool, DType::I8, DType::U8, DType::I16, DType::U16, DType::Index};

// Bits that a one-byte integer is modelled by, and the time it may take. A product of two symbolic constants under a
// division is too much for eight; then five, where corner cases are the same ones, must do.
struct Model {
  unsigned bits, timeoutMs;
};
constexpr Model kByte{8, 400}, kSmall{5, 10000}, kTiny{4, 60000};

class Prover {
 public:
  Prover(const CompiledRule& rule, const Typing& types, Model model) : rule_(rule), t_(rule.terms), types_(types), bits_(model.bits), solver_(z_) {
    z3::params p(z_);
    p.set("timeout", model.timeoutMs);
    for (VarId v = 0; v < t_.vars.size(); ++v) wideBits_ = std::max(wideBits_, 2 * bits(types.ofVar(v)) + 3);
    solver_.set(p);
  }
  enum class Answer : uint8_t { NotLegal, Proved, Refuted, Unknown };
  Answer prove();
  std::string model() { return solver_.get_model().to_string(); }

 private:
  unsigned bits(DType d) const { return d == DType::Bool ? 1 : d == DType::Index ? bits_ : bits_ * byteSize(d); }
  z3::expr number(int64_t v, unsigned n) { return z_.bv_val(v, n); }
  z3::expr truth(const z3::expr& e) { return z3::ite(e, z_.bv_val(1, 1), z_.bv_val(0, 1)); }
  z3::expr term(TermId id);
  z3::expr literal(const Literal& l, DType d);
  z3::expr apply(Op op, DType operand, DType result, const std::vector<z3::expr>& s);
  z3::expr divide(Op op, const z3::expr& x, const z3::expr& y, bool isSigned);
  z3::expr gcd(TermId id);
  z3::expr wide(TermId id) { return widened(term(id), types_.ofTerm(id)); }
  z3::expr widened(const z3::expr& e, DType d) { return isSigned(d) ? z3::sext(e, wideBits_ - bits(d)) : z3::zext(e, wideBits_ - bits(d)); }
  z3::expr exact(TermId id);
  z3::expr guard(const GuardCall& call);
  DType argType(const GuardCall& call, size_t i) { return call.attrVars[i] != kNoVar ? types_.ofAttr(call.attrVars[i]) : types_.ofTerm(call.args[i]); }
  bool typeGuard(Guard g, const GuardCall& call);
  bool legal(TermId id);

  const CompiledRule& rule_;
  const Terms& t_;
  const Typing& types_;
  unsigned bits_, wideBits_ = 8;
  z3::context z_;
  z3::solver solver_;
};

z3::expr Prover::literal(const Literal& l, DType d) {
  unsigned n = bits(d);
  if (l.special == Special::Ones) return number(-1, n);
  if (l.special == Special::Min) return number(isSigned(d) ? -(int64_t{1} << (n - 1)) : 0, n);
  if (l.special == Special::Max) return number(isSigned(d) ? (int64_t{1} << (n - 1)) - 1 : -1, n);
  return number(l.integer, n);
}

z3::expr Prover::divide(Op op, const z3::expr& x, const z3::expr& y, bool isSigned) {
  z3::expr zero = number(0, x.get_sort().bv_size()), one = number(1, x.get_sort().bv_size());
  if (!isSigned) return z3::ite(y == zero, zero, op == Op::FloorDiv ? z3::udiv(x, y) : z3::urem(x, y));
  z3::expr r = z3::srem(x, y), adjust = r != zero && ((r < zero) != (y < zero));
  if (op == Op::FloorMod) return z3::ite(y == zero, zero, z3::ite(adjust, r + y, r));
  return z3::ite(y == zero, zero, z3::ite(adjust, x / y - one, x / y));
}

z3::expr Prover::apply(Op op, DType operand, DType result, const std::vector<z3::expr>& s) {
  bool sign = isSigned(operand);
  auto less = [&](const z3::expr& a, const z3::expr& b) { return sign ? a < b : z3::ult(a, b); };
  switch (op) {
    case Op::Neg: return -s[0];
    case Op::Add: return s[0] + s[1];
    case Op::Mul: return operand == DType::Bool ? s[0] & s[1] : s[0] * s[1];
    case Op::Max: return z3::ite(less(s[0], s[1]), s[1], s[0]);
    case Op::CmpLt: return truth(less(s[0], s[1]));
    case Op::CmpNe: return truth(s[0] != s[1]);
    case Op::And: return s[0] & s[1];
    case Op::Or: return s[0] | s[1];
    case Op::Xor: return s[0] ^ s[1];
    case Op::Shl: return z3::shl(s[0], s[1]);
    case Op::Shr: return sign ? z3::ashr(s[0], s[1]) : z3::lshr(s[0], s[1]);
    case Op::FloorDiv:
    case Op::FloorMod: return divide(op, s[0], s[1], sign);
    case Op::Where: return z3::ite(s[0] == number(1, 1), s[1], s[2]);
    case Op::Cast:
    case Op::Bitcast: {
      if (result == DType::Bool) return truth(s[0] != number(0, bits(operand)));
      unsigned from = bits(operand), to = bits(result);
      if (to <= from) return s[0].extract(to - 1, 0);
      return sign ? z3::sext(s[0], to - from) : z3::zext(s[0], to - from);
    }
    default: throw std::logic_error("no bit-vector meaning: " + std::string(name(op)));
  }
}

// Any common divisor will do: what holds for each holds for the greatest.
z3::expr Prover::gcd(TermId id) {
  const Term& t = t_[id];
  z3::expr a = term(t.args[0]), b = term(t.args[1]);
  z3::expr g = z_.bv_const(fmt::format("gcd_{}_{}", a.hash(), b.hash()).c_str(), bits(types_.ofTerm(id)));
  z3::expr zero = number(0, bits(types_.ofTerm(id)));
  bool sign = isSigned(types_.ofTerm(id));
  auto rem = [&](const z3::expr& x) { return sign ? z3::srem(x, g) : z3::urem(x, g); };
  solver_.add((sign ? g > zero : g != zero) && rem(a) == zero && rem(b) == zero);
  return g;
}

z3::expr Prover::term(TermId id) {
  const Term& t = t_[id];
  DType d = types_.ofTerm(id);
  switch (t.kind) {
    case Term::Kind::Var: return z_.bv_const(t_.vars[t.var].c_str(), bits(d));
    case Term::Kind::Literal: return literal(t.literal, d);
    case Term::Kind::Compute: return term(t.args[0]);
    case Term::Kind::Gcd: return gcd(id);
    case Term::Kind::Apply: break;
  }
  std::vector<z3::expr> s;
  for (TermId a : t.args) s.push_back(term(a));
  return apply(t.op, types_.ofTerm(t.args.back()), d, s);
}

// That no op of the term wraps: each, computed exactly, is its wrapped value.
z3::expr Prover::exact(TermId id) {
  const Term& t = t_[id];
  if (t.kind != Term::Kind::Apply) return z_.bool_val(true);
  z3::expr ok = z_.bool_val(true);
  std::vector<z3::expr> s;
  for (TermId a : t.args) {
    ok = ok && exact(a);
    s.push_back(wide(a));
  }
  switch (t.op) {
    case Op::Neg: return ok && wide(id) == -s[0];
    case Op::Add: return ok && wide(id) == s[0] + s[1];
    case Op::Mul: return ok && wide(id) == s[0] * s[1];
    case Op::Cast: return ok && wide(id) == s[0];
    case Op::FloorMod: return ok;
    default: throw std::logic_error("nowrap of " + std::string(name(t.op)));
  }
}

bool Prover::typeGuard(Guard g, const GuardCall& call) {
  DType d = argType(call, 0), e = call.args.size() > 1 ? argType(call, 1) : d;
  switch (g) {
    case Guard::float_: return isFloat(d);
    case Guard::int_: return isInteger(d);
    case Guard::signed_: return isSigned(d);
    case Guard::unsigned_: return isUnsigned(d);
    case Guard::bool_: return d == DType::Bool;
    case Guard::number_: return isNumber(d);
    case Guard::index_: return d == DType::Index;
    case Guard::nonindex_: return d != DType::Index;
    case Guard::samedtype_: return d == e;
    case Guard::otherdtype_: return d != e;
    case Guard::widens_: return widens(d, e);
    case Guard::keepsbits_: return isInteger(d) && isInteger(e) && byteSize(e) <= byteSize(d);
    default: return true;  // of nodes, not of values
  }
}

z3::expr Prover::guard(const GuardCall& call) {
  auto g = static_cast<Guard>(call.guard);
  auto at = [&](size_t i) { return wide(call.args[i]); };
  z3::expr zero = number(0, wideBits_);
  switch (g) {
    case Guard::pow2_: return at(0) > zero && (at(0) & (at(0) - 1)) == zero;
    case Guard::divides_: {
      DType d = types_.ofTerm(call.args[0]);
      z3::expr c = term(call.args[0]), e = term(call.args[1]);
      return at(0) > zero && (isSigned(d) ? z3::srem(e, c) : z3::urem(e, c)) == number(0, bits(d));
    }
    case Guard::nonneg_: return at(0) >= zero;
    case Guard::positive_: return at(0) > zero;
    case Guard::negative_: return at(0) < zero;
    case Guard::nonzero_: return at(0) != zero;
    case Guard::lt_: return at(0) < at(1);
    case Guard::le_: return at(0) <= at(1);
    case Guard::eq_: return at(0) == at(1);
    case Guard::disjoint_: return at(0) != at(1);
    case Guard::range_: return at(1) <= at(0) && at(0) <= at(2);
    case Guard::nowrap_: return exact(call.args[0]);
    default: return z_.bool_val(typeGuard(g, call));
  }
}

// Whether the term exists at these dtypes.
bool Prover::legal(TermId id) {
  const Term& t = t_[id];
  DType d = types_.ofTerm(id);
  if (t.kind == Term::Kind::Literal) return literalIn(t.literal, d).has_value();
  if (t.kind == Term::Kind::Apply && !evalFn(t.op, types_.ofTerm(t.args.back()), d)) return false;
  if (t.kind == Term::Kind::Apply && t.op == Op::Bitcast && byteSize(types_.ofTerm(t.args[0])) != byteSize(d)) return false;
  if (t.kind == Term::Kind::Gcd && !isInteger(d)) return false;
  return std::ranges::all_of(t.args, [&](TermId a) { return legal(a); });
}

Prover::Answer Prover::prove() {
  if (!legal(rule_.match)) return Answer::NotLegal;
  for (const GuardCall& call : rule_.guards) {
    if (!typeGuard(static_cast<Guard>(call.guard), call)) return Answer::NotLegal;
    for (size_t i = 0; i < call.args.size(); ++i)
      if (call.attrVars[i] == kNoVar && !legal(call.args[i])) return Answer::NotLegal;
  }
  if (!legal(rule_.replace)) return Answer::NotLegal;
  for (const GuardCall& call : rule_.guards) solver_.add(guard(call));
  z3::expr left = term(rule_.match), right = term(rule_.replace);
  solver_.add(left != right);
  switch (solver_.check()) {
    case z3::unsat: return Answer::Proved;
    case z3::sat: return Answer::Refuted;
    default: return Answer::Unknown;
  }
}

// `index` is modelled by 8 bits, which says nothing of casts between it and another integer.
bool mixesIndex(const CompiledRule& rule, const Typing& types) {
  bool index = false, other = false;
  auto see = [&](DType d) { (d == DType::Index ? index : other) |= isInteger(d); };
  for (VarId v = 0; v < rule.terms.vars.size(); ++v) see(types.ofVar(v));
  for (VarId v = 0; v < rule.terms.attrVars.size(); ++v) see(types.ofAttr(v));
  return index && other;
}

bool hasTwoBytes(const CompiledRule& rule, const Typing& types) {
  for (VarId v = 0; v < rule.terms.vars.size(); ++v)
    if (byteSize(types.ofVar(v)) == 2) return true;
  return false;
}

std::string dtypesText(const CompiledRule& rule, const Typing& types) {
  std::string out;
  for (VarId v = 0; v < rule.terms.vars.size(); ++v) out += fmt::format(" ?{}:{}", rule.terms.vars[v], name(types.ofVar(v)));
  return out;
}

}  // namespace

TEST_CASE("every integer and bool rule is proved, or says why not") {
  size_t proved = 0, exempt = 0, small = 0, sixteens = 0;
  for (const CompiledRule& rule : testing::allRules()) {
    INFO(rule.rule.name);
    if (!rule.rule.unproved.empty()) {
      ++exempt;
      continue;
    }
    Typing types(rule);
    REQUIRE(types.elementwise);
    REQUIRE(!rule.rule.computed());
    std::map<unsigned, size_t> at;  // assignments of dtypes proved, by bits
    types.forEach(kDTypes, [&] {
      if (mixesIndex(rule, types)) return;
      bool sixteen = hasTwoBytes(rule, types);
      if (sixteen && (at.contains(kSmall.bits) || at.contains(kTiny.bits))) return;  // eight were too many
      for (Model model : {kByte, kSmall, kTiny}) {
        Prover prover(rule, types, model);
        auto answer = prover.prove();
        if (answer == Prover::Answer::NotLegal) return;
        INFO("with " << dtypesText(rule, types) << (answer == Prover::Answer::Refuted ? " refuted by " + prover.model() : ""));
        REQUIRE(answer != Prover::Answer::Refuted);
        if (answer == Prover::Answer::Proved) return void(++at[model.bits * (sixteen ? 2 : 1)]);
        if (sixteen) return;
      }
      FAIL_CHECK("not proved with " << dtypesText(rule, types));
    });
    CHECK(!at.empty());
    ++proved;
    sixteens += at.contains(2 * kByte.bits);
    small += at.contains(kSmall.bits) || at.contains(kTiny.bits);
  }
  WARN(proved << " rules proved: " << sixteens << " on 16 bits too, " << small << " on 5 or 4 bits for some dtypes; " << exempt << " with a reason why not");
}

}  // namespace uop
