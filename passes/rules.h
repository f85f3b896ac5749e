// The built-in rules, a set an operator family; `simplify` applies them, --list-rules lists them.
#pragma once
#include <span>

#include "rewrite/rule.h"

namespace uop {

struct RuleSetInfo {
  std::string_view name, help;
  std::vector<Rule> (*rules)();
};

// In the order in which they are tried.
std::span<const RuleSetInfo> ruleSets();
const RuleSetInfo* findRuleSet(std::string_view name);

std::vector<Rule> foldRules();
std::vector<Rule> algebraRules();
std::vector<Rule> boolRules();
std::vector<Rule> castRules();
std::vector<Rule> whereRules();
std::vector<Rule> indexRules();
std::vector<Rule> movementRules();
std::vector<Rule> orderRules();

}  // namespace uop
