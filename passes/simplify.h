// simplify: the built-in rule sets, applied until nothing changes.
#pragma once
#include "pass/pass.h"
#include "rewrite/engine.h"

namespace uop {

// `sets` by name, all where none is named; an unknown one is an error (Diag::PassError) with the nearest name. `limit` 0:
// a bound that grows with the program.
Result<Program> simplify(Program, std::span<const std::string> sets, uint64_t limit, FpMode, RewriteStats&);

}  // namespace uop
