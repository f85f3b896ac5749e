// Data types of the format, section 2. They live in support, not in ir, because the runtime needs them and stands on
// support alone.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace uop {

enum class DType : uint8_t {
#define DTYPE(id, ...) id,
#include "support/dtypes.def"
};

enum class DTypeKind : uint8_t { None, Bool, Int, UInt, Float };

struct DTypeInfo {
  std::string_view name;         // as spelled in .uop text
  uint32_t bytes;                // size of one element in memory; 0 for void and tuple
  DTypeKind kind;
  std::string_view cName;        // storage type in C
  std::string_view npyDescr;     // "" where .npy cannot hold it
  std::string_view safetensors;  // "" where safetensors cannot hold it
};

const DTypeInfo& info(DType);
std::optional<DType> dtypeByName(std::string_view name);  // names of the format only: not "tuple"

inline std::string_view name(DType d) { return info(d).name; }
inline uint32_t byteSize(DType d) { return info(d).bytes; }
inline bool isFloat(DType d) { return info(d).kind == DTypeKind::Float; }
inline bool isSigned(DType d) { return info(d).kind == DTypeKind::Int; }
inline bool isUnsigned(DType d) { return info(d).kind == DTypeKind::UInt; }
inline bool isInteger(DType d) { return isSigned(d) || isUnsigned(d); }
inline bool isNumber(DType d) { return isInteger(d) || isFloat(d); }
inline bool isValue(DType d) { return d != DType::Void && d != DType::Tuple; }

// Least and greatest value of an integer dtype, or of bool (0, 1). u64's greatest does not fit and is given as its bits.
int64_t minValue(DType);
uint64_t maxValue(DType);

}  // namespace uop
