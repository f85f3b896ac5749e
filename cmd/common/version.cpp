#include "cmd/common/version.h"

#include <fmt/core.h>
#include <zip.h>

#include <CLI/Version.hpp>
#include <nlohmann/json.hpp>

namespace uop {

std::string versionText(std::string_view program, const std::vector<std::pair<std::string, std::string>>& more) {
  std::string out = fmt::format("{} {}", program, kVersion);
  auto add = [&](std::string_view name, std::string_view version) { out += fmt::format("\n  {} {}", name, version); };
  for (const auto& [name, version] : more) add(name, version);
  add("fmt", fmt::format("{}.{}.{}", FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100));
  add("nlohmann_json", fmt::format("{}.{}.{}", NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR, NLOHMANN_JSON_VERSION_PATCH));
  add("CLI11", CLI11_VERSION);
  add("libzip", zip_libzip_version());
  return out;
}

}  // namespace uop
