#include "cmd/uoprun/bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

namespace uop::uoprun {
namespace {

using Clock = std::chrono::steady_clock;

struct Row {
  std::string name;
  int64_t launches = 0;              // a run
  double flops = 0, bytes = 0;       // a run
  std::vector<double> microseconds;  // by run, summed over the launches

  double median() const {
    auto v = microseconds;
    if (v.empty()) return 0;
    std::ranges::sort(v);
    return v.size() % 2 ? v[v.size() / 2] : (v[v.size() / 2 - 1] + v[v.size() / 2]) / 2;
  }
  double min() const { return microseconds.empty() ? 0 : std::ranges::min(microseconds); }
  double max() const { return microseconds.empty() ? 0 : std::ranges::max(microseconds); }
  double perSecond(double amount) const { return median() > 0 ? amount / median() * 1e-3 : 0; }  // in 10^9
};

class Bench {
 public:
  Bench(const Options& options, Runner& runner) : options_(options), runner_(runner) {
    total_.name = "total";
    if (Session* s = runner.session())
      for (const auto& k : s->manifest().kernels) kernels_.push_back({k.name, 0, 0, 0, {}});
  }

  Result<void> run(const Messages& messages) {
    if (auto ok = runner_.snapshot(); !ok) return ok;
    if (Session* s = runner_.session()) s->setTiming(true);
    int64_t runs = options_.warmup + options_.bench;
    for (int64_t i = 0; i < runs; ++i) {
      if (i) runner_.restore();
      auto begin = Clock::now();
      if (auto ok = runner_.run(); !ok) return ok;
      double us = std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
      if (i >= options_.warmup) record(us);
      messages.progress(i + 1, runs);
    }
    return {};
  }

  std::string table() const {
    std::string out = fmt::format("{:32} {:>8} {:>11} {:>11} {:>11} {:>9} {:>9}\n", "", "launches", "min us", "median us", "max us", "GFLOP/s", "GB/s");
    for (const Row& r : kernels_) out += rowText(r);
    return out + rowText(total_);
  }

  std::string json() const {
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (const Row& r : kernels_) rows.push_back(rowJson(r));
    return nlohmann::ordered_json{{"runs", options_.bench}, {"warmup", options_.warmup}, {"total", rowJson(total_)}, {"kernels", rows}}.dump(2) + "\n";
  }

 private:
  void record(double us) {
    total_.microseconds.push_back(us);
    Session* s = runner_.session();
    if (!s) return;
    for (Row& r : kernels_) {
      r.launches = 0, r.flops = 0, r.bytes = 0;
      r.microseconds.push_back(0);
    }
    total_.launches = 0, total_.flops = 0, total_.bytes = 0;
    auto times = s->timings();
    for (size_t i = 0; i < times.size(); ++i) {
      Row& kernel = kernels_[static_cast<size_t>(s->manifest().launches[i].kernel)];
      kernel.microseconds.back() += static_cast<double>(times[i].end - times[i].begin) * 1e-3;
      for (Row* r : {&kernel, &total_}) {
        ++r->launches;
        r->flops += static_cast<double>(times[i].flops);
        r->bytes += static_cast<double>(times[i].bytes);
      }
    }
  }

  static std::string rowText(const Row& r) {
    return fmt::format("{:32} {:>8} {:>11.2f} {:>11.2f} {:>11.2f} {:>9.2f} {:>9.2f}\n", r.name, r.launches, r.min(), r.median(), r.max(),
                       r.perSecond(r.flops), r.perSecond(r.bytes));
  }
  static nlohmann::ordered_json rowJson(const Row& r) {
    return {{"name", r.name},        {"launches", r.launches}, {"min_us", r.min()},   {"median_us", r.median()},
            {"max_us", r.max()},     {"flops", r.flops},       {"bytes", r.bytes},    {"gflops_per_s", r.perSecond(r.flops)},
            {"gb_per_s", r.perSecond(r.bytes)}};
  }

  const Options& options_;
  Runner& runner_;
  std::vector<Row> kernels_;
  Row total_;
};

}  // namespace

Result<void> bench(const Options& options, Runner& runner, const Messages& messages, std::ostream& out) {
  Bench b(options, runner);
  if (auto ok = b.run(messages); !ok) return ok;
  out << (options.json ? b.json() : b.table()) << std::flush;
  return {};
}

}  // namespace uop::uoprun
