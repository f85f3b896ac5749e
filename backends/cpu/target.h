// CPU targets: `cpu`, `cpu:native`, `cpu:<llvm cpu name>[,+feature,-feature…]`. Only x86-64 is generated for so far.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "support/diagnostics.h"

namespace uop::cpu {

struct CpuTarget {
  std::string cpu = "x86-64";         // LLVM's name: "znver4", "x86-64-v3"
  std::vector<std::string> features;  // changes to what the cpu implies, in order: "+avx512bf16", "-avx512f"
  friend bool operator==(const CpuTarget&, const CpuTarget&) = default;
};

// Errors: Diag::Usage, with the nearest known name of a cpu or feature.
Result<CpuTarget> parseTarget(std::string_view spec);

// The machine this runs on: its name, and the features in which it differs from what the name implies (a virtual
// machine may hide some).
CpuTarget hostTarget();

// The spelling that parseTarget reads back, never "native": "cpu:znver4,-avx512f".
std::string targetSpec(const CpuTarget&);

// Instruction set extensions that code for this target may use, by LLVM's names, sorted: what a CPU must have to run it.
// What only an operating system or a debugger can use (pku, shstk, …) is left out.
std::vector<std::string> requiredFeatures(const CpuTarget&);
bool hasFeature(const CpuTarget&, std::string_view feature);  // as LLVM spells it; implied ones too
unsigned vectorBits(const CpuTarget&);                        // of the widest vector: 512, 256, 128

std::vector<std::string> knownCpus();      // sorted, 64-bit ones only
std::vector<std::string> knownFeatures();  // that parseTarget accepts, sorted

}  // namespace uop::cpu
