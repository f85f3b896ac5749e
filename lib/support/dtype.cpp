#include "support/dtype.h"

#include <array>

namespace uop {
namespace {

constexpr auto kInfos = std::to_array<DTypeInfo>({
#define DTYPE(id, name, bytes, kind, c, npy, st) {name, bytes, DTypeKind::kind, c, npy, st},
#include "support/dtypes.def"
});

}  // namespace

const DTypeInfo& info(DType d) { return kInfos[static_cast<size_t>(d)]; }

std::optional<DType> dtypeByName(std::string_view text) {
  for (size_t i = 0; i < kInfos.size(); ++i)
    if (kInfos[i].name == text && static_cast<DType>(i) != DType::Tuple) return static_cast<DType>(i);
  return std::nullopt;
}

int64_t minValue(DType d) { return isSigned(d) ? -static_cast<int64_t>(maxValue(d)) - 1 : 0; }

uint64_t maxValue(DType d) {
  if (d == DType::Bool) return 1;
  uint64_t all = byteSize(d) == 8 ? ~uint64_t{0} : (uint64_t{1} << (8 * byteSize(d))) - 1;
  return isSigned(d) ? all >> 1 : all;
}

}  // namespace uop
