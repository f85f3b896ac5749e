#include "pass/pipeline.h"

#include <catch2/catch.hpp>

#include "pass/form.h"

namespace uop {
namespace {

Result<Program> same(Program p, PassContext&) { return p; }

const std::vector<PassInfo> kTable = {
    {"canonicalize", same, Form::Tensor, Form::Canonical, "", {}},
    {"inline-calls", same, Form::Canonical, Form::Flat, "", {{"limit", "int", "7", ""}}},
    {"simplify", same, Form::Any, Form::Any, "", {{"rules", "strings", "[]", ""}, {"limit", "int", "0", ""}, {"on", "bool", "true", ""}}},
    {"rangeify", same, Form::Flat, Form::Ranges, "", {{"name", "string", "\"x\"", ""}}},
};

struct Reading {
  std::optional<Pipeline> pipeline;
  std::string messages;
  std::vector<Error> errors;
};

Reading read(std::string text) {
  SourceBuffer source("p.json", std::move(text));
  Diagnostics diags(&source);
  auto pipeline = readPipeline(source, kTable, diags);
  return {std::move(pipeline), diags.render(), diags.all()};
}

Reading passes(const std::string& list) { return read("{\"version\": 1, \"name\": \"t\", \"passes\": [" + list + "]}"); }

TEST_CASE("what a pipeline's file gets wrong is of a kind of its own") {
  CHECK(passes(R"("no-such-pass")").errors.at(0).kind == Diag::PipelineError);
  CHECK(read("{").errors.at(0).kind == Diag::JsonSyntax);
}

TEST_CASE("a pipeline reads, prints and reads back") {
  auto [p, messages, errors] = read(R"({"version": 1, "name": "mine", "target": "cpu", "fp": "strict", "passes": [
      {"pass": "canonicalize"}, {"pass": "inline-calls", "limit": 3},
      {"repeat": {"until": "fixed-point", "limit": 4, "passes": ["simplify", {"pass": "simplify", "rules": ["a"]}]}}, "rangeify"]})");
  INFO(messages);
  REQUIRE(p);
  CHECK(p->fp == FpMode::Strict);
  CHECK(p->instances() == std::vector<std::string_view>{"canonicalize", "inline-calls", "simplify", "simplify#2", "rangeify"});
  CHECK(p->steps[1].options.integer("limit") == 3);
  CHECK(p->steps[3].options.strings("rules") == std::vector<std::string>{"a"});
  CHECK(p->items[2].limit == 4);
  std::string text = printPipeline(*p);
  CHECK(text == R"({ "version": 1, "name": "mine", "target": "cpu", "fp": "strict",
  "passes": [
    { "pass": "canonicalize" },
    { "pass": "inline-calls", "limit": 3 },
    { "repeat": { "until": "fixed-point", "limit": 4, "passes": [
      { "pass": "simplify", "rules": [], "limit": 0, "on": true },
      { "pass": "simplify", "rules": ["a"], "limit": 0, "on": true }
    ] } },
    { "pass": "rangeify", "name": "x" }
  ] }
)");
  auto again = read(text);
  REQUIRE(again.pipeline);
  CHECK(printPipeline(*again.pipeline) == text);
}

TEST_CASE("JSON syntax errors have a line and a column") {
  CHECK(read("{\"version\": 1,\n  \"passes\": [}").messages.starts_with("p.json:2:14: error: bad JSON: unexpected '}'"));
  CHECK(read("").messages.starts_with("p.json:1:1: error: bad JSON: "));
  CHECK(read(std::string(10000, '[')).messages.starts_with("p.json:1:65: error: bad JSON: nested too deep"));
  CHECK(read(R"({"version": 1, "version": 1})").messages == "p.json: error: bad JSON: the key 'version' stands twice in one object\n");
}

