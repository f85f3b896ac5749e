// Chrome/Perfetto traces: load the file in ui.perfetto.dev or chrome://tracing.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/executor.h"

namespace uop {

struct TraceSlice {
  std::string name;
  std::string category;                                // e.g. "kernel"
  double startUs = 0;                                  // microseconds from the trace's start
  double durationUs = 0;
  int thread = 0;                                      // row in the viewer
  std::vector<std::pair<std::string, double>> values;  // shown when the slice is clicked
};

class Trace {
 public:
  void add(TraceSlice slice) { slices_.push_back(std::move(slice)); }
  // One slice a launch, named after its kernel, with launch number, tasks, GFLOP/s and GB/s. `startUs`: where the run began.
  void addRun(const Manifest& manifest, std::span<const LaunchTime> times, double startUs = 0);
  std::string json(std::string_view processName) const;
  // Errors: Diag::CannotWrite.
  Result<void> write(const std::string& path, std::string_view processName) const;

 private:
  std::vector<TraceSlice> slices_;
};

}  // namespace uop
