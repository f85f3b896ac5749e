// What is shown and written after a run, and --list.
#pragma once
#include "cmd/uoprun/options.h"
#include "cmd/uoprun/runner.h"

namespace uop::uoprun {

// Names given by --output and --print are results of the program, files have endings that can hold them: before anything runs.
Result<void> checkOutputs(const Options& options, const Signature& signature);

// --output, --outputs, --save-state, --print; a summary of each result where none of them is given.
Result<void> writeOutputs(const Options& options, Runner& runner, std::ostream& out);

std::string listText(const Manifest& manifest);

}  // namespace uop::uoprun
