// Smaller programs that fail in the same way.
#pragma once
#include <functional>

#include "ir/program.h"

namespace uop {

// Tries, again and again, to leave out results, to replace a value by one of its sources, an argument or zero, to forget
// effects and gates, and to shorten axes, as long as `fails` says that the program still does; at most `attempts` calls of
// it. Every program tried is valid.
Program shrink(Program, const std::function<bool(const Program&)>& fails, size_t attempts = 2000);

}  // namespace uop
