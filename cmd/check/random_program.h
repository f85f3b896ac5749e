// Random programs that the format calls valid: tensors of every dtype, movement, reductions, views, writes in place, calls,
// loops. The same seed gives the same program on every machine.
//
// Only what the format defines is generated, and only what a compiled program must reproduce: comparisons, truncations and
// casts see values that are exact whatever the order of sums; what is rounded goes through few further steps.
#pragma once
#include "pass/probe.h"

namespace uop {

struct RandomOptions {
  size_t steps = 16;            // at most, that add to the pool of values
  size_t maxNodes = 400;        // past which none is added
  int64_t maxElements = 256;    // of one value
  unsigned largePercent = 4;    // of programs, whose values may have more
  int64_t largeElements = 16384;
};

Program randomProgram(uint64_t seed, const RandomOptions& = {});

// Small integers for floats, small ones and limits for integers, within min and max.
Arrays randomInputs(const Program&, uint64_t seed);

}  // namespace uop
