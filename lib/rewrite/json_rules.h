// Rules in JSON: {"name": "double-neg", "match": "(NEG (NEG ?x))", "replace": "?x", "if": ["float(?x)"]}.
#pragma once
#include <nlohmann/json.hpp>

#include "rewrite/rule.h"

namespace uop {

// A list of rules, each checked by compiling it. Errors: Diag::RuleError, or Diag::PipelineError with `place` ("passes[2].rules").
Result<std::vector<Rule>> rulesFromJson(const nlohmann::ordered_json& list, std::string_view place);

// A rule without computed parts as JSON; loaded back it behaves the same.
nlohmann::ordered_json ruleToJson(const Rule&);

}  // namespace uop
