// A program as a graph in the DOT language: sources point to users, colours tell places, values, movement and effects apart.
#pragma once
#include <string>

#include "ir/program.h"

namespace uop {

std::string dotText(const Program& program, std::string_view title);

}  // namespace uop
