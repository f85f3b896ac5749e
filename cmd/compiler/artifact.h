// A lowered program to what runs: a folder of files, or code in this process.
#pragma once
#include <memory>

#include "backends/cpu/jit.h"
#include "cmd/compiler/codegen.h"
#include "cmd/compiler/frontend.h"
#include "cmd/compiler/plan.h"

namespace uop {

// All that is known before the C compiler runs.
struct Built {
  ProgramPlan plan;
  std::vector<CodeUnit> units;
  std::string program;  // canonical text of the program as it was read
};

// `lowered`: what the pipeline left. `original`: the program as read, whose names are bound. Errors: the user's, such as a
// pipeline that does not end in kernels.
Result<Built> build(const Program& lowered, const Program& original, const Compilation& compilation);

using FileList = std::vector<std::pair<std::string, std::string>>;
inline constexpr std::string_view kArtifactMarker = "manifest.json";

// The artifact's files by name. The same input gives the same bytes, whatever the cache holds.
Result<FileList> artifactFiles(Built built, const Compilation& compilation, const CodegenOptions& options);

struct Jitted {
  Manifest manifest;  // ManifestForm::InMemory
  std::unique_ptr<cpu::Jit> code;
};
Result<Jitted> jit(Built built, const Compilation& compilation, const CodegenOptions& options);

}  // namespace uop
