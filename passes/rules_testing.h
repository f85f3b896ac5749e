// What the tests of rules share: the dtypes that a rule's terms can have, found by unification.
#pragma once
#include <functional>
#include <numeric>

#include "ir/eval.h"
#include "ir/program.h"
#include "passes/rules.h"
#include "rewrite/guards.h"

namespace uop::testing {

inline std::vector<CompiledRule> allRules() {
  std::vector<CompiledRule> out;
  for (const RuleSetInfo& set : ruleSets())
    for (const Rule& rule : set.rules()) {
      auto compiled = compileRule(rule, true);
      if (!compiled) internalError(compiled.error().message);
      out.push_back(std::move(*compiled));
    }
  return out;
}

// Terms and attribute variables fall into classes of one dtype each.
class Typing {
 public:
  explicit Typing(const CompiledRule& rule) : t_(rule.terms) {
    parent_.resize(t_.pool.size() + t_.vars.size() + t_.attrVars.size());
    std::iota(parent_.begin(), parent_.end(), size_t{0});
    fixed_.assign(parent_.size(), DType::Void);
    for (size_t i = 0; i < t_.pool.size(); ++i) relate(static_cast<TermId>(i));
    // Guards that compare values compare those of one dtype.
    for (const GuardCall& call : rule.guards)
      for (size_t i = 1; i < call.args.size(); ++i)
        if (static_cast<Guard>(call.guard) > Guard::keepsbits_ && call.attrVars[i] == kNoVar) unite(call.args[0], call.args[i]);
    // A replacement has its root's dtype; a condition is bool.
    if (!rule.rule.build) unite(rule.match, rule.replace);
    for (size_t i = 0; i < t_.pool.size(); ++i)
      if (isBoolean_.size() > i && isBoolean_[i]) fixed_[find(i)] = DType::Bool;
  }

  bool elementwise = true;  // whether every op has a scalar meaning

  // Calls visit() for every assignment of the given dtypes to the classes of the pattern.
  void forEach(std::span<const DType> choices, const std::function<void()>& visit) {
    std::vector<size_t> classes;
    for (size_t i = 0; i < parent_.size(); ++i)
      if (find(i) == i && fixed_[i] == DType::Void && used(i)) classes.push_back(i);
    chosen_ = fixed_;
    std::function<void(size_t)> next = [&](size_t at) {
      if (at == classes.size()) return visit();
      for (DType d : choices) chosen_[classes[at]] = d, next(at + 1);
    };
    next(0);
  }
  DType ofTerm(TermId id) const { return chosen_[find(id)]; }
  DType ofVar(VarId v) const { return chosen_[find(t_.pool.size() + v)]; }
  DType ofAttr(VarId v) const { return chosen_[find(t_.pool.size() + t_.vars.size() + v)]; }

 private:
  size_t find(size_t i) const {
    while (parent_[i] != i) i = parent_[i];
    return i;
  }
  void unite(size_t a, size_t b) { parent_[find(a)] = find(b); }
  bool used(size_t cls) const {
    for (size_t v = 0; v < t_.vars.size() + t_.attrVars.size(); ++v)
      if (find(t_.pool.size() + v) == cls) return true;
    return false;
  }
  void relate(TermId id) {
    const Term& t = t_[id];
    isBoolean_.resize(t_.pool.size());
    if (t.kind == Term::Kind::Var || (t.kind == Term::Kind::Literal && t.var != kNoVar)) unite(id, t_.pool.size() + t.var);
    if (t.kind == Term::Kind::Compute || t.kind == Term::Kind::Gcd)
      for (TermId a : t.args) unite(id, a);
    if (t.kind != Term::Kind::Apply) return;
    if (!hasTrait(t.op, trait::Elementwise)) return void(elementwise = false);
    size_t first = t.op == Op::Where ? 1 : 0;
    if (first) isBoolean_[t.args[0]] = true;
    for (size_t i = first + 1; i < t.args.size(); ++i) unite(t.args[first], t.args[i]);
    if (info(t.op).rule == TypeRule::Compare) isBoolean_[id] = true;
    else if (t.op != Op::Cast && t.op != Op::Bitcast) unite(id, t.args[first]);
    for (const AttrTerm& a : t.attrs)
      if (a.key == AttrKey::DTypeKey && a.var != kNoVar) unite(id, t_.pool.size() + t_.vars.size() + a.var);
  }

  const Terms& t_;
  std::vector<size_t> parent_;
  std::vector<DType> fixed_, chosen_;
  std::vector<bool> isBoolean_;
};

}  // namespace uop::testing
