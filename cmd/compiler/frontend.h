// From options to a pipeline and from text to a lowered program: what uopc and libuopc.so share.
#pragma once
#include <optional>

#include "cmd/common/exit.h"
#include "cmd/compiler/target.h"
#include "pass/manager.h"

namespace uop {

struct CompileChoices {
  std::string target;  // "": the pipeline's, else cpu
  std::optional<int> level;
  std::string pipelineFile;
  std::vector<std::string> sets;
};

struct Compilation {
  TargetChoice target;
  Pipeline pipeline;
  unsigned optLevel = 2;  // of the C compiler
};

// The target and the pipeline in force. Problems are shown; nullopt and `status` then.
std::optional<Compilation> chooseCompilation(const CompileChoices& choices, const Messages& messages, int& status);

// A fault of the compiler: says so and leaves uopc-crash-HASH/ (program before the failing pass, pipeline, command line) in
// the current folder. Returns kCompilerFault.
int reportFault(const PassFault& fault, const Compilation& compilation, const ManagerOptions& options, const SourceBuffer& source,
                std::string_view commandLine, const Messages& messages);

}  // namespace uop
