// --verify-each=run: a program before and after a pass, in the reference interpreter.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "ir/interp.h"

namespace uop {

using Arrays = std::map<std::string, Array>;

// Inputs for every PARAM and BUFFER by binding name, as uoprun --random draws them.
Arrays drawInputs(const Program&, uint64_t seed);
// The same, each element as `draw` gives it for the PARAM or BUFFER and 64 random bits.
Arrays drawInputs(const Program&, uint64_t seed, Scalar (*draw)(const Graph&, NodeId, uint64_t));

// What differs in a result or a final BUFFER that both have, "" where nothing does. `terms`: see compareArrays.
std::string compareResults(const InterpResult& got, const InterpResult& want, int64_t terms);

// Interprets both programs on the same inputs drawn from `seed`; what differs in a result or a final BUFFER, "" where
// nothing does. Floats may differ as far as the format lets a compiled program differ.
std::string compareRuns(std::string_view textBefore, const Program& after, uint64_t seed);

}  // namespace uop
