// Runs artifacts on the CPU.
//
//   auto artifact = Artifact::open("OUT");            // or Artifact::inMemory(manifest, resolver, program)
//   auto session = Session::create(*artifact, {});
//   session->bind("x", tensor);
//   session->run();
//   auto y = session->result("y");
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/manifest.h"
#include "runtime/tensor.h"
#include "runtime/thread_pool.h"

namespace uop {

// The C interface of a kernel, called once a task. places[k] is the address of the launch's k-th place argument,
// scalars[k] the bits of its k-th scalar (integers and bool sign- or zero-extended, floats as their storage bits in the low
// bytes), `task` counts 0 … grid[0]*grid[1]*grid[2]-1 with grid[0] running fastest, `scratch` is the worker's own block of
// memory.scratch_bytes_per_thread bytes, on 64 bytes; null where that is 0.
using KernelFn = void (*)(void* const* places, const int64_t* scalars, int64_t task, void* scratch);

// How a kernel's code is found, in place of dlopen; a JIT gives one. What it returns must live as long as the artifact: the
// callback is kept until then, and may own the code.
using KernelResolver = std::function<Result<KernelFn>(const KernelInfo&)>;

// A manifest with its code. Copies share it.
class Artifact {
 public:
  // Reads folder/manifest.json and checks it and every file. Loads no code yet, so that --list works for another CPU.
  // Errors: Diag::CannotOpen, Diag::ManifestError.
  static Result<Artifact> open(const std::string& folder);
  // Errors: Diag::ManifestError; constants must not name a file.
  static Result<Artifact> inMemory(Manifest manifest, KernelResolver resolver, std::string program = "");

  const Manifest& manifest() const;
  // The canonical program's text.
  Result<std::string> program() const;

 private:
  friend class Session;
  struct Data;
  std::shared_ptr<Data> data_;
};

struct SessionOptions {
  int threads = 0;  // 0: one a core
};

// Wall-clock time of one launch, in ns since the start of the run it belongs to.
struct LaunchTime {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t flops = 0;
  int64_t bytes = 0;
  int64_t tasks = 0;
};

// One loaded program: its state, its arguments, its threads. Not for use from two threads at once.
class Session {
 public:
  // Checks the CPU's features, loads the kernels, allocates state, arena and scratch. Errors: Diag::MissingFeature,
  // Diag::KernelLoad, Diag::OutOfMemory; Diag::Unsupported for a target that is no CPU (unless the artifact is in memory).
  static Result<Session> create(const Artifact& artifact, const SessionOptions& options = {});
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;
  ~Session();

  const Manifest& manifest() const;
  int threads() const;

  // Binds an argument or a buffer. A buffer is copied into the state; a tensor that an argument is bound to is taken over
  // when `value` is its only owner, else copied, so that a program that writes an argument never changes the caller's.
  // Errors: Diag::UnknownName (with the nearest name), Diag::BindType, Diag::BindRange (an integer out of min … max).
  Result<void> bind(std::string_view name, Tensor value);
  // Names in the manifest's order.
  std::vector<std::string> unboundArguments() const;
  std::vector<std::string> unboundBuffers() const;  // these start as zeros

  // All launches, in order; before the first, `once` where a const buffer was bound since. Allocates nothing between the
  // first launch and the last. Errors: Diag::Unbound; Diag::RuntimeFault for a grid over its stated maximum.
  Result<void> run();

  // Copies. Results are those of the last run. Errors: Diag::UnknownName, Diag::OutOfMemory.
  Result<Tensor> result(std::string_view name) const;
  Result<Tensor> state(std::string_view name) const;     // a buffer
  Result<Tensor> argument(std::string_view name) const;  // as bound, or as the program left it; Diag::Unbound without

  // Keeps, and puts back, what a run may change: buffers that are not const and arguments that a launch writes. For --bench.
  Result<void> snapshot();
  void restore();

  // Times of the last run's launches, in order, while timing is on; empty without.
  void setTiming(bool on);
  std::span<const LaunchTime> timings() const;

 private:
  struct Impl;
  explicit Session(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace uop