TEST_CASE("what is wrong is named with its place and the nearest right name") {
  struct Case {
    std::string list, message;
  };
  auto [list, message] = GENERATE(values<Case>({
      {R"({"pass": "simplfy"})", "passes[0].pass: there is no pass 'simplfy'; did you mean 'simplify'?"},
      {R"("canonicalise")", "passes[0]: there is no pass 'canonicalise'; did you mean 'canonicalize'?"},
      {R"({"pass": "simplify", "limt": 1})", "passes[0].limt: is not known here; did you mean 'limit'?"},
      {R"({"pass": "simplify", "limit": "x"})", "passes[0].limit: expected an integer of at least 0, found \"x\""},
      {R"({"pass": "simplify", "limit": 1.5})", "passes[0].limit: expected an integer of at least 0, found 1.5"},
      {R"({"pass": "simplify", "limit": -1})", "passes[0].limit: expected an integer of at least 0, found -1"},
      {R"({"pass": "simplify", "on": 1})", "passes[0].on: expected true or false, found 1"},
      {R"({"pass": "simplify", "rules": "a"})", "passes[0].rules: expected a list of strings, found \"a\""},
      {R"({"pass": "simplify", "rules": ["a", 1]})", "passes[0].rules: expected a list of strings, found [\"a\",1]"},
      {R"({"passes": 1})", "passes[0]: expected a pass, {\"pass\": NAME, …}, or {\"repeat\": …}, found {\"passes\":1}"},
      {R"({"repeat": {"until": "never", "passes": []}})", "passes[0].repeat.until: expected \"fixed-point\", found \"never\""},
      {R"({"repeat": {"limit": 0, "passes": []}})", "passes[0].repeat.limit: expected an integer from 1 to 1000000, found 0"},
      {R"({"repeat": {"passes": ["x"]}})", "passes[0].repeat.passes[0]: there is no pass 'x'"},
      {R"("canonicalize", "rangeify")",
       "passes[1]: rangeify needs a program of form 'flat' (CALLs on whole places alone), but here it has form 'canonical' (broadcasts explicit); inline-calls gives it"},
      {R"("canonicalize", "inline-calls", "rangeify", "canonicalize")",
       "passes[3]: canonicalize#2 needs a program of form 'tensor' (any tensor program), but here it has form 'ranges' (loops over scalars)"},
  }));
  auto [p, messages, errors] = passes(list);
  CHECK_FALSE(p);
  CHECK(messages == "p.json: error: " + message + "\n");
}

TEST_CASE("the head of a pipeline is checked") {
  CHECK(read("[]").messages == "p.json: error: pipeline: expected an object, found []\n");
  CHECK(read(R"({"version": 2, "passes": []})").messages == "p.json: error: version: expected 1, the version that this program reads, found 2\n");
  CHECK(read(R"({"passes": []})").messages == "p.json: error: version: is missing: 1 is expected\n");
  CHECK(read(R"({"version": 1})").messages == "p.json: error: passes: is missing: a list of passes is expected\n");
  CHECK(read(R"({"version": 1, "passes": [], "fp": "loose"})").messages == "p.json: error: fp: expected \"strict\", \"default\" or \"fast\", found \"loose\"\n");
  CHECK(read(R"({"version": 1, "passes": [], "nmae": ""})").messages == "p.json: error: nmae: is not known here; did you mean 'name'?\n");
}

TEST_CASE("a repeat must be able to run twice") {
  CHECK_FALSE(passes(R"("canonicalize", {"repeat": {"passes": ["inline-calls", "rangeify"]}})").pipeline);
  CHECK(passes(R"("canonicalize", {"repeat": {"passes": ["inline-calls", "canonicalize"]}}, "rangeify")").pipeline);
}

TEST_CASE("--set changes one option of one pass") {
  auto p = passes(R"("canonicalize", "simplify", "inline-calls", "simplify")").pipeline;
  REQUIRE(p);
  CHECK(setOption(*p, "simplify#2.rules=a,b"));
  CHECK(setOption(*p, "simplify.on=false"));
  CHECK(p->steps[3].options.strings("rules") == std::vector<std::string>{"a", "b"});
  CHECK(p->steps[1].options.strings("rules").empty());
  CHECK_FALSE(p->steps[1].options.boolean("on"));
  auto message = [&](std::string_view text) { return setOption(*p, text).error().message; };
  CHECK(message("simplify") == "--set simplify: expected PASS.option=value");
  CHECK(message("simplfy.limit=1") == "--set simplfy.limit=1: the pipeline 't' has no pass 'simplfy'; did you mean 'simplify'?");
  CHECK(message("simplify.limt=1") == "--set simplify.limt=1: simplify has no option 'limt'; did you mean 'limit'?");
  CHECK(message("simplify.limit=x") == "--set simplify.limit=x: expected an integer of at least 0, found 'x'");
}

TEST_CASE("forms follow the list") {
  auto p = passes(R"("canonicalize", "inline-calls", "simplify", "rangeify")").pipeline;
  REQUIRE(p);
  CHECK(finalForm(*p) == Form::Ranges);
  CHECK(formBefore(*p, "inline-calls") == Form::Canonical);
  CHECK(formBefore(*p, "rangeify") == Form::Flat);
}

}  // namespace
}  // namespace uop
