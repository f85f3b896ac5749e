// A pipeline: data that says which passes run, in what order, with what options. Read from JSON (pipelines.schema.json),
// checked whole before anything runs.
#pragma once
#include <optional>

#include "pass/pass.h"

namespace uop {

// One pass of the list. `instance` names it: "simplify", then "simplify#2", counted from the front.
struct PassStep {
  const PassInfo* pass = nullptr;
  std::string instance;
  PassOptions options;
  std::string place;  // in the file: "passes[2]"
};

struct PipelineItem {
  size_t step = 0;                  // index into Pipeline::steps; of a repeat: its first step
  std::vector<PipelineItem> body;   // of a repeat, which runs until a round changes nothing
  int64_t limit = 0;                // of a repeat: the most rounds; 0: this is no repeat
  bool isRepeat() const { return limit != 0; }
};

struct Pipeline {
  static constexpr int64_t kVersion = 1;
  std::string name;
  std::string target;  // "" fits every target
  FpMode fp = FpMode::Default;
  std::vector<PassStep> steps;  // flat, in the order of the file
  std::vector<PipelineItem> items;

  const PassStep* find(std::string_view instance) const;
  std::vector<std::string_view> instances() const;
};

// Reads and checks. Every problem is reported, with its place: a JSON syntax error by line and column, others by path
// ("passes[2].limit"). `diags` should have `source` as its source.
std::optional<Pipeline> readPipeline(const SourceBuffer& source, PassTable table, Diagnostics& diags);

// The form that `pipeline` leaves a program in, and the form in which `instance` finds it.
Form finalForm(const Pipeline& pipeline);
Form formBefore(const Pipeline& pipeline, std::string_view instance);

// --set PASS.option=value. Errors: Diag::Usage, with nearest names.
Result<void> setOption(Pipeline& pipeline, std::string_view assignment);

// JSON with the value of every option; readPipeline gives the same pipeline back.
std::string printPipeline(const Pipeline& pipeline);

std::string_view fpModeName(FpMode);

}  // namespace uop
