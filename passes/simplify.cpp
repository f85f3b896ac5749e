#include "passes/simplify.h"

#include "passes/passes.h"
#include "passes/rules.h"
#include "rewrite/json_rules.h"

namespace uop {
namespace {

Result<RuleSet> compiledSets(std::span<const std::string> sets) {
  RuleSet out;
  for (const std::string& name : sets) {
    if (findRuleSet(name)) continue;
    std::vector<std::string_view> names;
    for (const RuleSetInfo& s : ruleSets()) names.push_back(s.name);
    return fail(Diag::PassError, fmt::format("there is no rule set '{}'{}", name, suggest(name, names)));
  }
  for (const RuleSetInfo& set : ruleSets())
    if (sets.empty() || std::ranges::find(sets, set.name) != sets.end())
      if (auto ok = out.add(set.rules(), true); !ok) internalError(ok.error().message);
  return out;
}

}  // namespace

Result<Program> simplify(Program p, std::span<const std::string> sets, uint64_t limit, FpMode fp, RewriteStats& stats) {
  auto rules = compiledSets(sets);
  if (!rules) return std::unexpected(rules.error());
  return rewriteProgram(std::move(p), *rules, {.limit = limit, .fast = fp == FpMode::Fast}, stats);
}

Result<Program> runSimplify(Program p, PassContext& context) {
  RewriteStats own;
  auto limit = static_cast<uint64_t>(std::max<int64_t>(0, context.options.integer("limit")));
  return simplify(std::move(p), context.options.strings("rules"), limit, context.fp, context.stats ? *context.stats : own);
}

Result<Program> runRules(Program p, PassContext& context) {
  RewriteStats own;
  auto rules = rulesFromJson(context.options.json("rules"), "rules");
  if (!rules) return std::unexpected(rules.error());
  RuleSet set;
  if (auto ok = set.add(*rules, false); !ok) return std::unexpected(ok.error());
  auto limit = static_cast<uint64_t>(std::max<int64_t>(0, context.options.integer("limit")));
  return rewriteProgram(std::move(p), set, {.limit = limit, .fast = context.fp == FpMode::Fast}, context.stats ? *context.stats : own);
}

}  // namespace uop
