// The command line of uoprun.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cmd/common/exit.h"

namespace uop::uoprun {

using NamedFile = std::pair<std::string, std::string>;  // NAME=FILE

struct Options {
  std::string input;  // an artifact's folder, or a .uop
  // compiling
  std::string target, pipeline;
  std::optional<int> level;
  std::vector<std::string> sets;
  std::string cache;                   // a folder; "": the user's
  bool useCache = true;
  std::optional<uint64_t> cacheSize;
  // binding
  std::vector<NamedFile> inputs, outputs, feeds;
  std::vector<std::string> inputFiles, outputFiles, prints;
  std::optional<uint64_t> random;
  std::string state, saveState;
  // running
  std::string device = "auto";
  int threads = 0;
  std::optional<int64_t> steps;
  bool check = false;
  int64_t bench = 0, warmup = 1;
  bool json = false, list = false, quiet = false, verbose = false;
  std::string profile;
  ColorMode color = ColorMode::Auto;
};

// What to run; or the exit status where there is nothing more to do (--help, --version, wrong usage), after printing.
struct Parsed {
  Options options;
  std::optional<int> exit;
};
Parsed parseOptions(const std::vector<std::string>& argv, std::ostream& out, std::ostream& err);

}  // namespace uop::uoprun
