#include "cmd/compiler/codegen.h"

#include <fmt/format.h>

#include <atomic>
#include <exception>
#include <thread>

namespace uop {
namespace {

// Starting Clang costs about 5 ms, as much as compiling this much text.
constexpr size_t kUnitText = 16 * 1024;

}  // namespace

std::vector<CodeUnit> makeUnits(std::span<const cstyle::KernelSource> sources) {
  std::vector<CodeUnit> units;
  for (size_t begin = 0; begin < sources.size();) {
    size_t end = begin, text = 0;
    while (end < sources.size() && (end == begin || text + sources[end].text.size() <= kUnitText)) text += sources[end++].text.size();
    units.push_back({fmt::format("unit{}", units.size()), cstyle::emitTranslationUnit(sources.subspan(begin, end - begin))});
    begin = end;
  }
  return units;
}

Result<std::vector<std::string>> compileUnits(std::span<const CodeUnit> units, const cpu::CpuTarget& target, unsigned optLevel) {
  std::vector<Result<std::string>> objects(units.size(), std::string());
  std::vector<std::exception_ptr> faults(units.size());
  std::atomic<size_t> next{0};
  auto work = [&] {
    for (size_t i; (i = next.fetch_add(1)) < units.size();) try {
        auto object = cpu::compileC(units[i].source, units[i].name, target, {optLevel, cpu::Emit::Object});
        objects[i] = object ? Result<std::string>(std::move(object->bytes)) : std::unexpected(object.error());
      } catch (...) {
        faults[i] = std::current_exception();
      }
  };
  {
    std::vector<std::jthread> helpers;
    size_t threads = std::min<size_t>(std::max(1u, std::thread::hardware_concurrency()), units.size());
    for (size_t i = 1; i < threads; ++i) helpers.emplace_back(work);
    work();
  }
  std::vector<std::string> out;
  for (size_t i = 0; i < units.size(); ++i) {
    if (faults[i]) std::rethrow_exception(faults[i]);
    if (!objects[i]) return std::unexpected(objects[i].error());
    out.push_back(std::move(*objects[i]));
  }
  return out;
}

}  // namespace uop
