#include "cmd/check/check.h"

#include <cstring>
#include <sstream>

#include "cmd/common/signature.h"
#include "cmd/compiler/artifact.h"
#include "runtime/executor.h"

namespace uop {
namespace {

Program copyOf(const Program& p) { return compacted(p); }

// The dump of a pass, read back; a finding where it is not the same program.
std::optional<Program> readBack(const std::string& text, std::string& problem) {
  SourceBuffer source("dump", text);
  Diagnostics diags(&source);
  auto again = readProgram(source, diags);
  if (!again) problem = "its dump does not read back:\n" + diags.render();
  else if (printProgram(*again) != text) problem = "its dump reads back as another program";
  return again;
}

Result<InterpResult> runCompiled(const Program& lowered, const Program& original, const Compilation& compilation, const Arrays& inputs) {
  auto built = build(lowered, original, compilation);
  if (!built) return std::unexpected(built.error());
  CodegenOptions options;
  options.cache.enabled = false;  // programs that nobody compiles again
  auto jitted = jit(std::move(*built), compilation, options);
  if (!jitted) return std::unexpected(jitted.error());
  auto resolve = [&](const KernelInfo& kernel) -> Result<KernelFn> {
    auto found = jitted->code->lookup(kernel.symbol);
    if (!found) return std::unexpected(found.error());
    return reinterpret_cast<KernelFn>(*found);
  };
  auto artifact = Artifact::inMemory(jitted->manifest, resolve);
  if (!artifact) return std::unexpected(artifact.error());
  auto session = Session::create(*artifact, {1});
  if (!session) return std::unexpected(session.error());
  const Manifest& m = session->manifest();
  for (const auto& [name, array] : inputs) {
    bool known = std::ranges::find(m.arguments, name, &ArgumentInfo::name) != m.arguments.end() || std::ranges::find(m.buffers, name, &BufferInfo::name) != m.buffers.end();
    if (!known) continue;
    auto tensor = Tensor::zeros(array.dtype, {array.shape.begin(), array.shape.end()});
    if (!tensor) return std::unexpected(tensor.error());
    if (!array.data.empty()) std::memcpy(tensor->data(), array.data.data(), array.data.size());
    if (auto ok = session->bind(name, std::move(*tensor)); !ok) return std::unexpected(ok.error());
  }
  if (auto ok = session->run(); !ok) return std::unexpected(ok.error());
  InterpResult out;
  auto keep = [](std::map<std::string, Array>& into, const std::string& name, const Result<Tensor>& t) {
    if (!t) return;
    auto raw = t->raw();
    into[name] = {t->dtype, {t->shape.begin(), t->shape.end()}, {raw.begin(), raw.end()}};
  };
  for (const ResultInfo& r : m.results) keep(out.results, r.name, session->result(r.name));
  for (const BufferInfo& b : m.buffers) keep(out.buffers, b.name, session->state(b.name));
  for (const ArgumentInfo& a : m.arguments)
    if (!a.shape.empty()) keep(out.buffers, a.name, session->argument(a.name));
  return out;
}

}  // namespace

Compilation builtinCompilation(int level) {
  std::ostringstream err;
  int status = 0;
  CompileChoices choices;
  choices.level = level;
  auto c = chooseCompilation(choices, {err}, status);
  if (!c) internalError(err.str());
  return std::move(*c);
}

PassCheck checkProgram(const Program& program, const Arrays& inputs, const Compilation& compilation, const CheckOptions& options) {
  PassCheck out;
  auto want = interpret(program, inputs);
  if (!want) return out;
  int64_t terms = longestReduction(program);
  auto note = [&](std::string_view pass, std::string what) {
    if (!out.finding) out.finding = {std::string(pass), std::move(what)};
  };
  auto compare = [&](std::string_view pass, const Program& now) {
    std::string problem, text = printProgram(now);
    auto again = readBack(text, problem);
    if (!problem.empty()) return note(pass, problem);
    auto got = interpret(*again, inputs);
    if (!got) return note(pass, "the interpreter fails after it: " + got.error().message);
    out.loads = got->loads, out.ops = got->ops;
    if (auto what = compareResults(*got, *want, terms); !what.empty()) note(pass, what);
    ++out.passes;
  };
  compare("read", program);
  ManagerOptions manage;
  manage.verify = Verify::Invariants;
  if (options.everyPass) manage.dumpAfter = {"all"};
  manage.dump = [&](const DumpEvent& e) -> Result<void> {
    if (!out.finding && !e.unchanged) compare(e.instance, e.program);
    return {};
  };
  try {
    auto lowered = PassManager(compilation.pipeline, manage).run(copyOf(program));
    if (!lowered) return note("pipeline", lowered.error().message), out;
    if (!options.everyPass) compare("the whole pipeline", *lowered);
    if (!options.jit || out.finding) return out;
    auto got = runCompiled(*lowered, program, compilation, inputs);
    if (!got) note("jit", got.error().message);
    else if (auto what = compareResults(*got, *want, terms); !what.empty()) note("jit", what);
  } catch (const PassFault& fault) {
    note(fault.instance, fault.what());
  } catch (const InternalError& error) {
    note("code generation", error.what());
  }
  return out;
}

}  // namespace uop
