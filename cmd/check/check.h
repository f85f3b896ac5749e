// One program, every way: interpreted before and after each pass, read back from each dump, compiled and run. What must
// agree is the oracle of the tests of whole programs, and of random ones.
#pragma once
#include <optional>

#include "cmd/compiler/frontend.h"
#include "pass/probe.h"

namespace uop {

enum class Failure : uint8_t {
  Text,      // a dump does not read back as what it was printed from
  Faults,    // the interpreter fails after a pass
  Differs,   // another result
  Refused,   // an error that blames the user
  Internal,  // an internal error
  Crash,
  Hang,
};

struct Finding {
  std::string pass;  // "read", "jit", or an instance of the pipeline
  std::string what;
  Failure kind = Failure::Internal;
  bool sameKind(const Finding& o) const { return pass == o.pass && kind == o.kind; }
};

struct PassCheck {
  std::optional<Finding> finding;
  size_t passes = 0;                // run and compared
  uint64_t loads = 0, ops = 0, flops = 0;  // as the interpreter counts them in the last program
};

struct CheckOptions {
  bool everyPass = true;  // else: the last one alone
  bool jit = false;
  int runs = 1;           // of the compiled program, each with what the last one left
  int threads = 1;        // that run it
  uint64_t maxSteps = InterpOptions{}.maxSteps;  // of the interpreter: more is a finding
};

// The built-in pipeline for cpu:native at -O`level`.
Compilation builtinCompilation(int level);

// A program whose inputs do not suit it (an index out of range, a race) has no finding and no passes.
PassCheck checkProgram(const Program&, const Arrays& inputs, const Compilation&, const CheckOptions& = {});

}  // namespace uop
