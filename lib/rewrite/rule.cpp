#include "rewrite/rule.h"

#include <algorithm>

#include "rewrite/guards.h"

namespace uop {
namespace {

uint64_t wantedBits(const Terms& terms, TermId id) {
  const Term& t = terms[id];
  if (t.kind == Term::Kind::Apply) return sketchBit(t.op);
  const bool constant = t.kind == Term::Kind::Literal || (t.kind == Term::Kind::Var && terms.isConst[t.var]);
  return constant ? kConstantBit : ~uint64_t{0};
}

void sketch(CompiledRule& rule) {
  const Term& root = rule.terms[rule.match];
  rule.wants.fill(~uint64_t{0});
  for (size_t i = 0; i < std::min(root.args.size(), kSketchSources); ++i) rule.wants[i] = wantedBits(rule.terms, root.args[i]);
  rule.swaps = hasTrait(root.op, trait::Commutative);
}

}  // namespace

Result<CompiledRule> compileRule(Rule rule, bool builtin) {
  CompiledRule out{.rule = std::move(rule), .terms = {}, .guards = {}, .builtin = builtin};
  const Rule& r = out.rule;
  auto match = parseWhole(r.name, r.match, TermPlace::Pattern, out.terms);
  if (!match) return std::unexpected(match.error());
  if (out.terms[*match].kind != Term::Kind::Apply) return fail(Diag::RuleError, r.name, "the pattern must be an op over terms, not a variable or a literal alone");
  out.match = *match;
  if (!r.build) {
    auto replace = parseWhole(r.name, r.replace, TermPlace::Replacement, out.terms);
    if (!replace) return std::unexpected(replace.error());
    out.replace = *replace;
  }
  for (const std::string& text : r.guards) {
    auto guard = parseGuard(r.name, text, out.terms);
    if (!guard) return std::unexpected(guard.error());
    out.guards.push_back(std::move(*guard));
  }
  sketch(out);
  return out;
}

Result<void> RuleSet::add(const std::vector<Rule>& rules, bool builtin) {
  for (const Rule& rule : rules) {
    auto compiled = compileRule(rule, builtin);
    if (!compiled) return std::unexpected(compiled.error());
    compiled->index = static_cast<uint32_t>(rules_.size());
    byRoot_[static_cast<size_t>(compiled->terms[compiled->match].op)].push_back(compiled->index);
    rules_.push_back(std::move(*compiled));
  }
  return {};
}

}  // namespace uop
