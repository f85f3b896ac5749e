// Exit statuses, and how an error becomes one and a message.
#pragma once
#include <ostream>
#include <string_view>

#include "support/diagnostics.h"

namespace uop {

enum ExitStatus : int { kDone = 0, kInputError = 1, kUsageError = 2, kCompilerFault = 3, kDeviceError = 4, kInterrupted = 130 };

int exitStatus(const Error& error);

enum class ColorMode : uint8_t { Auto, Always, Never };

// Where messages go. Both programs print every diagnostic through here.
struct Messages {
  std::ostream& err;
  bool color = false;
  bool quiet = false;     // no warnings
  bool terminal = false;  // progress may be shown

  void show(const Diagnostics& diags) const;
  // Prints the error; returns its exit status.
  int show(const Error& error, const SourceBuffer* source = nullptr) const;
  void warn(std::string_view text) const;
  // One line that the next call overwrites; `done` = `all` clears it.
  void progress(int64_t done, int64_t all) const;
};

}  // namespace uop
