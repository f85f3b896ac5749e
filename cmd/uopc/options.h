// The command line of uopc.
#pragma once
#include "cmd/compiler/codegen.h"
#include "cmd/compiler/frontend.h"
#include "cmd/uopc/dump.h"

namespace uop::uopc {

enum class Emit : uint8_t { Artifact, Uop, C, LlvmIr, Asm, Obj, Ptx, Source };

struct Options {
  std::string input, output;
  CompileChoices compile;
  CacheChoices cache;
  ManagerOptions manager;
  std::string dumpDir, original, timeTrace, depfile;
  DumpFormat dumpFormat = DumpFormat::Uop;
  std::optional<Emit> emit;
  bool stats = false, verbose = false, quiet = false;
  bool listPasses = false, listTargets = false, listRules = false, printPipeline = false;
  std::string describe, logLevel;
  ColorMode color = ColorMode::Auto;
  std::string commandLine;
};

// What to do; or the exit status where there is nothing more to do (--help, --version, wrong usage), after printing.
struct Parsed {
  Options options;
  std::optional<int> exit;
};
Parsed parseOptions(const std::vector<std::string>& argv, std::ostream& out, std::ostream& err);

}  // namespace uop::uopc
