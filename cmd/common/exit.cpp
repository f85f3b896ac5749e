#include "cmd/common/exit.h"

namespace uop {

int exitStatus(const Error& error) {
  switch (error.kind) {
    case Diag::Usage: return kUsageError;
    case Diag::MissingFeature:
    case Diag::KernelLoad:
    case Diag::OutOfMemory:
    case Diag::Unsupported: return kDeviceError;
    default: return kInputError;
  }
}

void Messages::show(const Diagnostics& diags) const {
  if (quiet && !diags.errorCount()) return;
  err << diags.render(color) << std::flush;
}

int Messages::show(const Error& error, const SourceBuffer* source) const {
  Diagnostics diags(source);
  diags.add(error);
  show(diags);
  return exitStatus(error);
}

void Messages::warn(std::string_view text) const {
  if (quiet) return;
  err << (color ? "\x1b[1;35mwarning:\x1b[0m " : "warning: ") << text << '\n' << std::flush;
}

void Messages::progress(int64_t done, int64_t all) const {
  if (quiet || !terminal || all < 2) return;
  if (done == all)
    err << "\r\x1b[K" << std::flush;
  else
    err << '\r' << done << '/' << all << std::flush;
}

}  // namespace uop
