// A shared object of kernels.
#pragma once
#include <string>

#include "support/diagnostics.h"

namespace uop {

class Library {
 public:
  Library() = default;
  // All symbols are bound at once and stay private to the object. Errors: Diag::KernelLoad.
  static Result<Library> open(const std::string& path);
  Library(Library&& other) noexcept : handle_(other.handle_), path_(std::move(other.path_)) { other.handle_ = nullptr; }
  Library& operator=(Library&& other) noexcept;
  ~Library();

  // Errors: Diag::KernelLoad where there is no such symbol.
  Result<void*> symbol(const std::string& name) const;

 private:
  void* handle_ = nullptr;
  std::string path_;
};

}  // namespace uop
