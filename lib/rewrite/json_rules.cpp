#include "rewrite/json_rules.h"

namespace uop {
namespace {

using Json = nlohmann::ordered_json;

std::unexpected<Error> bad(std::string_view place, std::string what) { return fail(Diag::PipelineError, place, std::move(what)); }

Result<std::string> text(const Json& rule, const char* key, const std::string& place) {
  auto it = rule.find(key);
  if (it == rule.end()) return bad(place, fmt::format("a rule needs '{}'", key));
  if (!it->is_string()) return bad(fmt::format("{}.{}", place, key), fmt::format("expected a string, found {}", it->dump()));
  return it->get<std::string>();
}

Result<Rule> readRule(const Json& json, const std::string& place) {
  if (!json.is_object()) return bad(place, fmt::format("expected a rule {{name, match, replace, if}}, found {}", json.dump()));
  static const std::vector<std::string_view> known = {"name", "match", "replace", "if"};
  for (const auto& [key, value] : json.items())
    if (std::ranges::find(known, key) == known.end()) return bad(fmt::format("{}.{}", place, key), fmt::format("is not known here{}", suggest(key, known)));
  Rule rule;
  for (auto [key, into] : {std::pair{"name", &rule.name}, std::pair{"match", &rule.match}, std::pair{"replace", &rule.replace}}) {
    auto value = text(json, key, place);
    if (!value) return std::unexpected(value.error());
    *into = std::move(*value);
  }
  if (rule.name.empty()) return bad(place + ".name", "expected a name that is not empty");
  auto guards = json.find("if");
  if (guards == json.end()) return rule;
  if (!guards->is_array()) return bad(place + ".if", fmt::format("expected a list of guards, found {}", guards->dump()));
  for (size_t i = 0; i < guards->size(); ++i) {
    if (!(*guards)[i].is_string()) return bad(fmt::format("{}.if[{}]", place, i), fmt::format("expected a string, found {}", (*guards)[i].dump()));
    rule.guards.push_back((*guards)[i].get<std::string>());
  }
  return rule;
}

}  // namespace

Result<std::vector<Rule>> rulesFromJson(const Json& list, std::string_view place) {
  if (!list.is_array()) return bad(place, fmt::format("expected a list of rules, found {}", list.dump()));
  std::vector<Rule> out;
  for (size_t i = 0; i < list.size(); ++i) {
    std::string here = fmt::format("{}[{}]", place, i);
    auto rule = readRule(list[i], here);
    if (!rule) return std::unexpected(rule.error());
    for (const Rule& other : out)
      if (other.name == rule->name) return bad(here + ".name", fmt::format("two rules are called '{}'", rule->name));
    if (auto compiled = compileRule(*rule, false); !compiled) return bad(here, compiled.error().message);
    out.push_back(std::move(*rule));
  }
  return out;
}

Json ruleToJson(const Rule& rule) {
  if (rule.computed()) internalError(fmt::format("rule '{}' has computed parts and is no JSON", rule.name));
  Json out = {{"name", rule.name}, {"match", rule.match}, {"replace", rule.replace}};
  if (!rule.guards.empty()) out["if"] = rule.guards;
  return out;
}

}  // namespace uop
