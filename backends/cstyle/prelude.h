// C11 helper functions for emitted kernels, a table from which a kernel takes only what it calls. They are
// `static inline`, branch-free where they can be, and call no library, so that loops over them vectorise.
//
// f16 and bf16 are uint16_t in storage; arithmetic on them goes through f32. T stands for i8 i16 i32 i64 u8 u16 u32 u64;
// `index` uses i64's, bool u8's. Each function gives what section 5 of the format says.
//
//   uop_f16_to_f32  uop_bf16_to_f32                                   float f(uint16_t)
//   uop_f32_to_f16  uop_f32_to_bf16  uop_f64_to_f16  uop_f64_to_bf16  uint16_t f(float or double), rounded once
//   uop_T_to_f16  uop_T_to_bf16                                       uint16_t f(T), rounded once
//   uop_T_to_f32                                                      float f(T), rounded once
//   uop_f32_to_T  uop_f64_to_T                                        truncates, saturates, NaN → 0
//   uop_exp2_F uop_log2_F uop_sin_F uop_sqrt_F uop_trunc_F uop_floor_F uop_max_F uop_floordiv_F uop_floormod_F
//                                                                     F = f32, f64
//   uop_floordiv_T uop_floormod_T uop_shl_T uop_shr_T                 T f(T x, T y)
//   uop_bits_f32_u32 uop_bits_f32_i32 uop_bits_u32_f32 uop_bits_i32_f32, and so f64 with u64, i64
//
// The text also defines UOP_KERNEL, which a kernel starts with to be visible outside its library:
// `UOP_KERNEL void k(…) {`.
#pragma once
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace uop::cstyle {

// The start of a C file: includes and macros, then the helpers in `used` and those they call, in a fixed order.
// A name that is not in the table is an internalError.
std::string preludeText(const std::set<std::string_view>& used);

bool preludeHas(std::string_view name);
std::vector<std::string_view> preludeNames();  // in the table's order

}  // namespace uop::cstyle
