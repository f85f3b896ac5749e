// C functions to objects: units of several small functions, compiled side by side.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "backends/cpu/compile.h"
#include "backends/cstyle/emit.h"

namespace uop {

struct CodeUnit {
  std::string name, source;
};

// The cut depends on the functions' sizes alone, so that the same program gives the same objects on every machine.
std::vector<CodeUnit> makeUnits(std::span<const cstyle::KernelSource> sources);

Result<std::vector<std::string>> compileUnits(std::span<const CodeUnit> units, const cpu::CpuTarget& target, unsigned optLevel);

}  // namespace uop
