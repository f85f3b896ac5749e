#include "passes/rules.h"

#include <algorithm>

namespace uop {

std::span<const RuleSetInfo> ruleSets() {
  static constexpr RuleSetInfo kSets[] = {
      {"fold", "element-wise ops on constants give constants", foldRules},
      {"algebra", "arithmetic identities, sound on floats; constants of integer sums and products are gathered", algebraRules},
      {"bool", "logic, and comparisons decided by value ranges", boolRules},
      {"cast", "casts that change nothing, or do in one step what two did", castRules},
      {"where", "selections whose outcome is known, nested selections, gated loads", whereRules},
      {"index", "division and remainder by constants, over value ranges", indexRules},
      {"movement", "movement ops and reductions that do nothing, or merge with the one before", movementRules},
      {"order", "commutative operands in one order: constants last", orderRules},
  };
  return kSets;
}

const RuleSetInfo* findRuleSet(std::string_view name) {
  auto sets = ruleSets();
  auto it = std::ranges::find(sets, name, &RuleSetInfo::name);
  return it == sets.end() ? nullptr : &*it;
}

}  // namespace uop
