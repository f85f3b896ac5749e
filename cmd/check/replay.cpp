#include "cmd/check/replay.h"

#include <algorithm>
#include <array>
#include <chrono>

#include "cmd/check/rng.h"
#include "cmd/check/shrink.h"

namespace uop {
namespace {

constexpr uint64_t kMaxSteps = uint64_t{1} << 26;
constexpr int kSmallSeconds = 5;         // for one attempt to make a hanging program smaller
constexpr size_t kSlowAttempts = 300;
constexpr int kShrinkSeconds = 120;

using Values = std::array<int, 4>;
constexpr std::pair<std::string_view, Values> kDrawn[] = {
    {"rangeify.max-kernel-nodes", {1, 5, 20, 2000}}, {"fuse.local-bytes", {0, 40, 256, 524288}}, {"fuse.inline-ops", {0, 3, 12, 1000}},
    {"fuse.max-kernel-nodes", {1, 10, 30, 2000}},    {"fuse.serial-work", {0, 4, 64, 65536}},    {"lower-kernels.block", {0, 2, 3, 4096}},
    {"collapse-reduce.min-iterations", {0, 2, 16, 1000}}, {"collapse-reduce.table-ops", {0, 2, 8, 100}},
    {"inline-calls.keep", {0, 0, 16, 1000}}};

// A level's pipeline; past those, options drawn from the seed.
Compilation compilationAt(int level, uint64_t seed) {
  static std::array<std::optional<Compilation>, kLevels> all;
  auto& c = all[static_cast<size_t>(level)];
  if (!c) c = builtinCompilation(std::min(level, 2));
  Compilation out = *c;
  if (level < kDrawnLevel) return out;
  Rng rng(~seed);
  for (const auto& [option, values] : kDrawn) {
    auto ok = setOption(out.pipeline, fmt::format("{}={}", option, values[rng.below(values.size())]));
    if (!ok) internalError(ok.error().message);
  }
  return out;
}

PassCheck checkAt(const Program& p, uint64_t seed, int level, bool jit) {
  CheckOptions options{.jit = jit, .runs = 2, .threads = seed % 4 == 0 ? 3 : 1, .maxSteps = kMaxSteps};
  return checkProgram(p, randomInputs(p, seed), compilationAt(level, seed), options);
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
  auto end = std::chrono::steady_clock::now() + std::chrono::seconds(kShrinkSeconds);
  Program small = shrink(compacted(p), [&](const Program& q) {
    if (std::chrono::steady_clock::now() > end) return false;
    auto found = again(q);
    return found && found->sameKind(*first);
  }, apart ? kSlowAttempts : 4000);
  auto last = again(small);
  return SmallestFailure{std::move(small), last ? *last : *first};
}

}  // namespace uop
