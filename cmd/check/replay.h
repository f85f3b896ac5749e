// A random program by its seed: checked, and made smaller where it fails.
#pragma once
#include "cmd/check/check.h"
#include "cmd/check/isolate.h"
#include "cmd/check/random_program.h"

namespace uop {

// -O0 … -O3, and -O2 with options of its passes drawn from the seed.
inline constexpr int kLevels = 5, kDrawnLevel = 4;

struct ReplayOptions {
  RandomOptions program;
  int seconds = 60;  // past which a check hangs
};

// A program that breaks the format is a finding of "generator".
PassCheck checkSeed(uint64_t seed, int level, bool jit, const ReplayOptions& = {});

struct SmallestFailure {
  Program program;
  Finding finding;
};
// nullopt where it does not fail. Crashes and hangs happen in processes of their own.
std::optional<SmallestFailure> smallestFailure(uint64_t seed, int level, const ReplayOptions& = {});

}  // namespace uop
