// --check: the reference interpreter on the same inputs.
#pragma once
#include "cmd/uoprun/binding.h"
#include "cmd/uoprun/runner.h"

namespace uop::uoprun {

// Compares results and final BUFFERs of `runner`, which has run all steps, with those of the interpreter. true: the same.
Result<bool> check(const Program& program, const Bindings& bindings, Runner& runner, int64_t steps, const Messages& messages);

}  // namespace uop::uoprun
