#include "cmd/compiler/timeline.h"

#include <chrono>

namespace uop {

int64_t Timeline::nanoseconds() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

double Timeline::now() const { return static_cast<double>(nanoseconds() - startNs_) * 1e-3; }

void Timeline::add(std::string name, std::string category, double startUs, int thread) {
  const double end = now();
  const std::lock_guard lock(mutex_);
  slices_.push_back({std::move(name), std::move(category), startUs, end - startUs, thread, {}});
}

std::vector<TraceSlice> Timeline::slices() const {
  const std::lock_guard lock(mutex_);
  return slices_;
}

}  // namespace uop
