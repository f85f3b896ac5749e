// --target: what is compiled for.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "backends/cpu/target.h"
#include "support/diagnostics.h"

namespace uop {

struct TargetChoice {
  std::string name = "cpu";  // the word before ':'
  cpu::CpuTarget cpu;        // of "cpu"
};

// Errors: Diag::Usage with the nearest name; Diag::Unsupported for one that this build does not generate code for.
Result<TargetChoice> parseTargetChoice(std::string_view spec);

std::string targetsText();  // --list-targets

}  // namespace uop
