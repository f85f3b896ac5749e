#include "cmd/uoprun/report.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/arrays.h"
#include "runtime/numpy_print.h"

namespace uop::uoprun {
namespace {

Result<void> requireResult(const Signature& s, std::string_view name) {
  std::vector<std::string_view> names;
  for (const auto& r : s.results) names.push_back(r.name);
  if (std::ranges::find(names, name) != names.end()) return {};
  return fail(Diag::Usage, fmt::format("there is no result '{}'{}", name, suggest(name, names)));
}

Result<ArrayList> allResults(Runner& runner) {
  ArrayList list;
  for (const auto& r : runner.signature().results) {
    auto tensor = runner.result(r.name);
    if (!tensor) return std::unexpected(tensor.error());
    list.emplace_back(r.name, std::move(*tensor));
  }
  return list;
}

Result<void> saveState(const std::string& file, Runner& runner) {
  ArrayList list;
  for (const auto& b : runner.signature().buffers) {
    auto tensor = runner.state(b.name);
    if (!tensor) return std::unexpected(tensor.error());
    list.emplace_back(b.name, std::move(*tensor));
  }
  return writeArrays(file, list);
}

Result<void> printResults(const std::vector<std::string>& names, Runner& runner, std::ostream& out) {
  for (const std::string& name : names) {
    auto tensor = runner.result(name);
    if (!tensor) return std::unexpected(tensor.error());
    out << formatTensor(*tensor) << '\n';
  }
  return {};
}

Result<void> summarize(Runner& runner, std::ostream& out) {
  for (const auto& r : runner.signature().results) {
    auto tensor = runner.result(r.name);
    if (!tensor) return std::unexpected(tensor.error());
    out << r.name << ": " << summarizeTensor(*tensor) << '\n';
  }
  return {};
}

std::string amountText(const Amount& a) { return a.expr.empty() ? fmt::format("{}", a.value) : fmt::format("{} (at most {})", a.expr, a.value); }

std::string placeText(const Manifest& m, const Place& p) {
  auto offset = p.offset ? fmt::format("+{}", p.offset) : "";
  auto i = static_cast<size_t>(p.index);
  switch (p.base) {
    case Base::Argument: return m.arguments[i].name + offset;
    case Base::Buffer: return m.buffers[i].name + offset;
    case Base::Constant: return m.constants[i].name + offset;
    case Base::Result: return m.results[i].name + offset;
    case Base::Arena: return fmt::format("arena+{}", p.offset);
  }
  return "";
}

std::string launchText(const Manifest& m, const Launch& l) {
  std::string args;
  for (const LaunchArg& a : l.args) {
    if (!args.empty()) args += ", ";
    args += a.kind == LaunchArg::Kind::Place ? (a.write ? "&" : "") + placeText(m, a.place) : m.arguments[static_cast<size_t>(a.index)].name;
  }
  return fmt::format("  {}({}) grid {}x{}x{} flops {} bytes {}{}\n", m.kernels[static_cast<size_t>(l.kernel)].name, args, amountText(l.grid[0]),
                     amountText(l.grid[1]), amountText(l.grid[2]), amountText(l.flops), amountText(l.bytes), l.tag.empty() ? "" : "  # " + l.tag);
}

}  // namespace

Result<void> checkOutputs(const Options& o, const Signature& s) {
  for (const auto& [name, file] : o.outputs)
    if (auto ok = requireResult(s, name); !ok) return ok;
  for (const auto& name : o.prints)
    if (auto ok = requireResult(s, name); !ok) return ok;
  for (const auto& file : o.outputFiles)
    if (file.ends_with(".npz"))
      for (const auto& r : s.results)
        if (r.dtype == DType::BF16) return fail(Diag::BadFile, file, fmt::format("the result '{}' is bf16, which .npz cannot hold; use .safetensors", r.name));
  return {};
}

Result<void> writeOutputs(const Options& o, Runner& runner, std::ostream& out) {
  for (const auto& [name, file] : o.outputs) {
    auto tensor = runner.result(name);
    if (!tensor) return std::unexpected(tensor.error());
    if (auto ok = writeArrays(file, {{file.ends_with(".npy") ? "" : name, std::move(*tensor)}}); !ok) return ok;
  }
  if (!o.outputFiles.empty()) {
    auto results = allResults(runner);
    if (!results) return std::unexpected(results.error());
    for (const auto& file : o.outputFiles)
      if (auto ok = writeArrays(file, *results); !ok) return ok;
  }
  if (!o.saveState.empty())
    if (auto ok = saveState(o.saveState, runner); !ok) return ok;
  if (!o.prints.empty()) return printResults(o.prints, runner, out);
  if (o.outputs.empty() && o.outputFiles.empty() && o.saveState.empty() && !o.quiet && !o.bench) return summarize(runner, out);
  return {};
}

std::string listText(const Manifest& m) {
  std::string out = fmt::format("{} for {}{}{}\n", m.name.empty() ? "program" : m.name, m.target.name, m.target.cpu.empty() ? "" : ":", m.target.cpu);
  auto row = [&](std::string_view kind, std::string_view name, DType d, const Shape& s, std::string_view more) {
    out += fmt::format("  {} {}: {}{}\n", kind, name, typeText(d, s), more);
  };
  for (const auto& a : m.arguments) {
    std::string limits = a.min || a.max ? fmt::format(" {}…{}", a.min ? fmt::format("{}", *a.min) : "", a.max ? fmt::format("{}", *a.max) : "") : "";
    row("argument", a.name, a.dtype, a.shape, limits);
  }
  for (const auto& b : m.buffers) row("buffer", b.name, b.dtype, b.shape, b.isConst ? " const" : "");
  for (const auto& c : m.constants) row("constant", c.name, c.dtype, c.shape, "");
  for (const auto& r : m.results) row("result", r.name, r.dtype, r.shape, " at " + placeText(m, r.place));
  out += fmt::format("memory: arena {} bytes (peak {}), state {} bytes, scratch {} bytes a thread\n", m.memory.arenaBytes, m.memory.peakBytes,
                     m.memory.stateBytes, m.memory.scratchBytesPerThread);
  out += fmt::format("{} kernels, {} launches at load, {} a run\n", m.kernels.size(), m.once.size(), m.launches.size());
  for (const auto& l : m.once) out += "  once" + launchText(m, l);
  for (const auto& l : m.launches) out += launchText(m, l);
  return out;
}

}  // namespace uop::uoprun
