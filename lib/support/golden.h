// For tests: files below a folder, and what a test gives against the file that holds what it should.
#pragma once
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "support/file.h"

namespace uop::testing {

inline std::vector<std::filesystem::path> programsIn(const std::string& folder) { return filesBelow(folder, ".uop"); }

// UOPC_UPDATE_GOLDEN=1 rewrites what is expected.
inline void checkGolden(const std::filesystem::path& file, const std::string& got) {
  if (const char* update = std::getenv("UOPC_UPDATE_GOLDEN"); update && *update == '1') std::ofstream(file, std::ios::binary) << got;
  auto want = readFile(file.string());
  REQUIRE(want);
  CHECK(got == *want);
}

}  // namespace uop::testing
