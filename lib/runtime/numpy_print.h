// Tensors as text for people.
#pragma once
#include <string>

#include "runtime/tensor.h"

namespace uop {

// What numpy's print(array) shows with its default options: lines of 75 characters, up to 8 digits, arrays of more than
// 1000 elements with 3 items at each edge. bf16 prints like the other floats. No newline at the end.
std::string formatTensor(const Tensor& tensor);

// One line: "f32 [2,3] min -1 max 2.5 mean 0.25", with " nan 3" and " inf 1" where there are some. Min, max and mean are
// over the values that are not NaN; absent where there are none.
std::string summarizeTensor(const Tensor& tensor);

}  // namespace uop
