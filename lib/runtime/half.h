// f16 and bf16, in terms of f32. All rounding is to nearest even; NaNs stay NaNs.
#pragma once
#include <cstdint>

namespace uop {

float halfToFloat(uint16_t bits);
uint16_t floatToHalf(float value);
float bfloatToFloat(uint16_t bits);
uint16_t floatToBfloat(float value);

}  // namespace uop
