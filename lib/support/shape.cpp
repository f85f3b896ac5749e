#include "support/shape.h"

#include <fmt/format.h>

namespace uop {

std::string shapeText(std::span<const int64_t> shape) { return fmt::format("[{}]", fmt::join(shape, ",")); }

}  // namespace uop
