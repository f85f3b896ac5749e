#include "support/hash.h"

#include <sha2.h>

namespace uop {

std::string sha256Hex(std::string_view data) {
  char hex[SHA256_DIGEST_STRING_LENGTH];
  SHA256Data(reinterpret_cast<const uint8_t*>(data.data()), data.size(), hex);
  return hex;
}

}  // namespace uop
