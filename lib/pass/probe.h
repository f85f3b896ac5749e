// --verify-each=run: a program before and after a pass, in the reference interpreter.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "ir/program.h"

namespace uop {

// Interprets both programs on the same inputs drawn from `seed`; what differs in a result or a final BUFFER, "" where
// nothing does. Floats may differ as far as the format lets a compiled program differ.
std::string compareRuns(std::string_view textBefore, const Program& after, uint64_t seed);

}  // namespace uop
