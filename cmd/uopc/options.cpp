#include "cmd/uopc/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>

#include "backends/cpu/compile.h"
#include "cmd/common/version.h"
#include "cmd/uopc/svg.h"

namespace uop::uopc {
namespace {

void addCompiling(CLI::App& app, Options& o) {
  app.add_option("-o,--output", o.output, "what to write; \"-\": standard output")->type_name("OUT");
  app.add_option("--target", o.compile.target, "cpu (default: this machine), cpu:NAME[,+feature,-feature], opencl, cuda:sm_90, hip:gfx942, interp")->type_name("T");
  app.add_option("-O", o.compile.level, "built-in pipeline: -O0 every value materialised, -O1 simplified and fused, -O2 scheduled (default), -O3 searched")
      ->check(CLI::Range(0, 3))
      ->type_name("N");
  app.add_option("--pipeline", o.compile.pipelineFile, "a pipeline of your own")->type_name("FILE.json");
  app.add_option("--set", o.compile.sets, "override one option of one pass (repeatable); a repeated pass is simplify#2")->type_name("PASS.option=value")->allow_extra_args(false);
  app.add_option_function<std::string>(
         "--emit",
         [&o](const std::string& word) {
           static const std::map<std::string, Emit> words = {{"artifact", Emit::Artifact}, {"uop", Emit::Uop}, {"c", Emit::C},     {"llvm-ir", Emit::LlvmIr},
                                                             {"asm", Emit::Asm},           {"obj", Emit::Obj}, {"ptx", Emit::Ptx}, {"source", Emit::Source}};
           auto found = words.find(word);
           if (found == words.end()) {
             std::vector<std::string_view> names;
             for (const auto& [name, value] : words) names.push_back(name);
             throw CLI::ValidationError("--emit", "unknown kind '" + word + "'" + suggest(word, names));
           }
           o.emit = found->second;
         },
         "artifact (default), uop, c, llvm-ir, asm, obj, ptx, source")
      ->type_name("KIND");
  app.add_option("--original", o.original, "with --start-at or --start-after: the program as it was read, which an artifact keeps for --check")->type_name("FILE.uop");
  app.add_option("--depfile", o.depfile, "write a Makefile rule that names what OUT depends on")->type_name("FILE");
}

void addCache(CLI::App& app, Options& o) {
  const std::string group = "Cache of compiled kernels";
  auto folder = app.add_option("--cache", o.cache.folder, "where it lies (default: uopc in $XDG_CACHE_HOME or ~/.cache)")->type_name("DIR")->group(group);
  app.add_flag("!--no-cache", o.cache.enabled, "neither look kernels up nor keep them")->excludes(folder)->group(group);
  app.add_option("--cache-size", o.cache.limit, "bytes that it may take, e.g. 200MB (default 512MB)")->transform(CLI::AsSizeValue(false))->type_name("SIZE")->group(group);
}

void addInspecting(CLI::App& app, Options& o) {
  const std::string group = "Looking inside";
  auto list = [&](const std::string& name, std::vector<std::string>& into, const std::string& help) {
    app.add_option(name, into, help)->delimiter(',')->type_name("PASS[,PASS...]|all")->allow_extra_args(false)->group(group);
  };
  list("--dump-after", o.manager.dumpAfter, "print the program after a pass");
  list("--dump-before", o.manager.dumpBefore, "print the program before a pass");
  app.add_option("--dump-dir", o.dumpDir, "write dumps to numbered files, DIR/03-rangeify.uop")->type_name("DIR")->group(group);
  app.add_option("--dump-format", o.dumpFormat, "uop (default), dot, svg or html")
      ->transform(CLI::CheckedTransformer(
          std::map<std::string, DumpFormat>{{"uop", DumpFormat::Uop}, {"dot", DumpFormat::Dot}, {"svg", DumpFormat::Svg}, {"html", DumpFormat::Html}}))
      ->type_name("FORMAT")
      ->group(group);
  app.add_option("--stop-after", o.manager.stopAfter, "stop after a pass and print .uop")->type_name("PASS")->group(group);
  app.add_option("--start-at", o.manager.startAt, "start at a pass, with a dump from before it")->type_name("PASS")->group(group);
  app.add_option("--start-after", o.manager.startAfter, "start after a pass, with a dump from after it")->type_name("PASS")->group(group);
  app.add_option_function<std::string>(
         "--verify-each",
         [&o](const std::string& how) {
           if (how != "run" && how != "true") throw CLI::ValidationError("--verify-each", "expected nothing or 'run', found '" + how + "'");
           o.manager.verify = how == "run" ? Verify::Run : Verify::Invariants;
         },
         "check every invariant after each pass; --verify-each=run: also run the program before and after each pass on seeded inputs")
      ->type_name("[=run]")
      ->group(group);
  app.add_flag("--stats", o.stats, "a pass: time, nodes in and out, each rule's hits; the other stages' time; kernels found in the cache")->group(group);
  app.add_option("--time-trace", o.timeTrace, "write a Chrome/Perfetto trace of the compilation")->type_name("FILE")->group(group);
}

void addLists(CLI::App& app, Options& o) {
  const std::string group = "Lists";
  app.add_flag("--list-passes", o.listPasses, "the passes and their options")->group(group);
  app.add_flag("--list-targets", o.listTargets, "the targets")->group(group);
  app.add_flag("--list-rules", o.listRules, "the built-in rewrite rules, by set")->group(group);
  app.add_flag("--print-pipeline", o.printPipeline, "the pipeline in force, with every option's value")->group(group);
  app.add_option("--describe", o.describe, "what a pass does, needs and leaves, and its options")->type_name("PASS")->group(group);
}

void addMessages(CLI::App& app, Options& o) {
  app.add_flag("-v,--verbose", o.verbose, "say what is done, and what passes remark");
  app.add_flag("-q,--quiet", o.quiet, "errors only");
  app.add_option("--log-level", o.logLevel, "error, warning, info")->check(CLI::IsMember({"error", "warning", "info"}))->type_name("L");
  app.add_option("--color", o.color, "auto, always or never")
      ->transform(CLI::CheckedTransformer(
          std::map<std::string, ColorMode>{{"auto", ColorMode::Auto}, {"always", ColorMode::Always}, {"never", ColorMode::Never}}))
      ->type_name("WHEN");
}

std::string quoted(const std::vector<std::string>& argv) {
  std::string out;
  for (const std::string& arg : argv) {
    bool plain = !arg.empty() && arg.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./=,+:#@%") == std::string::npos;
    out += (out.empty() ? "" : " ") + (plain ? arg : "'" + arg + "'");
  }
  return out;
}

}  // namespace

Parsed parseOptions(const std::vector<std::string>& argv, std::ostream& out, std::ostream& err) {
  Parsed parsed;
  Options& o = parsed.options;
  CLI::App app("Compiles a program of tensor micro-operations (.uop) to native code.", "uopc");
  app.footer("Exit status: 0 done; 1 the input is wrong; 2 wrong usage; 3 a fault of the compiler, which leaves a reproducer; 4 no such device.");
  app.add_option("program", o.input, "the program (\"-\": standard input)")->type_name("IN.uop");
  app.set_version_flag("--version", [] { return versionText("uopc", {{"LLVM", cpu::llvmVersion()}, {"Clang", cpu::clangVersion()}, {"Graphviz", graphvizVersion()}}); });
  addCompiling(app, o);
  addCache(app, o);
  addInspecting(app, o);
  addLists(app, o);
  addMessages(app, o);
  std::vector<std::string> reversed(argv.rbegin(), argv.rend());
  if (!reversed.empty()) reversed.pop_back();  // the program's own name
  // Its value is optional, and only behind '=': the next word may be the program.
  std::ranges::replace(reversed, std::string("--verify-each"), std::string("--verify-each=true"));
  try {
    app.parse(reversed);
  } catch (const CLI::ParseError& e) {
    parsed.exit = app.exit(e, out, err) == 0 ? kDone : kUsageError;
  }
  if (o.logLevel == "error") o.quiet = true;
  if (o.logLevel == "info") o.verbose = true;
  o.commandLine = quoted(argv);
  return parsed;
}

}  // namespace uop::uopc
