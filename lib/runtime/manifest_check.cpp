// What must hold between the parts of a manifest, and between it and its files.
#include <algorithm>
#include <set>

#include "runtime/cpu_features.h"
#include "runtime/manifest.h"
#include "support/file.h"
#include "support/hash.h"

namespace uop {
namespace {

namespace fs = std::filesystem;

class Checker {
 public:
  Checker(const Manifest& m, ManifestForm form, std::string_view label) : m_(m), form_(form), label_(label) {}
  Result<void> run();

 private:
  using R = Result<void>;
  R wrong(std::string place, std::string message) const { return fail(Diag::ManifestError, label_, place, message); }
  R tensors();
  R state();
  R places();
  R files();
  R kernels();
  R launches(const std::vector<Launch>& list, std::string_view what);
  R launch(const Launch& l, const std::string& at);
  R amount(const Amount& a, const std::string& at);
  R place(const Place& p, const std::string& at, bool ofResult);
  int64_t sizeOf(Base base, int64_t index) const;
  R hash(const std::string& sha, const std::string& at);
  R path(const std::string& file, const std::string& at);
  template <class List>
  R unique(const List& list, std::string_view what, std::set<std::string>& names);

  const Manifest& m_;
  ManifestForm form_;
  std::string label_;
  std::set<std::string> known_;
};

#define TRY(expr)                   \
  if (R done = (expr); !done) return done

template <class List>
Checker::R Checker::unique(const List& list, std::string_view what, std::set<std::string>& names) {
  for (size_t i = 0; i < list.size(); ++i)
    if (!names.insert(list[i].name).second) return wrong(fmt::format("{}[{}].name", what, i), fmt::format("'{}' stands twice", list[i].name));
  return {};
}

Checker::R Checker::tensors() {
  std::set<std::string> bound, results, kernels, constants;
  TRY(unique(m_.arguments, "arguments", bound));
  TRY(unique(m_.buffers, "buffers", bound));
  TRY(unique(m_.results, "results", results));
  TRY(unique(m_.constants, "constants", constants));
  TRY(unique(m_.kernels, "kernels", kernels));
  auto shapes = [&](const auto& list, std::string_view what) -> R {
    for (size_t i = 0; i < list.size(); ++i)
      if (!byteCount(list[i].dtype, list[i].shape)) return wrong(fmt::format("{}[{}].shape", what, i), shapeText(list[i].shape) + " is too large");
    return {};
  };
  TRY(shapes(m_.arguments, "arguments"));
  TRY(shapes(m_.buffers, "buffers"));
  TRY(shapes(m_.constants, "constants"));
  TRY(shapes(m_.results, "results"));
  std::set<int64_t> slots;
  for (size_t i = 0; i < m_.arguments.size(); ++i) {
    const ArgumentInfo& a = m_.arguments[i];
    if (!slots.insert(a.slot).second) return wrong(fmt::format("arguments[{}].slot", i), fmt::format("{} stands twice", a.slot));
    if (a.min && a.max && *a.min > *a.max) return wrong(fmt::format("arguments[{}].min", i), "is greater than max");
  }
  slots.clear();
  for (size_t i = 0; i < m_.buffers.size(); ++i)
    if (!slots.insert(m_.buffers[i].slot).second) return wrong(fmt::format("buffers[{}].slot", i), fmt::format("{} stands twice", m_.buffers[i].slot));
  return {};
}

Checker::R Checker::state() {
  const MemoryPlan& p = m_.memory;
  if (p.alignment != static_cast<int64_t>(kAlignment)) return wrong("memory.alignment", fmt::format("is {}, expected {}", p.alignment, kAlignment));
  if (p.peakBytes > p.arenaBytes) return wrong("memory.peak_bytes", "is more than arena_bytes");
  if (p.arenaBytes < 0 || p.stateBytes < 0 || p.peakBytes < 0 || p.scratchBytesPerThread < 0) return wrong("memory", "is negative");
  constexpr int64_t most = int64_t{1} << 50;
  if (p.arenaBytes > most || p.stateBytes > most || p.scratchBytesPerThread > most) return wrong("memory", "is more than any machine has");
  std::vector<std::pair<int64_t, int64_t>> taken;
  auto place = [&](const auto& item, std::string at) -> R {
    auto bytes = static_cast<int64_t>(*byteCount(item.dtype, item.shape));
    if (item.offset % static_cast<int64_t>(kAlignment) != 0) return wrong(at, "is not aligned");
    if (item.offset < 0 || item.offset > p.stateBytes || bytes > p.stateBytes - item.offset) return wrong(at, "leaves the state");
    if (bytes) taken.emplace_back(item.offset, item.offset + bytes);
    return {};
  };
  for (size_t i = 0; i < m_.buffers.size(); ++i) TRY(place(m_.buffers[i], fmt::format("buffers[{}].offset", i)));
  for (size_t i = 0; i < m_.constants.size(); ++i) TRY(place(m_.constants[i], fmt::format("constants[{}].offset", i)));
  std::sort(taken.begin(), taken.end());
  for (size_t i = 1; i < taken.size(); ++i)
    if (taken[i].first < taken[i - 1].second) return wrong("memory.state_bytes", "buffers or constants overlap");
  return {};
}

int64_t Checker::sizeOf(Base base, int64_t index) const {
  auto of = [&](const auto& list) -> int64_t { return index >= 0 && index < static_cast<int64_t>(list.size()) ? static_cast<int64_t>(*byteCount(list[static_cast<size_t>(index)].dtype, list[static_cast<size_t>(index)].shape)) : -1; };
  switch (base) {
    case Base::Argument: return of(m_.arguments);
    case Base::Buffer: return of(m_.buffers);
    case Base::Constant: return of(m_.constants);
    case Base::Arena: return index == 0 ? m_.memory.arenaBytes : -1;
    case Base::Result: return of(m_.results);
  }
  return -1;
}

Checker::R Checker::place(const Place& p, const std::string& at, bool ofResult) {
  int64_t size = sizeOf(p.base, p.index);
  if (size < 0) return wrong(at + ".index", fmt::format("there is no {} {}", baseName(p.base), p.index));
  if (ofResult && p.base == Base::Result) return wrong(at + ".base", "a result cannot lie in a result");
  if (!ofResult && p.base == Base::Argument && m_.arguments[static_cast<size_t>(p.index)].isScalar()) return wrong(at + ".index", "a scalar argument is no place");
  if (p.offset < 0 || p.bytes < 0 || p.offset > size || p.bytes > size - p.offset) return wrong(at + ".offset", fmt::format("{} bytes at {} leave the {} of {} bytes", p.bytes, p.offset, baseName(p.base), size));
  return {};
}

Checker::R Checker::places() {
  for (size_t i = 0; i < m_.results.size(); ++i) {
    const ResultInfo& r = m_.results[i];
    std::string at = fmt::format("results[{}].place", i);
    TRY(place(r.place, at, true));
    if (static_cast<uint64_t>(r.place.bytes) != *byteCount(r.dtype, r.shape)) return wrong(at + ".bytes", fmt::format("is {}, but {} {} takes {}", r.place.bytes, name(r.dtype), shapeText(r.shape), *byteCount(r.dtype, r.shape)));
  }
  return {};
}

Checker::R Checker::path(const std::string& file, const std::string& at) {
  fs::path p(file);
  bool leaves = file.empty() || p.is_absolute() || file.find('\0') != std::string::npos || file.find('\\') != std::string::npos;
  for (const fs::path& part : p) leaves |= part == ".." || part == ".";
  return leaves ? wrong(at, fmt::format("'{}' is no path inside the folder", file.substr(0, 80))) : R{};
}

Checker::R Checker::hash(const std::string& sha, const std::string& at) {
  bool good = sha.size() == 64 && sha.find_first_not_of("0123456789abcdef") == std::string::npos;
  return good ? R{} : wrong(at, "is no SHA-256 in hex");
}

Checker::R Checker::files() {
  for (size_t i = 0; i < m_.files.size(); ++i) {
    std::string at = fmt::format("files[{}]", i);
    TRY(path(m_.files[i].file, at + ".file"));
    TRY(hash(m_.files[i].sha256, at + ".sha256"));
    if (!known_.insert(m_.files[i].file).second) return wrong(at + ".file", "stands twice");
  }
  if (form_ == ManifestForm::Folder) {
    TRY(path(m_.program.file, "program.file"));
    TRY(hash(m_.program.sha256, "program.sha256"));
  }
  for (size_t i = 0; i < m_.constants.size(); ++i) {
    const ConstantInfo& c = m_.constants[i];
    std::string at = fmt::format("constants[{}].file", i);
    if (c.file.empty()) continue;
    if (form_ == ManifestForm::InMemory) return wrong(at, "an artifact in memory has no files");
    auto it = std::find_if(m_.files.begin(), m_.files.end(), [&](const FileInfo& f) { return f.file == c.file; });
    if (it == m_.files.end()) return wrong(at, "is not among files");
    auto bytes = static_cast<int64_t>(*byteCount(c.dtype, c.shape));
    if (c.fileOffset < 0 || c.fileOffset > it->size || bytes > it->size - c.fileOffset) return wrong(at, "is too short for the constant");
  }
  return {};
}

Checker::R Checker::kernels() {
  for (size_t i = 0; i < m_.kernels.size(); ++i) {
    const KernelInfo& k = m_.kernels[i];
    std::string at = fmt::format("kernels[{}]", i);
    if (k.symbol.empty()) return wrong(at + ".symbol", "is empty");
    if (form_ == ManifestForm::InMemory && k.file.empty()) continue;
    TRY(path(k.file, at + ".file"));
    TRY(hash(k.sha256, at + ".sha256"));
    if (!k.source.empty() && !known_.contains(k.source)) return wrong(at + ".source", "is not among files");
  }
  return {};
}

Checker::R Checker::amount(const Amount& a, const std::string& at) {
  if (a.value < 0) return wrong(at, "is negative");
  if (a.expr.empty()) return {};
  auto e = Expression::parse(a.expr);
  if (!e) return wrong(at + ".expr", e.error().message);
  for (int64_t arg : e->args()) {
    if (arg >= static_cast<int64_t>(m_.arguments.size())) return wrong(at + ".expr", fmt::format("there is no argument {}", arg));
    const ArgumentInfo& info = m_.arguments[static_cast<size_t>(arg)];
    if (!info.isScalar() || !isInteger(info.dtype)) return wrong(at + ".expr", fmt::format("argument {} is no integer scalar", arg));
  }
  return {};
}

Checker::R Checker::launch(const Launch& l, const std::string& at) {
  if (l.kernel < 0 || l.kernel >= static_cast<int64_t>(m_.kernels.size())) return wrong(at + ".kernel", "there is no such kernel");
  for (size_t i = 0; i < l.args.size(); ++i) {
    const LaunchArg& a = l.args[i];
    std::string inner = fmt::format("{}.args[{}]", at, i);
    if (a.kind == LaunchArg::Kind::Place) {
      TRY(place(a.place, inner, false));
      // A result may be another name of a buffer.
      const Place& real = a.place.base == Base::Result ? m_.results[static_cast<size_t>(a.place.index)].place : a.place;
      if (a.write && real.base == Base::Buffer && m_.buffers[static_cast<size_t>(real.index)].isConst) return wrong(inner + ".write", "writes a const buffer");
      continue;
    }
    if (a.index < 0 || a.index >= static_cast<int64_t>(m_.arguments.size())) return wrong(inner + ".index", fmt::format("there is no argument {}", a.index));
    const ArgumentInfo& info = m_.arguments[static_cast<size_t>(a.index)];
    if (!info.isScalar()) return wrong(inner + ".index", "the argument is no scalar");
    if (a.dtype != info.dtype) return wrong(inner + ".dtype", fmt::format("is {}, the argument is {}", name(a.dtype), name(info.dtype)));
  }
  for (size_t i = 0; i < 3; ++i) {
    TRY(amount(l.grid[i], fmt::format("{}.grid[{}]", at, i)));
    if (m_.target.name == "cpu" && l.block[i] != 1) return wrong(fmt::format("{}.block[{}]", at, i), "is not 1 on a CPU");
  }
  int64_t tasks = 1;
  for (const Amount& g : l.grid)
    if (__builtin_mul_overflow(tasks, g.value, &tasks)) return wrong(at + ".grid", "has too many tasks");
  TRY(amount(l.flops, at + ".flops"));
  return amount(l.bytes, at + ".bytes");
}

Checker::R Checker::launches(const std::vector<Launch>& list, std::string_view what) {
  for (size_t i = 0; i < list.size(); ++i) TRY(launch(list[i], fmt::format("{}[{}]", what, i)));
  return {};
}

Checker::R Checker::run() {
  TRY(tensors());
  TRY(state());
  TRY(places());
  TRY(files());
  TRY(kernels());
  TRY(launches(m_.once, "once"));
  return launches(m_.launches, "launches");
}
#undef TRY

}  // namespace

Result<void> checkManifest(const Manifest& m, ManifestForm form, std::string_view label) { return Checker(m, form, label).run(); }

Result<void> checkManifestFiles(const Manifest& m, const fs::path& folder, std::string_view label) {
  std::error_code ec;
  fs::path root = fs::canonical(folder, ec);
  if (ec) return fail(Diag::CannotOpen, folder.string(), ec.message());
  std::set<std::string> done;
  auto check = [&](const std::string& file, int64_t size, const std::string& sha, const std::string& at) -> Result<void> {
    if (!done.insert(file + sha + std::to_string(size)).second) return {};
    fs::path real = fs::canonical(root / file, ec);
    if (ec) return fail(Diag::ManifestError, label, at, "cannot open '" + file + "': " + ec.message());
    auto inside = std::mismatch(root.begin(), root.end(), real.begin(), real.end());
    if (inside.first != root.end()) return fail(Diag::ManifestError, label, at, "'" + file + "' leaves the folder");
    if (!fs::is_regular_file(real, ec)) return fail(Diag::ManifestError, label, at, "'" + file + "' is no file");
    if (static_cast<int64_t>(fs::file_size(real, ec)) != size) return fail(Diag::ManifestError, label, at, fmt::format("'{}' is {} bytes, expected {}", file, fs::file_size(real, ec), size));
    auto data = readFile(real.string());
    if (!data) return std::unexpected(data.error());
    if (sha256Hex(*data) != sha) return fail(Diag::ManifestError, label, at, "the SHA-256 of '" + file + "' does not match: the file was changed");
    return {};
  };
  for (size_t i = 0; i < m.kernels.size(); ++i)
    if (auto r = check(m.kernels[i].file, m.kernels[i].size, m.kernels[i].sha256, fmt::format("kernels[{}].file", i)); !r) return r;
  for (size_t i = 0; i < m.files.size(); ++i)
    if (auto r = check(m.files[i].file, m.files[i].size, m.files[i].sha256, fmt::format("files[{}].file", i)); !r) return r;
  return check(m.program.file, m.program.size, m.program.sha256, "program.file");
}

}  // namespace uop
