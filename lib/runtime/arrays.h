// Files of arrays, told apart by their ending: .npy (one array, called ""), .npz and .safetensors.
#pragma once
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "runtime/tensor.h"

namespace uop {

using ArrayMap = std::map<std::string, Tensor>;
using ArrayList = std::vector<std::pair<std::string, Tensor>>;

// Errors: Diag::CannotOpen; Diag::BadFile, also for an ending that is none of the three.
Result<ArrayMap> readArrays(const std::string& path);

// The one array of a .npy file, or of a .npz or .safetensors file that holds exactly one.
Result<Tensor> readArray(const std::string& path);

// Writes `arrays` in their order, atomically; the same arrays give the same bytes. A .npy takes exactly one array.
// Errors: Diag::CannotWrite; Diag::BadFile for two arrays of one name, bf16 in .npy and .npz, an unknown ending.
Result<void> writeArrays(const std::string& path, const ArrayList& arrays);

}  // namespace uop
