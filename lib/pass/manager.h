// Runs a pipeline's list. All that is not a pass's own work happens here: compaction, timing, verification, dumps.
#pragma once
#include <functional>
#include <map>
#include <optional>

#include "pass/pipeline.h"

namespace uop {

struct PassRecord {
  std::string instance;
  double startUs = 0, durationUs = 0;  // from the manager's start
  size_t nodesIn = 0, nodesOut = 0;
  std::map<std::string, uint64_t> hits;  // of each rule
  std::vector<std::string> remarks;
};

struct DumpEvent {
  size_t number;  // counts passes as they run, from 1
  std::string_view instance;
  bool before;    // else after
  const Program& program;
  bool unchanged;  // the text equals that of the last dump
};

enum class Verify : uint8_t { Never, Invariants, Run };

struct ManagerOptions {
  std::string startAt, startAfter, stopAfter;       // instances; "": the whole list
  std::vector<std::string> dumpBefore, dumpAfter;   // instances, or "all"
  std::function<Result<void>(const DumpEvent&)> dump;
  Verify verify = Verify::Never;
  uint64_t seed = 1;  // of the inputs of Verify::Run
};

// Instances that the options name exist, and stand between the passes of the list (not inside a repeat, where the number of
// the round would be a state beside the program). Errors: Diag::Usage.
Result<void> checkManagerOptions(const Pipeline& pipeline, const ManagerOptions& options);

// The form that a program must have to be started with these options, and the form that the run leaves.
Form startForm(const Pipeline& pipeline, const ManagerOptions& options);
Form endForm(const Pipeline& pipeline, const ManagerOptions& options);

// A fault of the compiler, with the pass that it happened in and its place in the order of running.
struct PassFault : InternalError {
  PassFault(std::string instance, size_t run, const std::string& text) : InternalError(text), instance(std::move(instance)), run(run) {}
  std::string instance;
  size_t run;  // passes that ended well before
};

class PassManager {
 public:
  PassManager(const Pipeline& pipeline, ManagerOptions options) : pipeline_(pipeline), options_(std::move(options)) {}

  // Throws PassFault. After each pass the program is compacted, so that a dump compiles on to the same bytes.
  Result<Program> run(Program program);
  // The program as it is before the pass that runs as number `count` + 1: for a reproducer.
  Result<Program> runUpTo(Program program, size_t count);

  const std::vector<PassRecord>& records() const { return records_; }

 private:
  Result<void> runItems(const std::vector<PipelineItem>& items);
  Result<void> runRepeat(const PipelineItem& item);
  Result<void> runStep(const PassStep& step);
  Result<void> dump(const PassStep& step, bool before);
  void verify(const PassStep& step, const std::string& textBefore);
  bool inRange(const PipelineItem& item) const;
  double now() const;

  const Pipeline& pipeline_;
  ManagerOptions options_;
  std::optional<Program> program_;
  Form form_ = Form::Tensor;
  std::vector<PassRecord> records_;
  size_t ran_ = 0, skipped_ = 0, most_ = SIZE_MAX;
  std::string lastDump_;
  bool dumped_ = false;
  int64_t startNs_ = 0;
};

}  // namespace uop
