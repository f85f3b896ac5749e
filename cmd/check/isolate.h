// Work in processes of its own, so that a crash and a hang are findings like any other.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace uop {

enum class Ending : uint8_t { Done, Crash, Hang };

struct Isolated {
  Ending ending = Ending::Done;
  std::string output;  // what `work` returned, of Done; else the signal
};
Isolated isolated(const std::function<std::string()>& work, int seconds);

// For every i below `count`, in a few processes at once: `work` gives a word, which `done` is told in the first process, with
// Done; or how it ended without, after `seconds` for one i at most. `done` returns whether to go on.
using Work = std::function<uint64_t(uint64_t i)>;
using Done = std::function<bool(uint64_t i, Ending, uint64_t word)>;
void isolatedAll(uint64_t count, unsigned processes, int seconds, const Work& work, const Done& done);

}  // namespace uop
