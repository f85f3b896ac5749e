#include "cmd/uoprun/check.h"

#include <fmt/format.h>

#include "cmd/common/compare.h"

namespace uop::uoprun {
namespace {

// Terms of a chain of steps add up like those of a sum.
int64_t termsOf(const Program& program, int64_t steps) { return longestReduction(program) * std::max<int64_t>(steps, 1); }

bool same(std::string_view kind, std::string_view name, const Tensor& got, const Tensor& want, int64_t terms, const Messages& messages) {
  auto difference = compareTensors(got, want, terms);
  if (difference) messages.err << fmt::format("check: {} '{}' differs from the interpreter {}\n", kind, name, difference->text);
  return !difference;
}

}  // namespace

Result<bool> check(const Program& program, const Bindings& bindings, Runner& runner, int64_t steps, const Messages& messages) {
  auto reference = interpreterRunner(compacted(program));
  if (auto ok = bindAll(*reference, bindings); !ok) return std::unexpected(ok.error());
  for (int64_t i = 0; i < steps; ++i) {
    if (auto ok = bindStep(*reference, bindings, i); !ok) return std::unexpected(ok.error());
    if (auto ok = reference->run(); !ok) return std::unexpected(ok.error());
  }
  int64_t terms = termsOf(program, steps);
  bool all = true;
  for (const auto& r : runner.signature().results) {
    auto got = runner.result(r.name), want = reference->result(r.name);
    if (!got) return std::unexpected(got.error());
    if (!want) return std::unexpected(want.error());
    all = same("result", r.name, *got, *want, terms, messages) && all;
  }
  for (const auto& b : runner.signature().buffers) {
    auto got = runner.state(b.name), want = reference->state(b.name);
    if (!got) return std::unexpected(got.error());
    if (!want) return std::unexpected(want.error());
    all = same("BUFFER", b.name, *got, *want, terms, messages) && all;
  }
  return all;
}

}  // namespace uop::uoprun
