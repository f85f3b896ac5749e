// When the stages of a compilation ran, beside its passes: for --stats and --time-trace.
#pragma once
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/profile.h"

namespace uop {

// Safe from several threads.
class Timeline {
 public:
  double now() const;  // microseconds since this was made
  // A slice of the trace from `startUs` to now.
  void add(std::string name, std::string category, double startUs, int thread = 0);
  std::vector<TraceSlice> slices() const;

  // Calls fn() as the stage `name`.
  template <class Fn>
  auto stage(std::string name, Fn fn) {
    const double start = now();
    auto result = fn();
    add(std::move(name), "stage", start);
    return result;
  }

 private:
  const int64_t startNs_ = nanoseconds();
  static int64_t nanoseconds();
  mutable std::mutex mutex_;
  std::vector<TraceSlice> slices_;
};

}  // namespace uop
