// Objects to a shared library with lld in this process.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "support/diagnostics.h"

namespace uop::cpu {

// The bytes of a shared library that a plain dlopen loads: no DT_NEEDED (memcpy and its like come from the process), no
// build id; the same objects give the same bytes. lld is serial: callers on other threads wait.
// A link that fails is an internalError with lld's messages. Errors: Diag::CannotWrite for the private temporary files.
Result<std::string> linkShared(std::span<const std::string> objects, std::string_view soname);

}  // namespace uop::cpu
