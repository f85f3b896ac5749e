#pragma once
#include <string>

namespace uop::uopc {

std::string rulesText();  // --list-rules

}  // namespace uop::uopc
