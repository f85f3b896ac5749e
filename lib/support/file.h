// Whole files in, whole files out: a file or folder appears under its name only when it is complete.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/diagnostics.h"

namespace uop {

// "-" reads standard input. Errors: Diag::CannotOpen.
Result<std::string> readFile(const std::string& path);

// Files of one extension (".uop") in a folder and those below it, in order of their paths. Throws what std::filesystem does.
std::vector<std::filesystem::path> filesBelow(const std::string& folder, std::string_view extension);

// Writes beside `path` and renames; a reader never sees a part. "-" writes standard output. Errors: Diag::CannotWrite.
Result<void> writeFileAtomically(const std::string& path, std::string_view data);

// A folder of files, relative name → contents, that replaces `path` whole. An existing folder is replaced only when it
// holds `marker` (so that a mistyped -o never removes someone's files) or is empty. Errors: Diag::CannotWrite.
Result<void> writeFolderAtomically(const std::string& path, const std::vector<std::pair<std::string, std::string>>& files,
                                   const std::string& marker);

}  // namespace uop
