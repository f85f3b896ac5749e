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

// Whether a loop's length depends on what is known only as the program runs.
bool isOpenEnded(const Graph& g, NodeId range) {
  std::vector<NodeId> todo{g.src(range, 0)};
  while (!todo.empty()) {
    NodeId n = todo.back();
    todo.pop_back();
    if (g.op(n) == Op::Param || g.op(n) == Op::Load) return true;
    todo.insert(todo.end(), g.srcs(n).begin(), g.srcs(n).end());
  }
  return false;
}

// What the manifest says of the arithmetic in the emitted loops against what the interpreter did: loops whose bounds are not known
// count with the greatest.
std::string compareWork(const Manifest& manifest, const Program& lowered, uint64_t done) {
  uint64_t said = 0;
  for (const Launch& l : manifest.launches) said += static_cast<uint64_t>(l.flops.value);
  const Graph& g = lowered.graph;
  auto nodes = cone(g, lowered.roots(), true);
  bool fixed = std::ranges::none_of(nodes, [&](NodeId n) { return g.op(n) == Op::Range && isOpenEnded(g, n); });
  if (said == done || (!fixed && said > done)) return "";
  return fmt::format("the manifest says {} FLOPs, the interpreter counts {}", said, done);
}

// A compiled program and what keeps its code.
struct Loaded {
  Jitted jitted;
  std::optional<Session> session;
};

Result<std::unique_ptr<Loaded>> load(Built built, const Compilation& compilation, int threads) {
  CodegenOptions codegen;
  codegen.cache.enabled = false;  // programs that nobody compiles again
  auto jitted = jit(std::move(built), compilation, codegen);
  if (!jitted) return std::unexpected(jitted.error());
  auto out = std::make_unique<Loaded>(std::move(*jitted));
  auto resolve = [code = out->jitted.code.get()](const KernelInfo& kernel) -> Result<KernelFn> {
    auto found = code->lookup(kernel.symbol);
    if (!found) return std::unexpected(found.error());
    return reinterpret_cast<KernelFn>(*found);
  };
  auto artifact = Artifact::inMemory(out->jitted.manifest, resolve);
  if (!artifact) return std::unexpected(artifact.error());
  auto session = Session::create(*artifact, {threads});
  if (!session) return std::unexpected(session.error());
  out->session = std::move(*session);
  return out;
}

Result<void> bindInputs(Session& session, const Arrays& inputs) {
  const Manifest& m = session.manifest();
  for (const auto& [name, array] : inputs) {
    bool known = std::ranges::find(m.arguments, name, &ArgumentInfo::name) != m.arguments.end() || std::ranges::find(m.buffers, name, &BufferInfo::name) != m.buffers.end();
    if (!known) continue;
    auto tensor = Tensor::zeros(array.dtype, {array.shape.begin(), array.shape.end()});
    if (!tensor) return std::unexpected(tensor.error());
    if (!array.data.empty()) std::memcpy(tensor->data(), array.data.data(), array.data.size());
    if (auto ok = session.bind(name, std::move(*tensor)); !ok) return ok;
  }
  return {};
}

InterpResult outcome(const Session& session) {
  const Manifest& m = session.manifest();
  InterpResult out;
  auto keep = [](std::map<std::string, Array>& into, const std::string& name, const Result<Tensor>& t) {
    if (!t) return;
    auto raw = t->raw();
    into[name] = {t->dtype, {t->shape.begin(), t->shape.end()}, {raw.begin(), raw.end()}};
  };
  for (const ResultInfo& r : m.results) keep(out.results, r.name, session.result(r.name));
  for (const BufferInfo& b : m.buffers) keep(out.buffers, b.name, session.state(b.name));
  for (const ArgumentInfo& a : m.arguments)
    if (!a.shape.empty()) keep(out.buffers, a.name, session.argument(a.name));
  return out;
}

// Runs the code and the interpreter, each with what its last run left; what differs.
Result<std::string> compareRunning(Session& session, const Program& original, Arrays inputs, const InterpOptions& bounded, int runs) {
  if (auto ok = bindInputs(session, inputs); !ok) return std::unexpected(ok.error());
  for (int run = 0; run < runs; ++run) {
    auto want = interpret(original, inputs, bounded);
    if (!want) return "";  // what a run left does not suit the next
    if (auto ok = session.run(); !ok) return std::unexpected(ok.error());
    if (auto what = compareResults(outcome(session), *want, longestReduction(original)); !what.empty()) return run ? fmt::format("in run {}, {}", run + 1, what) : what;
    for (auto& [name, array] : want->buffers) inputs[name] = array;
  }
  return "";
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
  InterpOptions bounded;
  bounded.maxSteps = options.maxSteps;
  auto want = interpret(program, inputs, bounded);
  if (!want) return out;
  int64_t terms = longestReduction(program);
  auto note = [&](std::string_view pass, Failure kind, std::string what) {
    if (!out.finding) out.finding = {std::string(pass), std::move(what), kind};
  };
  auto compare = [&](std::string_view pass, const Program& now) {
    std::string problem, text = printProgram(now);
    auto again = readBack(text, problem);
    if (!problem.empty()) return note(pass, Failure::Text, problem);
    auto got = interpret(*again, inputs, bounded);
    if (!got) return note(pass, Failure::Faults, "the interpreter fails after it: " + got.error().message);
    out.loads = got->loads, out.ops = got->ops, out.flops = got->flops;
    if (auto what = compareResults(*got, *want, terms); !what.empty()) note(pass, Failure::Differs, what);
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
    if (!lowered) return note("pipeline", Failure::Refused, lowered.error().message), out;
    if (!options.everyPass) compare("the whole pipeline", *lowered);
    bool emits = std::ranges::any_of(compilation.pipeline.steps, [](const PassStep& s) { return s.pass->leaves == Form::Lowered; });  // one may stop earlier
    if (out.finding || !emits) return out;
    auto built = build(*lowered, program, compilation);
    if (!built) return note("emit", Failure::Refused, built.error().message), out;
    if (auto what = compareWork(built->plan.manifest, *lowered, out.flops); !what.empty()) note("emit", Failure::Differs, what);
    if (!options.jit || out.finding) return out;
    auto loaded = load(std::move(*built), compilation, options.threads);
    if (!loaded) return note("jit", Failure::Refused, loaded.error().message), out;
    auto what = compareRunning(*(*loaded)->session, program, inputs, bounded, options.runs);
    if (!what) note("jit", Failure::Refused, what.error().message);
    else if (!what->empty()) note("jit", Failure::Differs, *what);
  } catch (const PassFault& fault) {
    note(fault.instance, Failure::Internal, fault.what());
  } catch (const InternalError& error) {
    note("code generation", Failure::Internal, error.what());
  }
  return out;
}

}  // namespace uop
