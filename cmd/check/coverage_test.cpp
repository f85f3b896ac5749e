// What the tables name appears in tests: each op, dtype, kind of RANGE and space in a program that is run and compared, each
// rule in a rewrite or in the rules' own tests, each diagnostic in a golden message or by name.
#include <set>

#include "cmd/check/check.h"
#include "passes/passes.h"
#include "passes/rules_testing.h"
#include "support/golden.h"

namespace uop {
namespace {

namespace fs = std::filesystem;

std::vector<Program> comparedPrograms() {
  std::vector<Program> out;
  for (const char* folder : {"/corpus", "/programs", "/passes"})
    for (const fs::path& file : testing::programsIn(UOPC_TESTDATA + std::string(folder))) {
      SourceBuffer source(file.string(), *readFile(file.string()));
      Diagnostics diags(&source);
      if (auto p = readProgram(source, diags)) out.push_back(std::move(*p));
    }
  return out;
}

std::string testTexts() {
  std::string all;
  for (const char* top : {"lib", "passes", "backends", "cmd"})
    for (const auto& e : fs::recursive_directory_iterator(fs::path(UOPC_SOURCE_DIR) / top))
      if (e.path().string().ends_with("_test.cpp")) all += *readFile(e.path().string());
  for (const auto& e : fs::recursive_directory_iterator(UOPC_TESTDATA))
    if (e.path().extension() == ".golden" || e.path().extension() == ".err") all += *readFile(e.path().string());
  return all;
}

// The longest stretch of a message's format that stands in every message.
std::string literalPart(std::string_view format) {
  std::string best, now;
  for (size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '{') {
      now += format[i];
    } else {
      i = format.find('}', i);
      if (now.size() > best.size()) best = now;
      now.clear();
    }
  }
  if (now.size() > best.size()) best = now;
  return best.empty() ? best : best.substr(std::min(best.find_first_not_of(' '), best.size()));
}

struct Row {
  std::string_view name, text;
};
constexpr Row kDiagnostics[] = {
#define DIAG(name, severity, text) {#name, text},
#include "support/diagnostics.def"
};

}  // namespace

TEST_CASE("each op, dtype, kind and space appears in a program that is run") {
  std::set<Op> ops;
  std::set<DType> types;
  std::set<Kind> kinds;
  std::set<Space> allocs, stages;
  for (const Program& p : comparedPrograms())
    for (NodeId n = 0; n < p.graph.size(); ++n) {
      ops.insert(p.graph.op(n));
      types.insert(p.graph.dtype(n));
      if (p.graph.op(n) == Op::Range) kinds.insert(p.graph.kind(n));
      if (p.graph.op(n) == Op::Alloc) allocs.insert(p.graph.space(n));
      if (p.graph.op(n) == Op::Stage) stages.insert(p.graph.space(n));
    }
  for (size_t i = 0; i < kOpCount; ++i) {
    INFO(name(static_cast<Op>(i)));
    CHECK(ops.contains(static_cast<Op>(i)));
  }
  for (std::string_view d : {"bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "bf16", "f32", "f64", "index", "void"}) {
    INFO(d);
    CHECK(types.contains(dtypeByName(d).value()));
  }
  CHECK(kinds.size() == kKindNames.size());
  CHECK(allocs.size() == kSpaceNames.size());
  CHECK(stages.size() == kSpaceNames.size());
}

TEST_CASE("each rule is tried by the rules' own test or rewrites some program") {
  std::set<std::string> hit;
  SourceBuffer json("tensors", R"({"version": 1, "passes": ["canonicalize", "simplify"]})");
  Diagnostics diags(&json);
  SourceBuffer bare("as read", R"({"version": 1, "passes": ["simplify"]})");
  std::vector<Pipeline> pipelines{*readPipeline(json, passes(), diags), *readPipeline(bare, passes(), diags)};
  for (int level : {1, 2}) pipelines.push_back(builtinCompilation(level).pipeline);
  for (const Program& p : comparedPrograms())
    for (const Pipeline& pipeline : pipelines) {
      PassManager manager(pipeline, {});
      if (!manager.run(compacted(p))) continue;
      for (const PassRecord& record : manager.records())
        for (const auto& [rule, count] : record.hits) hit.insert(rule);
    }
  for (const CompiledRule& rule : testing::allRules()) {
    INFO(rule.rule.name);
    CHECK((hit.contains(std::string(rule.rule.name)) || rule.rule.fastOnly || testing::Typing(rule).elementwise));
  }
}

TEST_CASE("each diagnostic appears in a test") {
  std::string tests = testTexts();
  for (const Row& row : kDiagnostics) {
    INFO(row.name << ": " << row.text);
    bool byName = tests.find("Diag::" + std::string(row.name)) != std::string::npos;
    std::string literal = literalPart(row.text);
    CHECK((byName || (literal.size() > 4 && tests.find(literal) != std::string::npos)));
  }
}

}  // namespace uop
