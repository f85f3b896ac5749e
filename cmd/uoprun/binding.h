// Binding: --input, --inputs, --state, --random and --feed.
#pragma once
#include "cmd/uoprun/options.h"
#include "cmd/uoprun/runner.h"
#include "runtime/arrays.h"

namespace uop::uoprun {

// What every runner of a program is bound to: read once, so that --check binds the same to the interpreter.
struct Bindings {
  ArrayMap arrays;                                    // by name of PARAM or BUFFER
  std::vector<std::pair<std::string, Tensor>> feeds;  // bound slice by slice
  int64_t steps = 1;
};

// Reads the files and draws what --random asks for. Warnings (arrays too many) go to `messages`.
Result<Bindings> readBindings(const Options& options, const Signature& signature, const Messages& messages);

// Binds all of `arrays`, and the feeds' first slices. Errors: a PARAM without a value too.
Result<void> bindAll(Runner& runner, const Bindings& bindings);
Result<void> bindStep(Runner& runner, const Bindings& bindings, int64_t step);

void warnUnboundBuffers(const Runner& runner, const Messages& messages);

}  // namespace uop::uoprun
