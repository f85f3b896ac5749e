// Reproducible inputs for `--random SEED`: the same seed, name, dtype and shape give the same elements on every machine,
// and an element does not depend on how many there are.
#pragma once
#include <optional>
#include <string_view>

#include "runtime/tensor.h"

namespace uop {

// Floats: uniform in [-1, 1), drawn in f32 (f64 for f64) and rounded to f16 or bf16, never to 1. Integers: uniform in
// min…max inclusive, cut to the dtype's range; without bounds 0…9; with one bound, from it to 0 or 9, or to 9 away where that lies beyond. bool: 0 or 1.
// Errors: those of Tensor::zeros.
Result<Tensor> randomTensor(DType dtype, Shape shape, uint64_t seed, std::string_view name, std::optional<int64_t> min = {},
                            std::optional<int64_t> max = {});

}  // namespace uop
