// The reference interpreter: runs a valid program of any stage, the slow and obvious way. It shares no code with emitters
// or passes; what it says is what a program means.
//
// Iterations of independent RANGE kinds run in a seeded shuffled order, fresh ALLOCs are poisoned, an index outside of its
// axis and a race on memory are faults: a wrong kind= or a missing order shows.
#pragma once
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "ir/program.h"

namespace uop {

// Dense, row-major, elements as they lie in memory.
struct Array {
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  std::vector<std::byte> data;
};

struct InterpOptions {
  uint64_t shuffleSeed = 1;
  uint64_t maxSteps = uint64_t{1} << 36;       // element operations and iterations
  int64_t maxBytes = int64_t{12} << 30;        // of all values that live at once
  bool checkRaces = true;
};

struct InterpResult {
  std::map<std::string, Array> results;        // void results give none
  std::map<std::string, Array> buffers;        // final contents of BUFFERs, and of PARAMs that were written
  uint64_t loads = 0;                          // elements read from memory
  uint64_t flops = 0;                          // arithmetic on floats: isFlop(), and reduction steps
  uint64_t ops = 0;                            // element-wise operations on data (not on indices and gates, nor selections by these) and reduction steps
};

// `inputs` by binding name (program.h); an unbound BUFFER is zeros. Errors: Diag::Unbound, Diag::BindType,
// Diag::RuntimeFault (an index out of bounds, a race, no order, out of budget) with the node's text.
Result<InterpResult> interpret(const Program&, const std::map<std::string, Array>& inputs, const InterpOptions& = {});

}  // namespace uop
