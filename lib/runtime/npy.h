// numpy's .npy format: versions 1 to 3, C and Fortran order, either byte order. https://numpy.org/neps/nep-0001-npy-format.html
#pragma once
#include <string>
#include <string_view>

#include "runtime/tensor.h"

namespace uop {

// What stands before the elements of a .npy file.
struct NpyHeader {
  DType dtype = DType::F32;
  Shape shape;  // [] for a scalar
  bool fortranOrder = false;
  bool bigEndian = false;
  size_t dataOffset = 0;  // bytes from the start of the file
};

// The header at the start of `data`; `name` stands in messages. Errors: Diag::BadFile (no .npy, a version above 3, a
// dtype that is no DType, object arrays among them, a bad shape).
Result<NpyHeader> parseNpyHeader(std::string_view data, std::string_view name);

// Whether a file of so many bytes, the header's among them, is what the header says. Errors: Diag::BadFile.
Result<void> checkNpySize(const NpyHeader&, uint64_t fileBytes, std::string_view name);

// A whole .npy file, converted to row-major little-endian. Errors: those of the header, and a size that does not fit the shape.
Result<Tensor> parseNpy(std::string_view data, std::string_view name);

// Version 1.0 (32 axes always fit), row-major, little-endian: numpy.save's bytes. Errors: Diag::BadFile for bf16,
// which names safetensors.
Result<std::string> serializeNpy(const Tensor& tensor, std::string_view name);

}  // namespace uop
