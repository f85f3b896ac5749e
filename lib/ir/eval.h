// The scalar meaning of each element-wise op (format, section 5), on the bits of Scalar. Constant folding and the
// reference interpreter share it; emitted code does not.
#pragma once
#include <span>

#include "ir/op.h"
#include "ir/scalar.h"

namespace uop {

using EvalFn = uint64_t (*)(uint64_t a, uint64_t b, uint64_t c);

// `operand`: the dtype of the last source (of CAST and BITCAST: of their only one); `result`: of the node. Sources that an
// op lacks are ignored. Null for an op that is not element-wise or not defined on the dtype.
EvalFn evalFn(Op, DType operand, DType result);

Scalar evalOp(Op, DType operand, DType result, std::span<const Scalar> sources);

// What a reduction over nothing gives.
Scalar identityOf(ReduceOp, DType);

}  // namespace uop
