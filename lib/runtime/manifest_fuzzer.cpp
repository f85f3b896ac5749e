// The manifest's reader on any bytes: no crash, and what it accepts is written to JSON that reads as an equal manifest.
#include <cstdint>
#include <cstdlib>

#include "runtime/manifest.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace uop;
  auto manifest = parseManifest({reinterpret_cast<const char*>(data), size});
  if (!manifest) return 0;
  std::string text = writeManifest(*manifest);
  auto again = parseManifest(text);
  if (!again || *again != *manifest || writeManifest(*again) != text) std::abort();
  return 0;
}
