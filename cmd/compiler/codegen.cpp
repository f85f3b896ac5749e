#include "cmd/compiler/codegen.h"

#include <algorithm>
#include <exception>

#include "cmd/common/version.h"
#include "runtime/thread_pool.h"
#include "support/hash.h"

namespace uop {
namespace {

constexpr size_t kUnitText = 4096;
constexpr uint64_t kUnitFunctions = 4;  // on average, of functions so short that the text's limit does not count

class UnitCompiler {
 public:
  UnitCompiler(std::span<const CodeUnit> units, const cpu::CpuTarget& target, unsigned optLevel, const CodegenOptions& options)
      : units_(units), target_(target), optLevel_(optLevel), timeline_(options.timeline), cache_(openCache(options.cache)),
        identity_(cache_ ? cpu::compileIdentity(target, {optLevel, cpu::Emit::Object}) : ""), keys_(units.size()), objects_(units.size()), faults_(units.size()) {}

  Result<std::vector<std::string>> run() {
    std::vector<size_t> missing;
    for (size_t i = 0; i < units_.size(); ++i)
      if (!find(i)) missing.push_back(i);
    compile(std::move(missing));
    std::vector<std::string> out;
    for (size_t i = 0; i < units_.size(); ++i) {
      if (faults_[i]) std::rethrow_exception(faults_[i]);
      if (!objects_[i]) return std::unexpected(objects_[i].error());
      out.push_back(std::move(*objects_[i]));
    }
    return out;
  }

 private:
  double now() const { return timeline_ ? timeline_->now() : 0; }
  void record(size_t i, std::string category, double start, int thread) {
    if (timeline_) timeline_->add(units_[i].name, std::move(category), start, thread);
  }

  bool find(size_t i) {
    if (!cache_) return false;
    const double start = now();
    keys_[i] = objectKey(units_[i], identity_);
    auto found = cache_->get(keys_[i]);
    if (!found) return false;
    objects_[i] = std::move(*found);
    record(i, "cached", start, 0);
    return true;
  }

  void compile(std::vector<size_t> missing) {
    if (missing.empty()) return;
    // Long ones first, so that none is left over at the end.
    std::ranges::stable_sort(missing, std::greater{}, [&](size_t i) { return units_[i].source.size(); });
    const auto threads = static_cast<int>(std::min<size_t>(static_cast<size_t>(ThreadPool().threads()), missing.size()));
    ThreadPool(threads).run(static_cast<int64_t>(missing.size()), [&](int64_t task, int worker) {
      const size_t i = missing[static_cast<size_t>(task)];
      try {
        compileOne(i, worker);
      } catch (...) {
        faults_[i] = std::current_exception();
      }
    });
  }

  void compileOne(size_t i, int worker) {
    const double start = now();
    auto object = cpu::compileC(units_[i].source, units_[i].name, target_, {optLevel_, cpu::Emit::Object});
    objects_[i] = object ? Result<std::string>(std::move(object->bytes)) : std::unexpected(object.error());
    record(i, "clang", start, worker);
    if (cache_ && object) cache_->put(keys_[i], *objects_[i]);
  }

  std::span<const CodeUnit> units_;
  const cpu::CpuTarget& target_;
  const unsigned optLevel_;
  Timeline* timeline_;
  std::unique_ptr<DiskCache> cache_;
  const std::string identity_;
  std::vector<std::string> keys_;
  std::vector<Result<std::string>> objects_;
  std::vector<std::exception_ptr> faults_;
};

}  // namespace

std::vector<CodeUnit> makeUnits(std::span<const cstyle::KernelSource> sources) {
  std::vector<CodeUnit> units;
  for (size_t begin = 0, end; begin < sources.size(); begin = end) {
    size_t text = 0;
    bool last = false;
    for (end = begin; end < sources.size() && !last; ++end) {
      const std::string& own = sources[end].text;
      if (end > begin && text + own.size() > kUnitText) break;
      text += own.size();
      last = hashBytes(own.data(), own.size()) % kUnitFunctions == 0;
    }
    units.push_back({sources[begin].symbol, cstyle::emitTranslationUnit(sources.subspan(begin, end - begin))});
  }
  return units;
}

std::unique_ptr<DiskCache> openCache(const CacheChoices& choices) {
  if (!choices.enabled) return nullptr;
  if (!choices.folder.empty()) return std::make_unique<DiskCache>(choices.folder, choices.limit);
  auto user = userCacheFolder();
  return user ? std::make_unique<DiskCache>(*user / "uopc", choices.limit) : nullptr;
}

std::string objectKey(const CodeUnit& unit, std::string_view identity) {
  return sha256Hex(fmt::format("uopc {}\n{}:{}\n{}:{}\n{}", kVersion, identity.size(), identity, unit.name.size(), unit.name, unit.source));
}

Result<std::vector<std::string>> compileUnits(std::span<const CodeUnit> units, const cpu::CpuTarget& target, unsigned optLevel, const CodegenOptions& options) {
  return UnitCompiler(units, target, optLevel, options).run();
}

}  // namespace uop
