// The .safetensors reader on any bytes: no crash, and what it accepts is written to bytes that give the same arrays.
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "runtime/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace uop;
  auto arrays = parseSafetensors({reinterpret_cast<const char*>(data), size}, "fuzz");
  if (!arrays) return 0;
  auto bytes = serializeSafetensors(ArrayList(arrays->begin(), arrays->end()), "fuzz");
  if (!bytes) std::abort();
  auto again = parseSafetensors(*bytes, "again");
  if (!again || again->size() != arrays->size()) std::abort();
  for (const auto& [name, tensor] : *arrays) {
    auto it = again->find(name);
    if (it == again->end() || it->second.dtype != tensor.dtype || it->second.shape != tensor.shape) std::abort();
    if (tensor.bytes && std::memcmp(it->second.data(), tensor.data(), tensor.bytes) != 0) std::abort();
  }
  return 0;
}
