// A lowered program as launches of C functions: the manifest, without the compiled files, and the functions.
#pragma once
#include "backends/cstyle/emit.h"
#include "cmd/common/signature.h"

namespace uop {

struct ProgramPlan {
  Manifest manifest;                            // kernels have name and symbol, no file yet
  std::vector<cstyle::KernelSource> sources;    // by kernel
};

// `signature` is that of the program as it was read, whose names are bound. `lowered` has form Lowered.
Result<ProgramPlan> planProgram(const Program& lowered, const Signature& signature, const Target& target);

}  // namespace uop
