// What a program is bound to and gives back, in the manifest's terms: the same for an artifact and for the interpreter.
#pragma once
#include "ir/program.h"
#include "runtime/manifest.h"

namespace uop {

struct Signature {
  std::vector<ArgumentInfo> arguments;  // by slot
  std::vector<BufferInfo> buffers;      // by slot
  std::vector<ResultInfo> results;      // those that are values, in order; places are not set
};

Signature signatureOf(const Program& program);

// Elements that the longest chain of additions of the program sums: what the accuracy of its floats depends on.
int64_t longestReduction(const Program& program);

std::string typeText(DType dtype, std::span<const int64_t> shape);  // "f32 [2,3]"

}  // namespace uop
