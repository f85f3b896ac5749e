// --bench and --profile.
#pragma once
#include "cmd/uoprun/options.h"
#include "cmd/uoprun/runner.h"
#include "runtime/profile.h"

namespace uop::uoprun {

// Runs --warmup + --bench times, BUFFERs restored between, and prints the table (or JSON).
Result<void> bench(const Options& options, Runner& runner, const Messages& messages, std::ostream& out);

}  // namespace uop::uoprun
