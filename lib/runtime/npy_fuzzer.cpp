// The .npy reader on any bytes: no crash, and what it accepts is written to bytes that give the same array.
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "runtime/npy.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace uop;
  auto tensor = parseNpy({reinterpret_cast<const char*>(data), size}, "fuzz");
  if (!tensor) return 0;
  auto bytes = serializeNpy(*tensor, "fuzz");
  if (!bytes) std::abort();
  auto again = parseNpy(*bytes, "again");
  if (!again || again->dtype != tensor->dtype || again->shape != tensor->shape || again->bytes != tensor->bytes) std::abort();
  if (tensor->bytes && std::memcmp(again->data(), tensor->data(), tensor->bytes) != 0) std::abort();
  return 0;
}
