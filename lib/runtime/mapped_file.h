// A file's bytes, mapped rather than read: a file of weights is copied once, into its tensors.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

#include "support/diagnostics.h"

namespace uop {

class MappedFile {
 public:
  // Pipes, devices and "-" are read instead. A file that another process cuts short while it is mapped ends this process
  // (SIGBUS), as with any program that maps its input. Errors: Diag::CannotOpen.
  static Result<MappedFile> open(const std::string& path);
  MappedFile() = default;
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  std::string_view bytes() const { return map_ ? std::string_view(static_cast<const char*>(map_), size_) : text_; }

 private:
  void* map_ = nullptr;
  size_t size_ = 0;
  std::string text_;
};

}  // namespace uop
