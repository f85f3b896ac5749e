#include "cmd/uoprun/options.h"

#include <CLI/CLI.hpp>
#include <map>

#include "cmd/common/version.h"

namespace uop::uoprun {
namespace {

NamedFile splitNamed(const std::string& option, const std::string& text) {
  size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    throw CLI::ValidationError(option, "expected NAME=FILE, found '" + text + "'");
  return {text.substr(0, equals), text.substr(equals + 1)};
}

void addNamed(CLI::App& app, const std::string& option, std::vector<NamedFile>& into, const std::string& help) {
  app.add_option_function<std::vector<std::string>>(
         option,
         [&into, option](const std::vector<std::string>& items) {
           for (const auto& text : items) into.push_back(splitNamed(option, text));
         },
         help)
      ->type_name("NAME=FILE")
      ->allow_extra_args(false);
}

void addFiles(CLI::App& app, const std::string& option, std::vector<std::string>& into, const std::string& type, const std::string& help) {
  app.add_option(option, into, help)->type_name(type)->allow_extra_args(false);
}

void addCompiling(CLI::App& app, Options& o) {
  app.add_option("--target", o.target, "compile a .uop for this target, as uopc --target (default cpu)")->type_name("T")->group("Compiling a .uop");
  app.add_option("-O", o.level, "level of optimisation: -O0 -O1 -O2 -O3 (default -O2)")->check(CLI::Range(0, 3))->type_name("N")->group("Compiling a .uop");
  app.add_option("--pipeline", o.pipeline, "a pipeline of your own")->type_name("FILE.json")->group("Compiling a .uop");
  app.add_option("--set", o.sets, "override one option of one pass (repeatable)")->type_name("PASS.option=value")->allow_extra_args(false)->group("Compiling a .uop");
}

// As uopc's.
void addCache(CLI::App& app, Options& o) {
  const std::string group = "Compiling a .uop";
  auto folder = app.add_option("--cache", o.cache, "where compiled kernels are kept (default: uopc in $XDG_CACHE_HOME or ~/.cache)")->type_name("DIR")->group(group);
  app.add_flag("!--no-cache", o.useCache, "neither look kernels up nor keep them")->excludes(folder)->group(group);
  app.add_option("--cache-size", o.cacheSize, "bytes that they may take, e.g. 200MB (default 512MB)")->transform(CLI::AsSizeValue(false))->type_name("SIZE")->group(group);
}

void addBinding(CLI::App& app, Options& o) {
  addNamed(app, "--input", o.inputs, "bind a PARAM or BUFFER to a .npy file (repeatable)");
  addFiles(app, "--inputs", o.inputFiles, "FILE", "bind by name from a .npz or .safetensors file (repeatable)");
  app.add_option("--random", o.random,
                 "fill what is not bound reproducibly: floats uniform in [-1, 1), integers in min…max, or 0…9 without bounds")
      ->type_name("SEED");
  addNamed(app, "--output", o.outputs, "write a result to a .npy file (repeatable)");
  addFiles(app, "--outputs", o.outputFiles, "FILE", "write all results to a .npz or .safetensors file");
  app.add_option("--state", o.state, "load BUFFERs by name")->type_name("FILE.safetensors");
  app.add_option("--save-state", o.saveState, "write the BUFFERs after the run, atomically")->type_name("FILE.safetensors");
  addNamed(app, "--feed", o.feeds, "bind slice i along axis 0 of this array in step i (repeatable)");
  addFiles(app, "--print", o.prints, "NAME", "print a result as numpy does (repeatable)");
}

void addRunning(CLI::App& app, Options& o) {
  app.add_option("--device", o.device, "auto, cpu, interp, cuda[:N] or opencl (default auto: what the artifact is for)")->type_name("D");
  app.add_option("--threads", o.threads, "threads to run on (default: one a core)")->check(CLI::Range(0, 1024))->type_name("N");
  app.add_option("--steps", o.steps, "run N times, state carried on")->check(CLI::Range(int64_t{1}, INT64_MAX))->type_name("N");
  app.add_flag("--check", o.check, "run the reference interpreter too and compare results and final BUFFERs; exit status 3 where they differ");
  app.add_option("--bench", o.bench, "time N runs: min, median, max, GFLOP/s and GB/s")->check(CLI::Range(int64_t{1}, int64_t{1'000'000'000}))->type_name("N");
  app.add_option("--warmup", o.warmup, "runs before those that are timed (default 1)")->check(CLI::Range(int64_t{0}, int64_t{1'000'000'000}))->type_name("W");
  app.add_flag("--json", o.json, "--bench and --list for machines");
  app.add_option("--profile", o.profile, "write a Chrome/Perfetto trace, one slice a kernel")->type_name("FILE.json");
  app.add_flag("--list", o.list, "show the manifest: arguments, kernels, launch sizes, memory plan");
  app.add_flag("-q,--quiet", o.quiet, "no warnings, no progress, no summary");
  app.add_flag("-v,--verbose", o.verbose, "say what is done");
  app.add_option("--color", o.color, "auto, always or never")
      ->transform(CLI::CheckedTransformer(
          std::map<std::string, ColorMode>{{"auto", ColorMode::Auto}, {"always", ColorMode::Always}, {"never", ColorMode::Never}}, CLI::ignore_case))
      ->type_name("WHEN");
}

}  // namespace

Parsed parseOptions(const std::vector<std::string>& argv, std::ostream& out, std::ostream& err) {
  Parsed parsed;
  Options& o = parsed.options;
  CLI::App app("Runs a program that uopc compiled, or compiles a .uop in memory and runs it.", "uoprun");
  app.footer("Exit status: 0 done; 1 the input is wrong; 2 wrong usage; 3 a fault of the compiler, or --check found a difference; 4 no such device, or it failed.");
  app.add_option("program", o.input, "an artifact's folder, or a .uop file (\"-\": standard input)")->required()->type_name("OUT | IN.uop");
  app.set_version_flag("--version", [] { return versionText("uoprun", {}); });
  addCompiling(app, o);
  addCache(app, o);
  addBinding(app, o);
  addRunning(app, o);
  std::vector<std::string> reversed(argv.rbegin(), argv.rend());
  if (!reversed.empty()) reversed.pop_back();  // the program's own name
  try {
    app.parse(reversed);
  } catch (const CLI::ParseError& e) {
    int status = app.exit(e, out, err);
    parsed.exit = status == 0 ? kDone : kUsageError;
  }
  return parsed;
}

}  // namespace uop::uoprun
