#include "backends/cpu/target.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringMap.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/TargetParser/X86TargetParser.h>

#include <algorithm>
#include <array>
#include <memory>

#include "backends/cpu/llvm_setup.h"

namespace uop::cpu {
namespace {

// What a compute kernel's code can contain, oldest first; each name is LLVM's. What every x86-64 CPU has is not listed,
// SSE2 apart, nor what takes intrinsics that no kernel uses.
constexpr std::array kIsaFeatures = {
    "sse",        "sse2",         "sse3",         "ssse3",        "sse4.1",          "sse4.2",      "sse4a",
    "popcnt",     "lzcnt",        "movbe",        "aes",          "pclmul",          "avx",         "f16c",
    "fma",        "fma4",         "xop",          "tbm",          "bmi",             "bmi2",        "avx2",
    "adx",        "sha",          "gfni",         "vaes",         "vpclmulqdq",      "avx512f",     "avx512cd",
    "avx512dq",   "avx512bw",     "avx512vl",     "avx512ifma",   "avx512vbmi",      "avx512vbmi2", "avx512vnni",
    "avx512bitalg", "avx512vpopcntdq", "avx512bf16", "avx512fp16", "avx512vp2intersect", "avxvnni", "avxifma",
    "avxvnniint8", "avxvnniint16", "avxneconvert", "amx-tile",    "amx-int8",        "amx-bf16",    "amx-fp16",
};

bool isIsaFeature(std::string_view name) { return std::ranges::find(kIsaFeatures, name) != kIsaFeatures.end(); }

std::vector<std::string_view> views(const std::vector<std::string>& names) { return {names.begin(), names.end()}; }

std::string featureString(const CpuTarget& target) {
  std::string out;
  for (const std::string& f : target.features) out += (out.empty() ? "" : ",") + f;
  return out;
}

// The subtarget that LLVM makes of a target; implications both ways (+avx2 gives avx, -avx takes avx2) are its own.
std::unique_ptr<llvm::MCSubtargetInfo> subtarget(const CpuTarget& target) {
  std::unique_ptr<llvm::MCSubtargetInfo> info(
      nativeTarget().createMCSubtargetInfo(kTriple, target.cpu, featureString(target)));
  if (!info) internalError("LLVM knows no subtarget '" + targetSpec(target) + "'");
  return info;
}

Result<std::string> parseFeature(std::string_view word) {
  const std::vector<std::string> known = knownFeatures();
  if (word.empty() || (word[0] != '+' && word[0] != '-'))
    return fail(Diag::Usage, fmt::format("a CPU feature is written +name or -name, found '{}'{}", word, suggest(word, views(known))));
  const std::string_view name = word.substr(1);
  if (!std::ranges::binary_search(known, name))
    return fail(Diag::Usage, fmt::format("unknown CPU feature '{}'{}", name, suggest(name, views(known))));
  return std::string(word);
}

}  // namespace

Result<CpuTarget> parseTarget(std::string_view spec) {
  if (spec == "cpu") return hostTarget();
  if (!spec.starts_with("cpu:")) return fail(Diag::Usage, fmt::format("'{}' is no CPU target: expected cpu:NAME", spec));
  spec.remove_prefix(4);
  const size_t comma = std::min(spec.find(','), spec.size());
  const std::string_view cpu = spec.substr(0, comma);
  CpuTarget target;
  if (cpu == "native") {
    target = hostTarget();
  } else {
    const std::vector<std::string> cpus = knownCpus();
    if (!std::ranges::binary_search(cpus, cpu))
      return fail(Diag::Usage, fmt::format("unknown CPU '{}'{}", cpu, suggest(cpu, views(cpus))));
    target.cpu = cpu;
  }
  spec.remove_prefix(comma);
  while (!spec.empty()) {
    spec.remove_prefix(1);
    const size_t end = std::min(spec.find(','), spec.size());
    Result<std::string> feature = parseFeature(spec.substr(0, end));
    if (!feature) return std::unexpected(feature.error());
    target.features.push_back(std::move(*feature));
    spec.remove_prefix(end);
  }
  // Floats are passed and computed in SSE registers: without them no kernel compiles.
  if (!hasFeature(target, "sse2"))
    return fail(Diag::Usage, fmt::format("'{}' has no SSE2, which every x86-64 CPU has", targetSpec(target)));
  return target;
}

CpuTarget hostTarget() {
  CpuTarget host{llvm::sys::getHostCPUName().str(), {}};
  if (!std::ranges::binary_search(knownCpus(), host.cpu)) host.cpu = "x86-64";
  const auto implied = subtarget(host);
  const auto present = llvm::sys::getHostCPUFeatures();
  // Removals last: an addition brings back what it rests on.
  std::vector<std::string> off;
  for (const char* name : kIsaFeatures) {
    const auto found = present.find(name);
    if (found == present.end()) continue;
    const bool has = implied->checkFeatures(std::string("+") + name);
    if (found->second && !has) host.features.push_back(std::string("+") + name);
    if (!found->second && has) off.push_back(std::string("-") + name);
  }
  host.features.insert(host.features.end(), off.begin(), off.end());
  return host;
}

std::string targetSpec(const CpuTarget& target) {
  std::string spec = "cpu:" + target.cpu;
  for (const std::string& f : target.features) spec += "," + f;
  return spec;
}

std::vector<std::string> requiredFeatures(const CpuTarget& target) {
  const auto info = subtarget(target);
  std::vector<std::string> out;
  for (const llvm::SubtargetFeatureKV& feature : info->getAllProcessorFeatures())
    if (info->getFeatureBits().test(feature.Value) && isIsaFeature(feature.Key)) out.emplace_back(feature.Key);
  std::ranges::sort(out);
  return out;
}

bool hasFeature(const CpuTarget& target, std::string_view feature) {
  return std::ranges::binary_search(requiredFeatures(target), feature);
}

unsigned vectorBits(const CpuTarget& target) {
  const std::vector<std::string> features = requiredFeatures(target);
  if (std::ranges::binary_search(features, "avx512f")) return 512;
  return std::ranges::binary_search(features, "avx") ? 256 : 128;
}

std::vector<std::string> knownCpus() {
  llvm::SmallVector<llvm::StringRef, 128> names;
  llvm::X86::fillValidCPUArchList(names, /*Only64Bit=*/true);
  std::vector<std::string> out(names.begin(), names.end());
  std::ranges::sort(out);
  out.erase(std::ranges::unique(out).begin(), out.end());
  return out;
}

std::vector<std::string> knownFeatures() {
  const auto info = subtarget({});
  std::vector<std::string> out;
  for (const llvm::SubtargetFeatureKV& feature : info->getAllProcessorFeatures())
    if (isIsaFeature(feature.Key)) out.emplace_back(feature.Key);
  std::ranges::sort(out);
  return out;
}

}  // namespace uop::cpu
