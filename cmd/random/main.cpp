// uop_random: random programs, interpreted before and after every pass and compiled. The first one that disagrees is made
// smaller and printed, with the command that replays it.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include "cmd/check/check.h"
#include "cmd/check/random_program.h"
#include "cmd/check/shrink.h"

namespace {

using namespace uop;

struct Options {
  uint64_t seed = 1, count = 2000;
  int level = -1;
  uint64_t jitEvery = 1;
  RandomOptions program;
};

std::optional<Finding> checkAt(const Program& p, uint64_t seed, const Compilation& compilation, bool jit) {
  return checkProgram(p, randomInputs(p, seed), compilation, {true, jit}).finding;
}

int report(const Program& p, const Finding& f, uint64_t seed, int level, const Compilation& compilation, const Options& o) {
  fmt::print("\nseed {} -O{}: after {}: {}\n", seed, level, f.pass, f.what);
  bool jit = f.pass == "jit" || f.pass == "code generation";
  Program small = shrink(compacted(p), [&](const Program& q) {
    auto again = checkAt(q, seed, compilation, jit);
    return again && again->pass == f.pass;
  });
  auto why = checkAt(small, seed, compilation, jit);
  fmt::print("{}\n{}\nreplay: uop_random --seed {} --count 1 --level {} --steps {} --jit-every {}\n", why ? why->what : "", printProgram(small), seed, level, o.program.steps, jit ? 1 : 0);
  return 1;
}

bool isValidProgram(const Program& p, uint64_t seed) {
  Diagnostics diags;
  verifyProgram(p, diags);
  if (diags.errorCount() == 0) return true;
  fmt::print("seed {}: the generator made an invalid program:\n{}\n{}", seed, diags.render(), printProgram(p));
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Checks random programs: passes against the interpreter, compiled code against the interpreter.");
  Options o;
  app.add_option("--seed", o.seed, "of the first program");
  app.add_option("--count", o.count, "programs");
  app.add_option("--level", o.level, "pipeline 0-3; else one after the other");
  app.add_option("--jit-every", o.jitEvery, "compile and run every n-th; 0: none");
  app.add_option("--steps", o.program.steps, "of the generator, a program");
  bool print = false;
  app.add_flag("--print", print, "print the programs instead");
  CLI11_PARSE(app, argc, argv);
  std::vector<Compilation> levels;
  for (int level = 0; level < 4; ++level) levels.push_back(builtinCompilation(level));
  size_t compared = 0, compiled = 0, unsuited = 0;
  for (uint64_t i = 0; i < o.count; ++i) {
    uint64_t seed = o.seed + i;
    if (isatty(1)) fmt::print("\r{}/{} ", i, o.count), std::fflush(stdout);
    int level = o.level >= 0 ? o.level : static_cast<int>(seed % levels.size());
    const Compilation& compilation = levels[static_cast<size_t>(level)];
    Program p = randomProgram(seed, o.program);
    if (!isValidProgram(p, seed)) return 1;
    if (print) {
      fmt::print("{}", printProgram(p));
      continue;
    }
    bool jit = o.jitEvery > 0 && i % o.jitEvery == 0;
    PassCheck c = checkProgram(p, randomInputs(p, seed), compilation, {true, jit});
    if (c.finding) return report(p, *c.finding, seed, level, compilation, o);
    compared += c.passes, compiled += jit, unsuited += c.passes == 0;
  }
  if (!print) fmt::print("{} programs, {} runs after passes compared, {} compiled and run, {} without suitable inputs\n", o.count, compared, compiled, unsuited);
  return 0;
}
