#include "cmd/uoprun/driver.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "cmd/common/interrupt.h"
#include "cmd/uoprun/bench.h"
#include "cmd/uoprun/binding.h"
#include "cmd/uoprun/check.h"
#include "cmd/uoprun/compiler.h"
#include "cmd/uoprun/options.h"
#include "cmd/uoprun/report.h"
#include "runtime/profile.h"
#include "support/file.h"

namespace uop::uoprun {
namespace fs = std::filesystem;
namespace {

struct Run {
  Options options;
  Messages messages;
  std::ostream& out;
  std::optional<SourceBuffer> source;   // the program's text, read where it is needed
  std::optional<Program> program;
  std::optional<Artifact> artifact;
  std::unique_ptr<Runner> runner;

  int go();

 private:
  int load();
  int loadArtifact();
  int loadText();
  int readText(std::string name, std::string text);
  bool interprets() const { return options.device == "interp" || options.target == "interp"; }
  int checkDevice(std::string_view target);
  int execute();
  Result<void> steps(const Bindings&);
  int list();
};

int Run::readText(std::string name, std::string text) {
  source.emplace(std::move(name), std::move(text));
  Diagnostics diags(&*source);
  program = readProgram(*source, diags);
  messages.show(diags);
  return program ? kDone : kInputError;
}

// The device asked for must be the one that the artifact is for.
int Run::checkDevice(std::string_view target) {
  if (options.device == "auto" || options.device == target || (options.device.starts_with(std::string(target) + ":") && target == "cuda")) return kDone;
  static const std::vector<std::string_view> known = {"auto", "cpu", "cuda", "opencl", "interp"};
  auto base = options.device.substr(0, options.device.find(':'));
  if (std::ranges::find(known, base) == known.end())
    return messages.show({Diag::Usage, fmt::format("there is no device '{}'{}", options.device, suggest(options.device, known)), {}});
  return messages.show({Diag::Unsupported, fmt::format("no device '{}' here: the program is compiled for {}", options.device, target), {}});
}

int Run::loadArtifact() {
  if (!options.target.empty() || options.level || !options.pipeline.empty() || !options.sets.empty())
    return messages.show({Diag::Usage, "--target, -O, --pipeline and --set are for a .uop; an artifact is compiled already", {}});
  auto opened = Artifact::open(options.input);
  if (!opened) return messages.show(opened.error());
  artifact = std::move(*opened);
  bool interp = interprets() || artifact->manifest().target.name == "interp";
  if (interp || options.check) {
    auto text = artifact->program();
    if (!text) return messages.show(text.error());
    if (int status = readText((fs::path(options.input) / "program.uop").string(), std::move(*text))) return status;
  }
  return interp ? kDone : checkDevice(artifact->manifest().target.name);
}

int Run::loadText() {
  auto text = readFile(options.input);
  if (!text) return messages.show(text.error());
  if (int status = readText(options.input == "-" ? "<stdin>" : options.input, std::move(*text))) return status;
  if (interprets()) return kDone;
  std::string target = options.target.empty() ? "cpu" : options.target.substr(0, options.target.find(':'));
  if (int status = checkDevice(target)) return status;
  auto compiled = compileInMemory(*source, options, messages);
  if (!compiled) return messages.show(compiled.error());
  artifact = std::move(compiled->artifact);
  return compiled->status;
}

int Run::load() {
  std::error_code ec;
  int status = fs::is_directory(options.input, ec) ? loadArtifact() : loadText();
  if (status) return status;
  if (options.list) return kDone;
  bool interp = interprets() || !artifact || artifact->manifest().target.name == "interp";
  if (interp) {
    runner = interpreterRunner(options.check ? compacted(*program) : std::move(*program));
    return kDone;
  }
  auto made = sessionRunner(*artifact, options.threads);
  if (!made) return messages.show(made.error());
  runner = std::move(*made);
  return kDone;
}

int Run::list() {
  if (!artifact) {
    Manifest m;
    Signature s = signatureOf(*program);
    m.target.name = "interp";
    m.arguments = s.arguments, m.buffers = s.buffers, m.results = s.results;
    out << (options.json ? writeManifest(m) : listText(m));
  } else {
    out << (options.json ? writeManifest(artifact->manifest()) : listText(artifact->manifest()));
  }
  return kDone;
}

Result<void> Run::steps(const Bindings& bindings) {
  Session* session = runner->session();
  Trace trace;
  double startUs = 0;
  if (session && !options.profile.empty()) session->setTiming(true);
  for (int64_t i = 0; i < bindings.steps; ++i) {
    if (i)
      if (auto ok = bindStep(*runner, bindings, i); !ok) return ok;
    if (auto ok = runner->run(); !ok) return ok;
    messages.progress(i + 1, bindings.steps);
    if (!session || options.profile.empty()) continue;
    trace.addRun(session->manifest(), session->timings(), startUs);
    double length = 0;
    for (const LaunchTime& t : session->timings()) length = std::max(length, static_cast<double>(t.end) * 1e-3);
    startUs += length;
  }
  return options.profile.empty() ? Result<void>{} : trace.write(options.profile, "uoprun");
}

int Run::execute() {
  const Signature& signature = runner->signature();
  if (auto ok = checkOutputs(options, signature); !ok) return messages.show(ok.error());
  auto bindings = readBindings(options, signature, messages);
  if (!bindings) return messages.show(bindings.error());
  if (auto ok = bindAll(*runner, *bindings); !ok) return messages.show(ok.error());
  warnUnboundBuffers(*runner, messages);
  auto ran = options.bench ? bench(options, *runner, messages, out) : steps(*bindings);
  if (!ran) return messages.show(ran.error(), source ? &*source : nullptr);
  if (auto ok = writeOutputs(options, *runner, out); !ok) return messages.show(ok.error());
  if (!options.check) return kDone;
  auto same = check(*program, *bindings, *runner, options.bench ? 1 : bindings->steps, messages);
  if (!same) return messages.show(same.error(), &*source);
  if (*same && !options.quiet) out << "check: results and BUFFERs agree with the interpreter\n";
  return *same ? kDone : kCompilerFault;
}

int Run::go() {
  if (int status = load()) return status;
  return options.list ? list() : execute();
}

}  // namespace

int run(const std::vector<std::string>& argv, std::ostream& out, std::ostream& err, bool errIsTerminal) {
  Parsed parsed = parseOptions(argv, out, err);
  if (parsed.exit) return *parsed.exit;
  const Options& o = parsed.options;
  for (const auto& [name, file] : o.outputs) guardOutput(file);
  for (const auto& file : o.outputFiles) guardOutput(file);
  guardOutput(o.saveState);
  guardOutput(o.profile);
  bool color = parsed.options.color == ColorMode::Always || (parsed.options.color == ColorMode::Auto && errIsTerminal);
  Messages messages{err, color, parsed.options.quiet, errIsTerminal};
  try {
    Run state{std::move(parsed.options), messages, out, {}, {}, {}, nullptr};
    int status = state.go();
    out.flush();
    return out ? status : messages.show({Diag::CannotWrite, "cannot write standard output", {}});
  } catch (const std::bad_alloc&) {
    return messages.show({Diag::OutOfMemory, "out of memory", {}});
  } catch (const std::exception& e) {
    err << "uoprun: internal error: " << e.what() << '\n';
    return kCompilerFault;
  }
}

}  // namespace uop::uoprun
