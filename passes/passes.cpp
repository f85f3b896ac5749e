#include "passes/passes.h"

#include <fmt/format.h>

#include "passes/rules.h"
#include "rewrite/json_rules.h"

namespace uop {
namespace {

Result<void> checkSimplify(const PassOptions& options, std::string_view place) {
  auto sets = options.strings("rules");
  for (size_t i = 0; i < sets.size(); ++i) {
    if (findRuleSet(sets[i])) continue;
    std::vector<std::string_view> names;
    for (const RuleSetInfo& s : ruleSets()) names.push_back(s.name);
    return fail(Diag::PipelineError, fmt::format("{}.rules[{}]", place, i), fmt::format("there is no rule set '{}'{}", sets[i], suggest(sets[i], names)));
  }
  return {};
}

Result<void> checkRules(const PassOptions& options, std::string_view place) {
  std::string at = fmt::format("{}.rules", place);
  auto rules = rulesFromJson(options.json("rules"), at);
  RuleSet set;
  auto ok = rules ? set.add(*rules, false) : std::unexpected(rules.error());
  if (ok || ok.error().kind == Diag::PipelineError) return ok;
  return fail(Diag::PipelineError, at, ok.error().message);
}

Result<void> checkLowerKernels(const PassOptions& options, std::string_view place) {
  if (options.integer("block") != 1) return {};
  return fail(Diag::PipelineError, fmt::format("{}.block", place), "blocks of one term sum nothing; expected 0 (no blocks) or at least 2, found 1");
}

// Options whose type says less than they must be.
void setChecks(std::vector<PassInfo>& table) {
  for (PassInfo& pass : table) {
    if (pass.name == "simplify") pass.check = checkSimplify;
    if (pass.name == "rules") pass.check = checkRules;
    if (pass.name == "lower-kernels") pass.check = checkLowerKernels;
  }
}

}  // namespace

PassTable passes() {
  static const std::vector<PassInfo> table = [] {
    std::vector<PassInfo> rows = {
#define OPTION(name, type, def, help) OptionSpec{name, type, def, help},
#define PASS(function, name, needs, leaves, help, ...) {name, function, Form::needs, Form::leaves, help, {__VA_ARGS__}},
#include "passes/passes.def"
    };
    setChecks(rows);
    return rows;
  }();
  return table;
}

}  // namespace uop
