#include "cmd/compiler/builtin.h"

#include <catch2/catch.hpp>

#include "cmd/compiler/frontend.h"
#include "passes/passes.h"

namespace uop {
namespace {

TEST_CASE("every built-in pipeline reads, ends in code and names itself") {
  for (const BuiltinPipeline& b : builtinPipelines()) {
    INFO(b.name);
    SourceBuffer source(std::string(b.name) + ".json", std::string(b.json));
    Diagnostics diags(&source);
    auto pipeline = readPipeline(source, passes(), diags);
    INFO(diags.render());
    REQUIRE(pipeline);
    CHECK(pipeline->name == b.name);
    CHECK(finalForm(*pipeline) == (b.name == "interp" ? Form::Canonical : Form::Lowered));
  }
}

TEST_CASE("every option's default has its type, every pass its help") {
  for (const PassInfo& pass : passes()) {
    INFO(pass.name);
    CHECK(!pass.help.empty());
    auto defaults = nlohmann::ordered_json::object();
    for (const OptionSpec& o : pass.options) defaults[std::string(o.name)] = nlohmann::ordered_json::parse(o.def);
    for (const OptionSpec& o : pass.options) {
      INFO(o.name);
      CHECK(!o.help.empty());
      Pipeline p;
      p.steps.push_back({&pass, std::string(pass.name), PassOptions(defaults), ""});
      CHECK(setOption(p, std::string(pass.name) + "." + std::string(o.name) + "=" + std::string(o.def)));
    }
  }
}

TEST_CASE("targets are told apart") {
  CHECK(parseTargetChoice("cpu")->name == "cpu");
  CHECK(parseTargetChoice("cpu:znver4")->cpu.cpu == "znver4");
  CHECK(parseTargetChoice("interp")->name == "interp");
  CHECK(parseTargetChoice("cup").error().message == "there is no target 'cup'; did you mean 'cpu'?");
  CHECK(parseTargetChoice("cuda:sm_90").error().kind == Diag::Unsupported);
}

}  // namespace
}  // namespace uop
