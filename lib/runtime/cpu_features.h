// What this CPU can do, by LLVM's feature names ("avx2", "avx512bf16", "fma").
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/diagnostics.h"

namespace uop {

// Errors: Diag::MissingFeature for a name that is not known, which may mean anything.
Result<bool> cpuHasFeature(std::string_view name);

// Errors: Diag::MissingFeature, which lists what is lacking or not known.
Result<void> requireCpuFeatures(std::span<const std::string> names);

// The names known here, sorted.
std::vector<std::string_view> knownCpuFeatures();

}  // namespace uop
