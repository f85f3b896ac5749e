#pragma once
#include <string>

#include "support/diagnostics.h"

namespace uop::uopc {

// The picture of a graph in the DOT language, by Graphviz in this process. Not for two threads at once.
Result<std::string> renderSvg(const std::string& dot);

std::string graphvizVersion();

}  // namespace uop::uopc
