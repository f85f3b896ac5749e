// .npz: a zip archive of .npy files, through libzip.
#pragma once
#include "runtime/arrays.h"

namespace uop {

// Entries may be stored or deflated, zip64 too; names lose their ".npy". What an entry inflates to is checked against what
// deflate can do, so that memory stays in proportion to the file. Errors: Diag::BadFile.
Result<ArrayMap> parseNpz(std::string_view data, std::string_view name);

// Stored entries of a fixed date, in the order given. Errors: Diag::BadFile (bf16, two arrays of one name).
Result<std::string> serializeNpz(const ArrayList& arrays, std::string_view name);

}  // namespace uop
