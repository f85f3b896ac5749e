// The text of rules: what is accepted, and what each mistake says.
#include <catch2/catch.hpp>

#include "rewrite/json_rules.h"

namespace uop {
namespace {

std::string problem(Rule rule) {
  auto compiled = compileRule(std::move(rule), false);
  return compiled ? "" : compiled.error().message;
}

std::string jsonProblem(std::string_view text) {
  auto rules = rulesFromJson(nlohmann::ordered_json::parse(text), "passes[2].rules");
  return rules ? "" : rules.error().message;
}

}  // namespace

TEST_CASE("mistakes in rules are said precisely") {
  using Row = std::pair<Rule, const char*>;
  for (const auto& [rule, text] : {
           Row{{"r", "(NEGG ?x)", "?x"}, "rule 'r': unknown op 'NEGG'; did you mean 'NEG'? at character 6 of '(NEGG ?x)'"},
           Row{{"r", "(NEG ?x)", "?y"}, "?y is unbound: the pattern does not mention it"},
           Row{{"r", "(NEG ?x ?y)", "?x"}, "NEG takes 1 sources, found 2"},
           Row{{"r", "?x", "?x"}, "the pattern must be an op over terms"},
           Row{{"r", "(NEG ?x", "?x"}, "expected ')', found the end"},
           Row{{"r", "(NEG ?x) z", "?x"}, "expected the end, found 'z'"},
           Row{{"r", "(NEG ?x)", ""}, "expected '?name' or '(', found the end"},
           Row{{"r", "(NEG ?)", "?x"}, "expected a name after '?'"},
           Row{{"r", "(ADD ?x ?c:konst)", "?x"}, "expected 'const' after ':'"},
           Row{{"r", "(ADD ?x (CONST two))", "?x"}, "expected a literal, found 'two'"},
           Row{{"r", "(ADD ?x ?y)", "(= (ADD ?x ?y))"}, "(= ...) computes on constants, and ?x is not bound by ?x:const"},
           Row{{"r", "(NEG ?x)", "(CAST ?x)"}, "CAST needs dtype="},
           Row{{"r", "(CAST ?x dtype=f31)", "?x"}, "f31"},
           Row{{"r", "(CAST ?x dtpe=f32)", "?x"}, "CAST has no attribute 'dtpe'; did you mean 'dtype'?"},
           Row{{"r", "(CAST ?x dtype=?x)", "?x"}, "?x is used both for a node and for an attribute"},
           Row{{"r", "(NEG ?x)", "?x", {"flot(?x)"}}, "guard 'flot(?x)': there is no guard 'flot'; did you mean 'float'?"},
           Row{{"r", "(NEG ?x)", "?x", {"lt(?x)"}}, "lt takes 2 arguments, found 1"},
           Row{{"r", "(NEG ?x)", "?x", {"float ?x"}}, "expected name(?x, ...)"},
           Row{{"r", "(NEG ?x)", "?x", {"float(?y)"}}, "?y is unbound"},
       }) {
    INFO(rule.match << " => " << rule.replace);
    CHECK_THAT(problem(rule), Catch::Contains(text));
  }
}

TEST_CASE("rules in JSON name the place of a mistake") {
  CHECK(jsonProblem(R"j([{"name": "mul-by-two", "match": "(MUL ?x (CONST 2))", "replace": "(ADD ?x ?x)", "if": ["float(?x)"]}])j").empty());
  CHECK_THAT(jsonProblem(R"j({"name": "x"})j"), Catch::Contains("passes[2].rules: expected a list of rules"));
  CHECK_THAT(jsonProblem(R"j([{"name": "x", "match": "(NEG ?x)"}])j"), Catch::Contains("passes[2].rules[0]: a rule needs 'replace'"));
  CHECK_THAT(jsonProblem(R"j([{"name": "x", "match": 3, "replace": ""}])j"), Catch::Contains("passes[2].rules[0].match: expected a string, found 3"));
  CHECK_THAT(jsonProblem(R"j([{"name": "x", "macth": "", "replace": ""}])j"), Catch::Contains("passes[2].rules[0].macth: is not known here; did you mean 'match'?"));
  CHECK_THAT(jsonProblem(R"j([{"name": "x", "match": "(NEG ?x)", "replace": "?x", "if": [1]}])j"), Catch::Contains("passes[2].rules[0].if[0]: expected a string, found 1"));
  CHECK_THAT(jsonProblem(R"j([{"name": "x", "match": "(NEG ?x)", "replace": "?y"}])j"), Catch::Contains("passes[2].rules[0]: rule 'x': ?y is unbound"));
  CHECK_THAT(jsonProblem(R"j([{"name": "x", "match": "(NEG ?x)", "replace": "?x"}, {"name": "x", "match": "(NEG ?x)", "replace": "?x"}])j"), Catch::Contains("two rules are called 'x'"));
}

}  // namespace uop
