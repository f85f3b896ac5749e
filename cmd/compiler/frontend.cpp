#include "cmd/compiler/frontend.h"

#include <fmt/format.h>

#include "cmd/common/version.h"
#include "cmd/compiler/builtin.h"
#include "passes/passes.h"
#include "support/file.h"
#include "support/hash.h"

namespace uop {
namespace {

std::optional<Pipeline> builtin(std::string_view name, const Messages& messages) {
  for (const BuiltinPipeline& b : builtinPipelines()) {
    if (b.name != name) continue;
    SourceBuffer source(std::string(name) + ".json", std::string(b.json));
    Diagnostics diags(&source);
    auto pipeline = readPipeline(source, passes(), diags);
    messages.show(diags);
    return pipeline;
  }
  internalError(fmt::format("there is no built-in pipeline '{}'", name));
}

std::optional<Pipeline> fromFile(const std::string& file, const Messages& messages) {
  auto text = readFile(file);
  if (!text) return messages.show(text.error()), std::nullopt;
  SourceBuffer source(file, std::move(*text));
  Diagnostics diags(&source);
  auto pipeline = readPipeline(source, passes(), diags);
  messages.show(diags);
  return pipeline;
}

// The target asked for must be the pipeline's, where it names one.
Result<TargetChoice> targetFor(const CompileChoices& choices, const Pipeline& pipeline) {
  auto target = parseTargetChoice(!choices.target.empty() ? choices.target : !pipeline.target.empty() ? pipeline.target : "cpu");
  if (!target || pipeline.target.empty()) return target;
  auto wanted = pipeline.target.substr(0, pipeline.target.find(':'));
  if (wanted == target->name) return target;
  return fail(Diag::Usage, fmt::format("the pipeline '{}' is for target '{}', not '{}'", pipeline.name, pipeline.target, target->name));
}

}  // namespace

std::optional<Compilation> chooseCompilation(const CompileChoices& choices, const Messages& messages, int& status) {
  Compilation c;
  auto stop = [&](const Error& error) { return status = messages.show(error), std::nullopt; };
  status = kInputError;
  c.optLevel = static_cast<unsigned>(choices.level.value_or(2));
  if (!choices.pipelineFile.empty() && choices.level) return stop({Diag::Usage, "give -O or --pipeline, not both", {}});
  std::optional<Pipeline> pipeline;
  if (!choices.pipelineFile.empty()) {
    pipeline = fromFile(choices.pipelineFile, messages);
  } else {
    auto target = parseTargetChoice(choices.target.empty() ? "cpu" : choices.target);
    if (!target) return stop(target.error());
    pipeline = builtin(target->name == "cpu" ? fmt::format("cpu-O{}", c.optLevel) : target->name, messages);
  }
  if (!pipeline) return std::nullopt;
  c.pipeline = std::move(*pipeline);
  auto target = targetFor(choices, c.pipeline);
  if (!target) return stop(target.error());
  c.target = std::move(*target);
  for (const std::string& set : choices.sets)
    if (auto ok = setOption(c.pipeline, set); !ok) return stop(ok.error());
  status = kDone;
  return c;
}

int reportFault(const PassFault& fault, const Compilation& compilation, const ManagerOptions& options, const SourceBuffer& source,
                std::string_view commandLine, const Messages& messages) {
  std::string program(source.text());
  try {
    Diagnostics ignored;
    if (auto again = readProgram(source, ignored))
      if (auto before = PassManager(compilation.pipeline, options).runUpTo(std::move(*again), fault.run)) program = printProgram(*before);
  } catch (const std::exception&) {
    // The program as it was read will have to do.
  }
  std::string pipeline = printPipeline(compilation.pipeline);
  std::string target = compilation.target.name == "cpu" ? cpu::targetSpec(compilation.target.cpu) : compilation.target.name;
  bool inPass = compilation.pipeline.find(fault.instance);
  std::string start = inPass ? "--start-at '" + fault.instance + "'" : "--start-after '" + compilation.pipeline.steps.back().instance + "'";
  std::string command = fmt::format("# uopc {}, {}\n# {}\n# from the program as it was there:\nuopc program.uop --pipeline pipeline.json --target '{}' {} -o out\n", kVersion,
                                    fault.instance, commandLine, target, start);
  std::string folder = "uopc-crash-" + sha256Hex(program + pipeline + fault.what()).substr(0, 12);
  auto written = writeFolderAtomically(folder, {{"program.uop", program}, {"pipeline.json", pipeline}, {"command", command}, {"message", std::string(fault.what()) + "\n"}}, "command");
  messages.err << fmt::format("uopc: internal error in {}: {}\n", fault.instance, fault.what());
  if (written)
    messages.err << fmt::format("uopc: this is a fault of the compiler; {}/ holds what reproduces it\n", folder) << std::flush;
  else
    messages.show(written.error());
  return kCompilerFault;
}

}  // namespace uop
