// Dumps of each pass. A case's second line holds the passes as a pipeline's list; the dump is what the last one leaves.
#include "pass/manager.h"
#include "passes/passes.h"
#include "support/golden.h"

namespace uop {
namespace {

std::string passList(const std::string& text) {
  size_t at = text.find("# [");
  REQUIRE(at != std::string::npos);
  return text.substr(at + 2, text.find('\n', at) - at - 2);
}

std::string dumpOf(const std::filesystem::path& file) {
  std::string text = *readFile(file.string());
  SourceBuffer json("pipeline", R"({"version": 1, "passes": )" + passList(text) + "}"), source(file.filename().string(), text);
  Diagnostics jsonDiags(&json), diags(&source);
  auto pipeline = readPipeline(json, passes(), jsonDiags);
  INFO(jsonDiags.render());
  REQUIRE(pipeline);
  CHECK(pipeline->steps.back().pass->name == file.parent_path().filename().string());
  auto program = readProgram(source, diags);
  INFO(diags.render());
  REQUIRE(program);
  ManagerOptions options;
  options.verify = Verify::Run;
  auto done = PassManager(*pipeline, options).run(std::move(*program));
  REQUIRE(done);
  return printProgram(*done);
}

}  // namespace

TEST_CASE("each pass leaves what its golden files say, and the same results") {
  for (const auto& file : testing::programsIn(UOPC_TESTDATA "/passes")) {
    INFO(file);
    testing::checkGolden(std::filesystem::path(file).replace_extension(".golden"), dumpOf(file));
  }
}

TEST_CASE("every pass has golden files") {
  for (const PassInfo& pass : passes()) {
    INFO(pass.name);
    CHECK(!testing::programsIn(std::string(UOPC_TESTDATA "/passes/") + std::string(pass.name)).empty());
  }
}

}  // namespace uop
