#include "cmd/compiler/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "cmd/compiler/call_graph.h"
#include "cmd/compiler/grid.h"
#include "cmd/compiler/memory_plan.h"
#include "ir/functions.h"
#include "support/hash.h"

namespace uop {
namespace {

class Planner {
 public:
  Planner(const Program& p, const Signature& s) : p_(p), g_(p.graph) {
    m_.name = "program";
    m_.arguments = s.arguments;
    m_.buffers = s.buffers;
    m_.results = s.results;
    for (size_t i = 0; i < s.arguments.size(); ++i) argumentOf_[s.arguments[i].slot] = static_cast<int64_t>(i);
    for (size_t i = 0; i < s.buffers.size(); ++i) bufferOf_[s.buffers[i].slot] = static_cast<int64_t>(i);
  }

  Result<ProgramPlan> run() {
    layoutState(m_);
    const CallGraph calls = callGraphOf(p_);
    const MemoryLayout memory = planMemory(calls.graph);
    for (size_t t = 0; t < calls.temps.size(); ++t) offsets_[calls.temps[t]] = memory.offsets[t];
    m_.memory.arenaBytes = memory.bytes;
    m_.memory.peakBytes = memory.peak;
    for (uint32_t v : memory.order) {
      std::optional<InPlace> merge;
      if (memory.reuse[v]) merge = calls.slotsOf(g_, v, *memory.reuse[v]);
      if (auto ok = launch(calls.calls[v], merge); !ok) return std::unexpected(ok.error());
    }
    placeResults();
    return ProgramPlan{std::move(m_), std::move(sources_)};
  }

 private:
  // A body's function, or that of the body with two of its arguments as one.
  struct Body {
    int64_t kernel;
    cstyle::KernelSource source;   // without its text
    std::vector<int64_t> written;  // slots
  };
  using BodyKey = std::tuple<NodeId, int64_t, int64_t>;

  int64_t bytesOf(NodeId id) const { return g_.elements(id) * byteSize(g_.dtype(id)); }

  Place placeOf(NodeId node) const {
    NodeId root = g_[node].base;
    int64_t bytes = bytesOf(root), slot = g_.attr(root, AttrKey::Slot);
    switch (g_.op(root)) {
      case Op::Param: return {Base::Argument, argumentOf_.at(slot), 0, bytes};
      case Op::Buffer: return {Base::Buffer, bufferOf_.at(slot), 0, bytes};
      case Op::Alloc: return {Base::Arena, 0, offsets_.at(root), bytes};
      default: internalError(fmt::format("a kernel's place is '{}'", nodeText(g_, root)));
    }
  }

  // The label that the program gives, as part of a C name; "" without.
  std::string labelOf(NodeId call) const {
    std::string label;
    for (char c : tagOf(call).substr(0, 40)) label += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
    return label.empty() ? "" : "_" + label;
  }
  std::string tagOf(NodeId call) const {
    return std::string(p_.hasTag(call) ? p_.tag(call) : g_.stringAttr(call, AttrKey::Name));
  }

  // Bodies whose text is the same share a function. Its symbol depends on the text and the label alone, not on the program
  // around it, and so does what is compiled.
  Result<const Body*> bodyFor(NodeId call, std::optional<InPlace> merge) {
    NodeId node = g_.src(call, 0);
    BodyKey key{node, merge ? merge->read : -1, merge ? merge->written : -1};
    if (auto it = bodies_.find(key); it != bodies_.end()) return &it->second;
    Excerpt alone = merge ? mergeArguments(g_, node, *merge) : excerpt(g_, node);
    auto source = cstyle::emitKernel(alone.graph, alone.root, "kernel");
    if (!source) return std::unexpected(source.error());
    for (auto* nodes : {&source->places, &source->scalars, &source->taskBounds})
      for (NodeId& n : *nodes) n = alone.from[n];
    Body body{static_cast<int64_t>(sources_.size()), *source, Functions(alone.graph).of({&alone.root, 1}).written};
    auto [known, fresh] = kernelOfText_.try_emplace(std::move(body.source.text), body.kernel);
    body.kernel = known->second;
    m_.memory.scratchBytesPerThread = std::max(m_.memory.scratchBytesPerThread, source->scratchBytes);
    if (fresh) addKernel(std::move(*source), labelOf(call));
    return &bodies_.emplace(key, std::move(body)).first->second;
  }

  void addKernel(cstyle::KernelSource source, const std::string& label) {
    std::string symbol = fmt::format("k{}_{}", label, sha256Hex(source.text).substr(0, 16));
    cstyle::renameKernel(source, symbol);
    m_.kernels.push_back({fmt::format("k{}{}", sources_.size(), label), "", symbol, "", 0, ""});
    sources_.push_back(std::move(source));
  }

  // The argument of the program that is passed for a PARAM of the body.
  int64_t scalarArgument(NodeId call, NodeId param) const {
    NodeId arg = g_.src(call, 1 + static_cast<size_t>(g_.attr(param, AttrKey::Slot)));
    if (g_.op(arg) != Op::Param) internalError(fmt::format("a kernel's scalar argument is '{}'", nodeText(g_, arg)));
    return argumentOf_.at(g_.attr(arg, AttrKey::Slot));
  }

  Result<void> launch(NodeId call, std::optional<InPlace> merge) {
    auto body = bodyFor(call, merge);
    if (!body) return std::unexpected(body.error());
    const cstyle::KernelSource& source = (*body)->source;
    Launch l;
    l.kernel = (*body)->kernel;
    l.tag = tagOf(call);
    for (NodeId param : source.places) {
      int64_t slot = g_.attr(param, AttrKey::Slot);
      LaunchArg arg;
      arg.place = placeOf(g_.src(call, 1 + static_cast<size_t>(slot)));
      arg.write = std::ranges::binary_search((*body)->written, slot);
      l.args.push_back(arg);
    }
    for (NodeId param : source.scalars) {
      LaunchArg arg;
      arg.kind = LaunchArg::Kind::Scalar;
      arg.index = scalarArgument(call, param);
      arg.dtype = g_.dtype(param);
      l.args.push_back(arg);
    }
    l.grid[0] = source.tasks >= 0 ? Amount{source.tasks, ""} : gridAmount(g_, source.taskBounds, [&](NodeId param) { return scalarArgument(call, param); });
    auto clip = [](uint64_t v) { return Amount{static_cast<int64_t>(std::min<uint64_t>(v, INT64_MAX)), ""}; };
    l.flops = clip(source.flops);
    l.bytes = clip(source.bytes);
    m_.launches.push_back(std::move(l));
    return {};
  }

  void placeResults() {
    size_t i = 0;
    for (const ResultDef& r : p_.results)
      if (isValue(g_.dtype(r.node))) m_.results[i++].place = placeOf(r.node);
  }

  const Program& p_;
  const Graph& g_;
  Manifest m_;
  std::vector<cstyle::KernelSource> sources_;
  std::map<BodyKey, Body> bodies_;
  std::unordered_map<std::string, int64_t> kernelOfText_;
  std::map<NodeId, int64_t> offsets_;
  std::map<int64_t, int64_t> argumentOf_, bufferOf_;
};

}  // namespace

Result<ProgramPlan> planProgram(const Program& lowered, const Signature& signature, const Target& target) {
  auto plan = Planner(lowered, signature).run();
  if (plan) plan->manifest.target = target;
  return plan;
}

}  // namespace uop
