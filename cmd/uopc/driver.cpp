#include "cmd/uopc/driver.h"

#include <fmt/format.h>

#include "cmd/common/interrupt.h"
#include "cmd/compiler/artifact.h"
#include "cmd/uopc/list_rules.h"
#include "cmd/uopc/lists.h"
#include "cmd/uopc/options.h"
#include "support/file.h"

namespace uop::uopc {
namespace {

struct Run {
  Options options;
  Messages messages;
  std::ostream& out;
  std::optional<Compilation> compilation;
  std::optional<SourceBuffer> source;
  std::optional<Program> original;  // for an artifact and for names
  std::optional<PassManager> passManager = {};
  Timeline timeline = {};
  double passesStart = 0;

  int go();

 private:
  int lists();
  int checkUsage();
  std::optional<Program> read(const std::string& file, std::optional<SourceBuffer>& into);
  int compile();
  int write(const Program& program);
  int writeCode(const Program& program, Emit emit);
  int writeArtifact(Built built);
  Result<std::string> codeText(const Built& built, Emit emit);
  int put(std::string_view data);
  int finish(int status);
  Emit kind() const { return options.emit.value_or(options.manager.stopAfter.empty() ? Emit::Artifact : Emit::Uop); }
};

int Run::lists() {
  if (options.listPasses) out << passesText();
  if (options.listTargets) out << targetsText();
  if (options.listRules) out << rulesText();
  if (!options.describe.empty()) {
    auto text = describeText(options.describe);
    if (!text) return messages.show(text.error());
    out << *text;
  }
  return kDone;
}

std::optional<Program> Run::read(const std::string& file, std::optional<SourceBuffer>& into) {
  auto text = readFile(file);
  if (!text) return messages.show(text.error()), std::nullopt;
  into.emplace(file == "-" ? "<stdin>" : file, std::move(*text));
  Diagnostics diags(&*into);
  auto program = readProgram(*into, diags);
  messages.show(diags);
  return program;
}

// What can be refused before any work is done.
int Run::checkUsage() {
  auto usage = [&](std::string text) { return messages.show({Diag::Usage, std::move(text), {}}); };
  if (options.input.empty()) return usage("no program is given; uopc --help shows how");
  if (auto ok = checkManagerOptions(compilation->pipeline, options.manager); !ok) return messages.show(ok.error());
  if (kind() == Emit::Ptx) return messages.show({Diag::Unsupported, "--emit=ptx: this build generates no code for cuda", {}});
  if (kind() != Emit::Uop && kind() != Emit::Artifact && compilation->target.name != "cpu")
    return usage(fmt::format("target '{}' has no code to emit; use --emit=uop or artifact", compilation->target.name));
  if (kind() != Emit::Uop && !options.manager.stopAfter.empty() && endForm(compilation->pipeline, options.manager) != Form::Lowered)
    return usage(fmt::format("--stop-after {} leaves a program that is not lowered; only --emit=uop will do", options.manager.stopAfter));
  if (kind() == Emit::Artifact && (options.output.empty() || options.output == "-")) return usage("an artifact is a folder: give its name, -o OUT");
  return kDone;
}

int Run::compile() {
  auto program = timeline.stage("read", [&] { return read(options.input, source); });
  if (!program) return kInputError;
  if (options.original.empty()) {
    original = compacted(*program);
  } else {
    std::optional<SourceBuffer> text;
    original = read(options.original, text);
    if (!original) return kInputError;
  }
  ManagerOptions manager = options.manager;
  if (!manager.dumpAfter.empty() || !manager.dumpBefore.empty()) manager.dump = Dumper(options.dumpDir, options.dumpFormat, out);
  passManager.emplace(compilation->pipeline, manager);
  passesStart = timeline.now();
  try {
    auto done = passManager->run(std::move(*program));
    if (!done) return messages.show(done.error(), &*source);
    return write(*done);
  } catch (const PassFault& fault) {
    return reportFault(fault, *compilation, options.manager, *source, options.commandLine, messages);
  } catch (const InternalError& error) {
    return reportFault(PassFault("code generation", SIZE_MAX, error.what()), *compilation, options.manager, *source, options.commandLine, messages);
  }
}

int Run::put(std::string_view data) {
  if (options.output.empty() || options.output == "-") {
    out.write(data.data(), static_cast<std::streamsize>(data.size())).flush();
    return out ? kDone : messages.show({Diag::CannotWrite, "cannot write standard output", {}});
  }
  auto ok = writeFileAtomically(options.output, data);
  return ok ? kDone : messages.show(ok.error());
}

int Run::write(const Program& program) {
  if (kind() == Emit::Uop) {
    auto text = formatProgram(program, options.manager.dumpAfter.empty() && options.manager.dumpBefore.empty() ? options.dumpFormat : DumpFormat::Uop, options.input);
    return text ? put(*text) : messages.show(text.error());
  }
  return writeCode(program, kind());
}

int Run::writeCode(const Program& program, Emit emit) {
  auto built = timeline.stage("emit", [&] { return build(program, *original, *compilation); });
  if (!built) return messages.show(built.error(), &*source);
  if (emit == Emit::Artifact) return writeArtifact(std::move(*built));
  auto text = codeText(*built, emit);
  return text ? put(*text) : messages.show(text.error());
}

Result<std::string> Run::codeText(const Built& built, Emit emit) {
  std::string c = cstyle::emitTranslationUnit(built.plan.sources);
  if (emit == Emit::C || emit == Emit::Source) return c;
  cpu::Emit how = emit == Emit::LlvmIr ? cpu::Emit::LlvmIr : emit == Emit::Asm ? cpu::Emit::Assembly : cpu::Emit::Object;
  auto object = timeline.stage("compile kernels", [&] { return cpu::compileC(c, "program", compilation->target.cpu, {compilation->optLevel, how}); });
  if (!object) return std::unexpected(object.error());
  return std::move(object->bytes);
}

int Run::writeArtifact(Built built) {
  auto files = artifactFiles(std::move(built), *compilation, {options.cache, &timeline});
  if (!files) return messages.show(files.error());
  auto ok = timeline.stage("write", [&] { return writeFolderAtomically(options.output, *files, std::string(kArtifactMarker)); });
  if (!ok) return messages.show(ok.error());
  if (options.verbose) messages.err << fmt::format("wrote {}/\n", options.output);
  return kDone;
}

std::string makeEscaped(std::string_view path) {
  std::string out;
  for (char c : path) {
    if (c == ' ' || c == '#' || c == '\\') out += '\\';
    if (c == '$') out += '$';
    out += c;
  }
  return out;
}

int Run::finish(int status) {
  static const std::vector<PassRecord> none;
  const std::vector<PassRecord>& records = passManager ? passManager->records() : none;
  if (options.verbose)
    for (const PassRecord& r : records)
      for (const std::string& remark : r.remarks) messages.err << fmt::format("{}: {}\n", r.instance, remark);
  if (options.stats) messages.err << statsText(records, timeline.slices());
  if (!options.timeTrace.empty())
    if (auto ok = timeTrace(records, passesStart, timeline.slices()).write(options.timeTrace, "uopc"); !ok) return messages.show(ok.error());
  if (status || options.depfile.empty()) return status;
  // An artifact is a folder, whose time Make does not trust: its manifest stands for it.
  std::string target = kind() == Emit::Artifact ? options.output + "/" + std::string(kArtifactMarker) : options.output;
  std::string rule = makeEscaped(target) + ":";
  for (const std::string& file : {options.input, options.compile.pipelineFile, options.original})
    if (!file.empty() && file != "-") rule += " " + makeEscaped(file);
  auto ok = writeFileAtomically(options.depfile, rule + "\n");
  return ok ? status : messages.show(ok.error());
}

int Run::go() {
  if (options.listPasses || options.listTargets || options.listRules || !options.describe.empty()) return lists();
  int status = kDone;
  compilation = chooseCompilation(options.compile, messages, status);
  if (!compilation) return status;
  if (options.printPipeline) return out << printPipeline(compilation->pipeline), kDone;
  if (int wrong = checkUsage()) return wrong;
  return finish(compile());
}

}  // namespace

int run(const std::vector<std::string>& argv, std::ostream& out, std::ostream& err, bool errIsTerminal) {
  Parsed parsed = parseOptions(argv, out, err);
  if (parsed.exit) return *parsed.exit;
  const Options& o = parsed.options;
  for (const std::string& path : {o.output, o.timeTrace, o.depfile, o.dumpDir.empty() ? "" : o.dumpDir + "/x"}) guardOutput(path);
  bool color = o.color == ColorMode::Always || (o.color == ColorMode::Auto && errIsTerminal);
  Messages messages{err, color, o.quiet};
  try {
    return Run{std::move(parsed.options), messages, out, {}, {}, {}}.go();
  } catch (const std::bad_alloc&) {
    return messages.show({Diag::OutOfMemory, "out of memory", {}});
  } catch (const std::exception& e) {
    err << "uopc: internal error: " << e.what() << '\n';
    return kCompilerFault;
  }
}

}  // namespace uop::uopc
