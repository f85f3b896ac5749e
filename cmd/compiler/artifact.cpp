#include "cmd/compiler/artifact.h"

#include <fmt/format.h>

#include <algorithm>

#include "backends/cpu/link.h"
#include "pass/form.h"
#include "runtime/cpu_features.h"
#include "support/hash.h"

namespace uop {
namespace {

constexpr std::string_view kLibraryFile = "kernels/kernels.so";

Target manifestTarget(const TargetChoice& choice) {
  if (choice.name != "cpu") return {choice.name, "", {}};
  // Those that the loader cannot ask the CPU for (adx, sha) are reached by intrinsics only, which no kernel has.
  auto known = knownCpuFeatures();
  auto features = cpu::requiredFeatures(choice.cpu);
  std::erase_if(features, [&](const std::string& f) { return std::ranges::find(known, f) == known.end(); });
  return {"cpu", choice.cpu.cpu, std::move(features)};
}

// For the interpreter: no kernels; each result has a place of its own.
ProgramPlan interpreterPlan(const Signature& signature) {
  ProgramPlan plan;
  Manifest& m = plan.manifest;
  m.name = "program";
  m.target = {"interp", "", {}};
  m.arguments = signature.arguments;
  m.buffers = signature.buffers;
  m.results = signature.results;
  layoutState(m);
  for (ResultInfo& r : m.results) {
    auto bytes = static_cast<int64_t>(byteCount(r.dtype, r.shape).value_or(0));
    r.place = {Base::Arena, 0, m.memory.arenaBytes, bytes};
    m.memory.arenaBytes += (bytes + 63) / 64 * 64;
  }
  m.memory.peakBytes = m.memory.arenaBytes;
  return plan;
}

void setFile(Manifest& m, const FileInfo& info) {
  for (KernelInfo& k : m.kernels) k.file = info.file, k.sha256 = info.sha256, k.size = info.size;
}

FileInfo fileInfo(std::string name, std::string_view data) { return {std::move(name), static_cast<int64_t>(data.size()), sha256Hex(data)}; }

Result<void> requireLowered(const Program& lowered, const Pipeline& pipeline) {
  Form form = finalForm(pipeline);
  if (form != Form::Lowered)
    return fail(Diag::PassError, fmt::format("the pipeline '{}' leaves a program of form {}, but code needs {}; end it with lower-kernels, or use --emit=uop",
                                             pipeline.name, describeForm(form), describeForm(Form::Lowered)));
  if (auto text = formProblem(lowered, Form::Lowered); !text.empty()) return fail(Diag::PassError, fmt::format("the program has not form {}: {}", describeForm(Form::Lowered), text));
  return {};
}

template <class Fn>
auto stage(const CodegenOptions& options, std::string name, Fn fn) {
  return options.timeline ? options.timeline->stage(std::move(name), fn) : fn();
}

Result<std::vector<std::string>> objectsOf(const Built& built, const Compilation& compilation, const CodegenOptions& options) {
  return stage(options, "compile kernels", [&] { return compileUnits(built.units, compilation.target.cpu, compilation.optLevel, options); });
}

}  // namespace

Result<Built> build(const Program& lowered, const Program& original, const Compilation& compilation) {
  Signature signature = signatureOf(original);
  if (compilation.target.name == "interp") return Built{interpreterPlan(signature), {}, printProgram(original)};
  if (auto ok = requireLowered(lowered, compilation.pipeline); !ok) return std::unexpected(ok.error());
  auto plan = planProgram(lowered, signature, manifestTarget(compilation.target));
  if (!plan) return std::unexpected(plan.error());
  auto units = makeUnits(plan->sources);
  return Built{std::move(*plan), std::move(units), printProgram(original)};
}

Result<FileList> artifactFiles(Built built, const Compilation& compilation, const CodegenOptions& options) {
  Manifest& m = built.plan.manifest;
  FileList files;
  if (!built.units.empty()) {
    auto objects = objectsOf(built, compilation, options);
    if (!objects) return std::unexpected(objects.error());
    auto library = stage(options, "link", [&] { return cpu::linkShared(*objects, "kernels.so"); });
    if (!library) return std::unexpected(library.error());
    setFile(m, fileInfo(std::string(kLibraryFile), *library));
    files.emplace_back(kLibraryFile, std::move(*library));
  }
  m.program = fileInfo("program.uop", built.program);
  files.emplace_back("program.uop", std::move(built.program));
  files.emplace_back(kArtifactMarker, writeManifest(m));
  return files;
}

Result<Jitted> jit(Built built, const Compilation& compilation, const CodegenOptions& options) {
  auto code = cpu::Jit::create();
  if (!code) return std::unexpected(code.error());
  auto objects = objectsOf(built, compilation, options);
  if (!objects) return std::unexpected(objects.error());
  // What the files would be: a manifest in JSON names them.
  std::string all;
  for (const std::string& object : *objects) all += object;
  setFile(built.plan.manifest, fileInfo(std::string(kLibraryFile), all));
  built.plan.manifest.program = fileInfo("program.uop", built.program);
  for (const std::string& object : *objects)
    if (auto ok = (*code)->addObject(object); !ok) return std::unexpected(ok.error());
  return Jitted{std::move(built.plan.manifest), std::move(*code)};
}

}  // namespace uop
