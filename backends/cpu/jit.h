// Objects to callable code in this process (LLVM ORC with JITLink).
#pragma once
#include <memory>
#include <string_view>

#include "support/diagnostics.h"

namespace uop::cpu {

// Code lives as long as its Jit. Safe from several threads. Symbols that no object defines come from the process
// (memcpy, memset, …).
class Jit {
 public:
  static Result<std::unique_ptr<Jit>> create();  // errors: Diag::Unsupported where the process may not make code
  ~Jit();
  Jit(const Jit&) = delete;
  Jit& operator=(const Jit&) = delete;

  // Linked when one of its symbols is first looked up. A symbol defined twice or bytes that are no object are an error
  // (Diag::KernelLoad): a saved object may be damaged.
  Result<void> addObject(std::string_view bytes);
  // Errors: Diag::KernelLoad.
  Result<void*> lookup(std::string_view symbol);

 private:
  struct Impl;
  explicit Jit(std::unique_ptr<Impl>);
  std::unique_ptr<Impl> impl_;
};

}  // namespace uop::cpu
