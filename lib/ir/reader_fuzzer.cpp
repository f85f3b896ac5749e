// The reader on any bytes: no crash, and what it accepts prints to text that it accepts again, the same.
#include <cstdint>
#include <cstdlib>

#include "ir/program.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace uop;
  SourceBuffer source("fuzz", std::string(reinterpret_cast<const char*>(data), size));
  Diagnostics diags(&source);
  auto p = readProgram(source, diags);
  diags.render();
  if (!p) return 0;
  std::string text = printProgram(*p);
  SourceBuffer again("again", text);
  Diagnostics more(&again);
  auto q = readProgram(again, more);
  if (!q || printProgram(*q) != text) std::abort();
  return 0;
}
