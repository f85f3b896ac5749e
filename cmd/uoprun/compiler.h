// The compiler as a shared library, loaded only where a .uop is to be compiled.
#pragma once
#include <ostream>

#include "cmd/uoprun/options.h"
#include "runtime/executor.h"

namespace uop::uoprun {

// Status of a compilation that failed after it said why on `err`; or an artifact whose code lives in the library.
struct Compiled {
  int status = 0;
  std::optional<Artifact> artifact;
};
// Errors: Diag::KernelLoad where the library cannot be found or loaded.
Result<Compiled> compileInMemory(const SourceBuffer& source, const Options& options, const Messages& messages);

}  // namespace uop::uoprun
