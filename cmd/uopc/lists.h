// --list-passes, --describe, --stats, --time-trace.
#pragma once
#include <string>

#include "pass/manager.h"
#include "runtime/profile.h"

namespace uop::uopc {

std::string passesText();
// Errors: Diag::Usage with the nearest name.
Result<std::string> describeText(std::string_view pass);

std::string statsText(const std::vector<PassRecord>& records);
Trace timeTrace(const std::vector<PassRecord>& records);

}  // namespace uop::uopc
