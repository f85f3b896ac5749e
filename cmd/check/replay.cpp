#include "cmd/check/replay.h"

#include <array>

#include "cmd/check/shrink.h"

namespace uop {
namespace {

constexpr uint64_t kMaxSteps = uint64_t{1} << 26;
constexpr int kSmallSeconds = 5;         // for one attempt to make a hanging program smaller
constexpr size_t kSlowAttempts = 300;

const Compilation& compilationAt(int level) {
  static std::array<std::optional<Compilation>, 4> all;
  auto& c = all[static_cast<size_t>(level)];
  if (!c) c = builtinCompilation(level);
  return *c;
}

PassCheck checkAt(const Program& p, uint64_t seed, int level, bool jit) {
  return checkProgram(p, randomInputs(p, seed), compilationAt(level), {true, jit, kMaxSteps});
}

// The same in another process: the finding as text, kind first.
std::optional<Finding> findApart(const Program& p, uint64_t seed, int level, int seconds) {
  Isolated run = isolated([&]() -> std::string {
    auto found = checkAt(p, seed, level, true).finding;
    return found ? std::string(1, static_cast<char>('A' + static_cast<int>(found->kind))) + found->pass + '\0' + found->what : "";
  }, seconds);
  if (run.ending == Ending::Crash) return Finding{"crash", run.output, Failure::Crash};
  if (run.ending == Ending::Hang) return Finding{"hang", fmt::format("no end after {} seconds", seconds), Failure::Hang};
  if (run.output.empty()) return std::nullopt;
  size_t zero = run.output.find('\0');
  return Finding{run.output.substr(1, zero - 1), run.output.substr(zero + 1), static_cast<Failure>(run.output[0] - 'A')};
}

std::string invalidity(const Program& p) {
  Diagnostics diags;
  verifyProgram(p, diags);
  return diags.errorCount() ? diags.render() : "";
}

}  // namespace

PassCheck checkSeed(uint64_t seed, int level, bool jit, const ReplayOptions& options) {
  Program p = randomProgram(seed, options.program);
  if (auto text = invalidity(p); !text.empty()) return {Finding{"generator", "it made an invalid program:\n" + text, Failure::Text}};
  return checkAt(p, seed, level, jit);
}

std::optional<SmallestFailure> smallestFailure(uint64_t seed, int level, const ReplayOptions& options) {
  Program p = randomProgram(seed, options.program);
  if (auto text = invalidity(p); !text.empty()) return SmallestFailure{std::move(p), {"generator", text, Failure::Text}};
  auto first = findApart(p, seed, level, options.seconds);
  if (!first) return std::nullopt;
  bool apart = first->kind == Failure::Crash || first->kind == Failure::Hang;
  bool jit = first->pass == "jit" || first->pass == "code generation";
  auto again = [&](const Program& q) { return apart ? findApart(q, seed, level, std::min(kSmallSeconds, options.seconds)) : checkAt(q, seed, level, jit).finding; };
  Program small = shrink(compacted(p), [&](const Program& q) {
    auto found = again(q);
    return found && found->sameKind(*first);
  }, apart ? kSlowAttempts : 4000);
  auto last = again(small);
  return SmallestFailure{std::move(small), last ? *last : *first};
}

}  // namespace uop
