#pragma once
#include <cstdint>
#include <span>
#include <string>

namespace uop {

std::string shapeText(std::span<const int64_t> shape);  // "[2,3]"

}  // namespace uop
