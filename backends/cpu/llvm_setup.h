// What the .cpp files of this folder share of LLVM; not for includes from elsewhere.
#pragma once
#include <llvm/MC/TargetRegistry.h>

namespace uop::cpu {

inline constexpr const char* kTriple = "x86_64-unknown-linux-gnu";

// Registers LLVM's x86 backend on the first call, from whichever thread, and returns it.
const llvm::Target& nativeTarget();

}  // namespace uop::cpu
