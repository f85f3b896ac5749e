#pragma once
#include "pass/compare.h"
#include "runtime/tensor.h"

namespace uop {

inline std::optional<Difference> compareTensors(const Tensor& got, const Tensor& want, int64_t terms) {
  return compareArrays({got.dtype, got.shape, got.raw()}, {want.dtype, want.shape, want.raw()}, terms);
}

}  // namespace uop
