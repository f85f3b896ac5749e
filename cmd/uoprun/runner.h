// One program ready to be bound and run, on whatever device: compiled code through the runtime, or the interpreter.
#pragma once
#include <memory>
#include <string_view>

#include "cmd/common/signature.h"
#include "runtime/executor.h"

namespace uop::uoprun {

class Runner {
 public:
  virtual ~Runner() = default;
  virtual const Signature& signature() const = 0;
  // Errors: Diag::UnknownName, Diag::BindType, Diag::BindRange.
  virtual Result<void> bind(std::string_view name, Tensor value) = 0;
  virtual std::vector<std::string> unboundArguments() const = 0;
  virtual std::vector<std::string> unboundBuffers() const = 0;
  virtual Result<void> run() = 0;
  virtual Result<Tensor> result(std::string_view name) = 0;
  virtual Result<Tensor> state(std::string_view name) = 0;
  virtual Result<void> snapshot() = 0;
  virtual void restore() = 0;
  virtual Session* session() { return nullptr; }  // of compiled code, for timings
};

Result<std::unique_ptr<Runner>> sessionRunner(const Artifact& artifact, int threads);
std::unique_ptr<Runner> interpreterRunner(Program program);

}  // namespace uop::uoprun
