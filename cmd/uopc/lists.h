// --list-passes, --describe, --stats, --time-trace.
#pragma once
#include <string>

#include "pass/manager.h"
#include "runtime/profile.h"

namespace uop::uopc {

std::string passesText();
// Errors: Diag::Usage with the nearest name.
Result<std::string> describeText(std::string_view pass);

// `stages`: what ran beside the passes.
std::string statsText(const std::vector<PassRecord>& records, const std::vector<TraceSlice>& stages);
// `passesStart`: of the pass manager, on the clock of `stages`.
Trace timeTrace(const std::vector<PassRecord>& records, double passesStart, const std::vector<TraceSlice>& stages);

}  // namespace uop::uopc
