#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace uop {

inline constexpr std::string_view kVersion = UOPC_VERSION;

// "uoprun 0.1.0", then a line for each library: those that both programs use, then `more`.
std::string versionText(std::string_view program, const std::vector<std::pair<std::string, std::string>>& more);

}  // namespace uop
