// uop_random: random programs, interpreted before and after every pass and compiled, in processes of their own. Those that
// disagree are made smaller and printed, with the command that replays them.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <numeric>

#include "cmd/check/replay.h"

namespace {

using namespace uop;

struct Options {
  uint64_t seed = 1, count = 2000, one = 0, jitEvery = 1, failures = 1;
  std::string level = "each";
  unsigned jobs = 2;
  bool print = false, noJit = false;
  ReplayOptions replay;
};

// Levels for a program: all, one, or one after the other.
std::vector<int> levelsOf(const Options& o, uint64_t seed) {
  std::vector<int> all(kLevels);
  std::iota(all.begin(), all.end(), 0);
  if (o.level == "all") return all;
  if (o.level == "each") return {all[seed % kLevels]};
  return {o.level == "drawn" ? kDrawnLevel : o.level.back() - '0'};
}

std::string levelName(int level) { return level == kDrawnLevel ? "drawn" : fmt::format("O{}", level); }

struct Totals {
  uint64_t programs = 0, passes = 0, compiled = 0, unsuited = 0;
};

// What a worker tells of one program, in a word.
struct Word {
  uint64_t passes : 32, compiled : 8, level : 8, failed : 1, unsuited : 1;
};
static_assert(sizeof(Word) == 8);

Word checkSeed(const Options& o, uint64_t seed, bool jit) {
  Word w{};
  for (int level : levelsOf(o, seed)) {
    PassCheck c = checkSeed(seed, level, jit, o.replay);
    w.passes += c.passes, w.compiled += jit && c.passes > 0, w.unsuited = c.passes == 0;
    w.level = static_cast<uint64_t>(level) & 7;
    if ((w.failed = c.finding.has_value())) break;
  }
  return w;
}

struct Failed {
  uint64_t seed;
  Ending ending;
  int level;  // of one that ended
};

// Runs them all; those that failed.
std::vector<Failed> runAll(const Options& o, Totals& totals) {
  std::vector<Failed> failed;
  bool terminal = isatty(STDERR_FILENO) != 0;
  auto jits = [&](uint64_t i) { return !o.noJit && o.jitEvery > 0 && i % o.jitEvery == 0; };
  auto work = [&](uint64_t i) { return std::bit_cast<uint64_t>(checkSeed(o, o.seed + i, jits(i))); };
  int seconds = o.replay.seconds * static_cast<int>(levelsOf(o, 0).size());
  isolatedAll(o.count, o.jobs, seconds, work, [&](uint64_t i, Ending ending, uint64_t word) {
    Word w = std::bit_cast<Word>(word);
    ++totals.programs, totals.passes += w.passes, totals.compiled += w.compiled, totals.unsuited += w.unsuited;
    if (ending != Ending::Done || w.failed) failed.push_back({o.seed + i, ending, static_cast<int>(w.level)});
    if (terminal && (totals.programs % 16 == 0 || totals.programs == o.count)) fmt::print(stderr, "\r{}/{} programs, {} failed ", totals.programs, o.count, failed.size());
    return failed.size() < o.failures;
  });
  if (terminal) fmt::print(stderr, "\r\x1b[K");
  std::ranges::sort(failed, {}, &Failed::seed);
  return failed;
}

// Finds it again, in a process of its own, and makes it smaller.
void report(const Options& o, const Failed& f) {
  std::vector<int> levels = f.ending == Ending::Done ? std::vector{f.level} : levelsOf(o, f.seed);
  for (int level : levels) {
    auto found = smallestFailure(f.seed, level, o.replay);
    if (!found) continue;
    fmt::print("seed {}, {}, {}: {}\n{}replay: uop_random --one {} --level {} --max-nodes {} --steps {}\n\n", f.seed, levelName(level), found->finding.pass,
               found->finding.what, printProgram(found->program), f.seed, levelName(level), o.replay.program.maxNodes, o.replay.program.steps);
    return;
  }
  fmt::print("seed {} failed, but not when tried again\n", f.seed);
}

int printAll(const Options& o) {
  for (uint64_t i = 0; i < o.count; ++i) fmt::print("# seed {}\n{}", o.seed + i, printProgram(randomProgram(o.seed + i, o.replay.program)));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Checks random programs: passes against the interpreter, compiled code against the interpreter.");
  Options o;
  app.add_option("--seed", o.seed, "of the first program")->capture_default_str();
  app.add_option("--count", o.count, "programs")->capture_default_str();
  CLI::Option* one = app.add_option("--one", o.one, "the program of this seed alone")->type_name("SEED");
  app.add_option("--level", o.level, "O0 … O3; drawn: O2 with options drawn from the seed; all: every one for each program; each: one after the other")
      ->check(CLI::IsMember({"O0", "O1", "O2", "O3", "drawn", "all", "each"}))
      ->capture_default_str();
  app.add_option("--jit-every", o.jitEvery, "compile and run every n-th program")->check(CLI::Range(uint64_t{1}, UINT64_MAX))->capture_default_str();
  app.add_flag("--no-jit", o.noJit, "only the interpreter after each pass");
  app.add_option("--max-nodes", o.replay.program.maxNodes, "to which a program grows")->capture_default_str();
  app.add_option("--steps", o.replay.program.steps, "most steps that make a program")->check(CLI::Range(size_t{1}, size_t{100000}))->capture_default_str();
  app.add_option("--jobs", o.jobs, "processes")->check(CLI::Range(1u, 256u))->capture_default_str();
  app.add_option("--failures", o.failures, "how many to look for")->check(CLI::Range(uint64_t{1}, UINT64_MAX))->capture_default_str();
  app.add_option("--timeout", o.replay.seconds, "seconds for one program, past which it hangs")->check(CLI::Range(1, 100000))->capture_default_str();
  app.add_flag("--print", o.print, "print the programs instead");
  CLI11_PARSE(app, argc, argv);
  if (*one) o.seed = o.one, o.count = 1;
  if (o.print) return printAll(o);
  Totals totals;
  std::vector<Failed> failed = runAll(o, totals);
  for (const Failed& f : failed) report(o, f), std::fflush(stdout);
  fmt::print("{} programs, {} runs after passes compared, {} compiled and run, {} without suitable inputs, {} failed\n", totals.programs, totals.passes, totals.compiled,
             totals.unsuited, failed.size());
  return failed.empty() ? 0 : 1;
}
