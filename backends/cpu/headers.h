// The standard headers that generated C may include, small and for x86-64 (LP64) only. The compiler's own predefined
// macros give every type and limit.
#pragma once

namespace uop::cpu {

struct Header {
  const char* name;
  const char* text;
};

inline constexpr Header kHeaders[] = {
    {"stdint.h", R"(#ifndef UOP_STDINT_H
#define UOP_STDINT_H
typedef __INT8_TYPE__ int8_t;
typedef __INT16_TYPE__ int16_t;
typedef __INT32_TYPE__ int32_t;
typedef __INT64_TYPE__ int64_t;
typedef __UINT8_TYPE__ uint8_t;
typedef __UINT16_TYPE__ uint16_t;
typedef __UINT32_TYPE__ uint32_t;
typedef __UINT64_TYPE__ uint64_t;
typedef __INTPTR_TYPE__ intptr_t;
typedef __UINTPTR_TYPE__ uintptr_t;
#define INT8_MAX __INT8_MAX__
#define INT8_MIN (-__INT8_MAX__ - 1)
#define INT16_MAX __INT16_MAX__
#define INT16_MIN (-__INT16_MAX__ - 1)
#define INT32_MAX __INT32_MAX__
#define INT32_MIN (-__INT32_MAX__ - 1)
#define INT64_MAX __INT64_MAX__
#define INT64_MIN (-__INT64_MAX__ - 1)
#define UINT8_MAX __UINT8_MAX__
#define UINT16_MAX __UINT16_MAX__
#define UINT32_MAX __UINT32_MAX__
#define UINT64_MAX __UINT64_MAX__
#define INT64_C(c) c##L
#define UINT64_C(c) c##UL
#define INT32_C(c) c
#define UINT32_C(c) c##U
#endif
)"},
    {"stdbool.h", R"(#ifndef UOP_STDBOOL_H
#define UOP_STDBOOL_H
#define bool _Bool
#define true 1
#define false 0
#endif
)"},
    {"stddef.h", R"(#ifndef UOP_STDDEF_H
#define UOP_STDDEF_H
typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
#define NULL ((void*)0)
#define offsetof(type, member) __builtin_offsetof(type, member)
#endif
)"},
};

}  // namespace uop::cpu
