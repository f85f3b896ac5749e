#include "runtime/profile.h"

#include <nlohmann/json.hpp>

#include "support/file.h"

namespace uop {

void Trace::addRun(const Manifest& manifest, std::span<const LaunchTime> times, double startUs) {
  for (size_t i = 0; i < times.size() && i < manifest.launches.size(); ++i) {
    const Launch& launch = manifest.launches[i];
    const LaunchTime& t = times[i];
    double ns = static_cast<double>(t.end - t.begin);
    const std::string& name = launch.tag.empty() ? manifest.kernels[static_cast<size_t>(launch.kernel)].name : launch.tag;
    auto rate = [&](int64_t amount) { return ns > 0 ? static_cast<double>(amount) / ns : 0.0; };
    add({name, "kernel", startUs + static_cast<double>(t.begin) / 1e3, ns / 1e3, 0,
         {{"launch", static_cast<double>(i)}, {"tasks", static_cast<double>(t.tasks)}, {"GFLOP/s", rate(t.flops)}, {"GB/s", rate(t.bytes)}}});
  }
}

std::string Trace::json(std::string_view processName) const {
  using Json = nlohmann::ordered_json;
  Json events = Json::array();
  events.push_back({{"name", "process_name"}, {"ph", "M"}, {"pid", 1}, {"tid", 0}, {"args", {{"name", processName}}}});
  for (const TraceSlice& s : slices_) {
    Json args = Json::object();
    for (const auto& [key, value] : s.values) args[key] = value;
    events.push_back({{"name", s.name}, {"cat", s.category}, {"ph", "X"}, {"ts", s.startUs}, {"dur", s.durationUs}, {"pid", 1}, {"tid", s.thread}, {"args", args}});
  }
  return Json{{"traceEvents", events}, {"displayTimeUnit", "ns"}}.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<void> Trace::write(const std::string& path, std::string_view processName) const { return writeFileAtomically(path, json(processName)); }

}  // namespace uop
