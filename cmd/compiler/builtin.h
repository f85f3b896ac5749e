// The pipelines of passes/pipelines/, embedded when this is built.
#pragma once
#include <span>
#include <string_view>

namespace uop {

struct BuiltinPipeline {
  std::string_view name, json;
};
std::span<const BuiltinPipeline> builtinPipelines();

}  // namespace uop
