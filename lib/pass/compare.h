// Two runs of one program side by side: integers exactly, floats within the format's accuracy.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "support/dtype.h"

namespace uop {

// Dense, row-major, elements as they lie in memory.
struct ArrayView {
  DType dtype;
  std::span<const int64_t> shape;
  std::span<const std::byte> data;
};

struct Difference {
  int64_t element = 0;  // the first one that differs, row-major
  int64_t count = 0;    // of elements that differ
  std::string text;     // "at [1,2]: 3.5, expected 3.25 (2 of 6 elements differ)"
};

// nullopt where `got` is within the tolerance of `want`: relative 1e-5 (f32), 1e-12 (f64), 2e-3 (f16), 1.6e-2 (bf16), times
// the square root of `terms`; and as much of the largest magnitude in `want`, since a sum's error is relative to its terms.
std::optional<Difference> compareArrays(const ArrayView& got, const ArrayView& want, int64_t terms);

}  // namespace uop
