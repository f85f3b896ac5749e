// Any bytes as a pipeline: refused with messages, or read, printed and read again to the same text.
#include <cstdlib>

#include "pass/pipeline.h"

namespace {

uop::Result<uop::Program> same(uop::Program p, uop::PassContext&) { return p; }

const std::vector<uop::PassInfo>& table() {
  static const std::vector<uop::PassInfo> all = {
      {"canonicalize", same, uop::Form::Tensor, uop::Form::Canonical, "", {}},
      {"inline-calls", same, uop::Form::Canonical, uop::Form::Flat, "", {{"limit", "int", "7", ""}}},
      {"simplify", same, uop::Form::Any, uop::Form::Any, "", {{"rules", "strings", "[]", ""}, {"limit", "int", "0", ""}, {"name", "string", "\"\"", ""}, {"on", "bool", "false", ""}}},
  };
  return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  uop::SourceBuffer source("p.json", std::string(reinterpret_cast<const char*>(data), size));
  uop::Diagnostics diags(&source);
  auto pipeline = uop::readPipeline(source, table(), diags);
  (void)diags.render();
  if (!pipeline) return 0;
  std::string text = uop::printPipeline(*pipeline);
  uop::SourceBuffer printed("p.json", text);
  uop::Diagnostics again(&printed);
  auto second = uop::readPipeline(printed, table(), again);
  if (!second || uop::printPipeline(*second) != text) std::abort();
  (void)uop::setOption(*pipeline, std::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
