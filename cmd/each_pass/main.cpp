// uop_each_pass PATH... [--work RATIO]: every valid program given, or below the folders given, through the built-in pipelines, interpreted after
// each pass and read back from each dump; loads, and loads with operations, must not grow from -O0 to -O1; the manifest must count
// the FLOPs that the interpreter does. Prints each problem.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>

#include "cmd/check/check.h"
#include "runtime/arrays.h"
#include "support/file.h"

namespace {

using namespace uop;

struct Totals {
  size_t programs = 0, passes = 0, problems = 0, skipped = 0;
};

std::vector<std::filesystem::path> programsBelow(const std::vector<std::string>& paths) {
  std::vector<std::filesystem::path> out;
  for (const std::string& path : paths) {
    if (!std::filesystem::is_directory(path)) {
      out.push_back(path);
      continue;
    }
    for (const auto& file : filesBelow(path, ".uop"))
      if (file.string().find("malformed") == std::string::npos) out.push_back(file);
  }
  std::ranges::sort(out);
  return out;
}

// The inputs that lie beside a program, for those it has; drawn ones for the rest.
Arrays inputsFor(const std::filesystem::path& path, const Program& program) {
  Arrays out = drawInputs(program, 1);
  for (const char* ending : {".in.npz", ".in.safetensors"}) {
    auto file = path;
    file.replace_extension(ending);
    auto arrays = std::filesystem::exists(file) ? readArrays(file.string()) : Result<ArrayMap>{};
    if (!arrays) continue;
    for (const auto& [name, t] : *arrays) {
      auto it = out.find(name);
      if (it == out.end() || byteSize(it->second.dtype) != byteSize(t.dtype)) continue;
      auto raw = t.raw();
      it->second.data.assign(raw.begin(), raw.end());  // bf16 bits come as u16
    }
  }
  return out;
}

void check(const std::filesystem::path& path, const std::vector<Compilation>& levels, double work, Totals& totals) {
  auto text = readFile(path.string());
  if (!text) return;
  SourceBuffer source(path.string(), std::move(*text));
  Diagnostics diags(&source);
  auto program = readProgram(source, diags);
  if (!program) return void(++totals.skipped);
  Arrays inputs = inputsFor(path, *program);
  auto problem = [&](size_t level, std::string_view what) {
    ++totals.problems;
    fmt::print("{} -O{}: {}\n", path.string(), level, what);
  };
  PassCheck first;
  for (size_t level = 0; level < levels.size(); ++level) {
    PassCheck c = checkProgram(*program, inputs, levels[level]);
    totals.passes += c.passes;
    if (c.passes == 0 && level == 0) ++totals.skipped;
    if (c.finding) problem(level, fmt::format("after {}: {}", c.finding->pass, c.finding->what));
    if (level == 0) first = c;
    // An operation may take the place of a load: a table that is computed where it is read.
    if (level == 1 && (c.loads > first.loads || c.loads + c.ops > first.loads + first.ops))
      problem(level, fmt::format("loads {} operations {}, at -O0 loads {} operations {}", c.loads, c.ops, first.loads, first.ops));
    if (work > 0 && static_cast<double>(c.ops) > work * static_cast<double>(first.ops))
      problem(level, fmt::format("operations {}, at -O0 {}: {:.3f} times", c.ops, first.ops, static_cast<double>(c.ops) / static_cast<double>(first.ops)));
  }
  ++totals.programs;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Checks every pass on every program below folders.");
  std::vector<std::string> paths;
  double work = 0;
  app.add_option("paths", paths, "programs, and folders of programs")->required()->check(CLI::ExistingPath);
  app.add_option("--work", work, "operations at -O1 and -O2 may be at most so many times those at -O0; 0: no bound");
  CLI11_PARSE(app, argc, argv);
  std::vector<Compilation> levels;
  for (int level = 0; level < 3; ++level) levels.push_back(builtinCompilation(level));
  Totals totals;
  auto programs = programsBelow(paths);
  for (size_t i = 0; i < programs.size(); ++i) {
    if (isatty(1)) fmt::print("\r{}/{} ", i, programs.size()), std::fflush(stdout);
    check(programs[i], levels, work, totals);
  }
  fmt::print("{} programs, {} skipped, {} runs after passes compared, {} problems\n", totals.programs, totals.skipped, totals.passes, totals.problems);
  return totals.problems == 0 && totals.programs > 0 ? 0 : 1;
}
