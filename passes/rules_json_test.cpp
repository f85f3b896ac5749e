// Built-in rules as data: names, JSON and back, reasons.
#include <catch2/catch.hpp>
#include <set>

#include "passes/rules_trial.h"
#include "rewrite/json_rules.h"

namespace uop {
namespace {

// One that a pipeline holds is trusted with less: it is compiled as such.
void checkSame(const Rule& builtin, const Rule& loaded) {
  auto a = compileRule(builtin, true), b = compileRule(loaded, false);
  INFO(builtin.name << (b ? "" : ": " + b.error().message));
  REQUIRE((a && b));
  testing::Typing types(*a);
  if (!types.elementwise) return;  // equal text is all that can be had without shapes
  std::mt19937_64 random(1);
  types.forEach(testing::kDTypes, [&] {
    for (int i = 0; i < 8; ++i) CHECK(testing::Trial(*a, types, random).sameAs(*b));
  });
}

}  // namespace

TEST_CASE("every rule compiles, and no two share a name") {
  std::set<std::string> names;
  size_t count = 0, computed = 0;
  for (const RuleSetInfo& set : ruleSets()) {
    CHECK(!set.help.empty());
    for (const Rule& rule : set.rules()) {
      INFO(set.name << ": " << rule.name);
      auto compiled = compileRule(rule, true);
      INFO((compiled ? "" : compiled.error().message));
      CHECK(compiled);
      CHECK(names.insert(rule.name).second);
      if (rule.computed()) CHECK(!rule.unproved.empty());
      ++count, computed += rule.computed();
    }
  }
  WARN(count << " rules, " << computed << " of them computed");
}

TEST_CASE("every rule without computed parts reads back from JSON as itself") {
  for (const RuleSetInfo& set : ruleSets()) {
    auto list = nlohmann::ordered_json::array();
    std::vector<Rule> plain;
    for (Rule& rule : set.rules()) {
      if (rule.computed()) continue;
      list.push_back(ruleToJson(rule));
      plain.push_back(std::move(rule));
    }
    auto back = rulesFromJson(nlohmann::ordered_json::parse(list.dump()), "rules");
    REQUIRE(back);
    REQUIRE(back->size() == plain.size());
    for (size_t i = 0; i < plain.size(); ++i) {
      const Rule &a = plain[i], &b = (*back)[i];
      CHECK((a.name == b.name && a.match == b.match && a.replace == b.replace && a.guards == b.guards));
      checkSame(a, b);
    }
  }
}

TEST_CASE("every guard of the closed list is used or explained") {
  std::set<std::string_view> used;
  for (const CompiledRule& rule : testing::allRules())
    for (const GuardCall& call : rule.guards) used.insert(guardTable()[call.guard].name);
  for (const GuardInfo& g : guardTable()) CHECK(!g.help.empty());
  CHECK(used.size() >= 20);
}

}  // namespace uop
