#include "cmd/compiler/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "cmd/compiler/arena.h"
#include "cmd/compiler/grid.h"
#include "ir/functions.h"
#include "support/hash.h"

namespace uop {
namespace {

class Planner {
 public:
  Planner(const Program& p, const Signature& s) : p_(p), g_(p.graph), functions_(p.graph) {
    m_.name = "program";
    m_.arguments = s.arguments;
    m_.buffers = s.buffers;
    m_.results = s.results;
    for (size_t i = 0; i < s.arguments.size(); ++i) argumentOf_[s.arguments[i].slot] = static_cast<int64_t>(i);
    for (size_t i = 0; i < s.buffers.size(); ++i) bufferOf_[s.buffers[i].slot] = static_cast<int64_t>(i);
  }

  Result<ProgramPlan> run() {
    auto roots = p_.roots();
    for (NodeId id : cone(g_, roots))
      if (g_.op(id) == Op::Call) calls_.push_back(id);
    layoutState(m_);
    findLifetimes();
    for (NodeId call : calls_)
      if (auto ok = launch(call); !ok) return std::unexpected(ok.error());
    placeResults();
    return ProgramPlan{std::move(m_), std::move(sources_)};
  }

 private:
  struct Body {
    int64_t kernel;
    cstyle::KernelSource source;   // without its text
    std::vector<int64_t> written;  // slots
  };

  // Whole places only: what the passes put around one does not move its elements.
  NodeId rootOf(NodeId place) const {
    while (g_.op(place) == Op::After || g_.op(place) == Op::Reshape) place = g_.src(place, 0);
    return place;
  }

  int64_t bytesOf(NodeId id) const { return g_.elements(id) * byteSize(g_.dtype(id)); }

  Place placeOf(NodeId node) const {
    NodeId root = rootOf(node);
    int64_t bytes = bytesOf(root), slot = g_.op(root) == Op::Const ? 0 : g_.attr(root, AttrKey::Slot);
    switch (g_.op(root)) {
      case Op::Param: return {Base::Argument, argumentOf_.at(slot), 0, bytes};
      case Op::Buffer: return {Base::Buffer, bufferOf_.at(slot), 0, bytes};
      case Op::Alloc: return {Base::Arena, 0, offsets_.at(root), bytes};
      default: internalError(fmt::format("a kernel's place is '{}'", nodeText(g_, root)));
    }
  }

  void findLifetimes() {
    std::map<NodeId, Lifetime> lives;
    auto use = [&](NodeId node, size_t launch) {
      NodeId root = rootOf(node);
      if (g_.op(root) != Op::Alloc) return;
      auto [it, fresh] = lives.try_emplace(root, Lifetime{bytesOf(root), launch, launch});
      it->second.last = std::max(it->second.last, launch);
    };
    for (size_t i = 0; i < calls_.size(); ++i)
      for (NodeId arg : g_.srcs(calls_[i]).subspan(1)) use(arg, i);
    for (const ResultDef& r : p_.results)
      if (isValue(g_.dtype(r.node))) use(r.node, calls_.size());
    std::vector<Lifetime> list;
    for (const auto& [root, life] : lives) list.push_back(life);
    ArenaPlan plan = planArena(list);
    size_t i = 0;
    for (const auto& [root, life] : lives) offsets_[root] = plan.offsets[i++];
    m_.memory.arenaBytes = plan.bytes;
    m_.memory.peakBytes = plan.peak;
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

  // A body's function; bodies whose text is the same share one. Its symbol depends on the text and the label alone, not on
  // the program around it, and so does what is compiled.
  Result<const Body*> bodyFor(NodeId call) {
    NodeId node = g_.src(call, 0);
    if (auto it = bodies_.find(node); it != bodies_.end()) return &it->second;
    Excerpt alone = excerpt(g_, node);
    auto source = cstyle::emitKernel(alone.graph, alone.root, "kernel");
    if (!source) return std::unexpected(source.error());
    for (auto* nodes : {&source->places, &source->scalars, &source->taskBounds})
      for (NodeId& n : *nodes) n = alone.from[n];
    Body body{static_cast<int64_t>(sources_.size()), *source, functions_.body(node).written};
    auto [known, fresh] = kernelOfText_.try_emplace(std::move(body.source.text), body.kernel);
    body.kernel = known->second;
    m_.memory.scratchBytesPerThread = std::max(m_.memory.scratchBytesPerThread, source->scratchBytes);
    if (fresh) addKernel(std::move(*source), labelOf(call));
    return &bodies_.emplace(node, std::move(body)).first->second;
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

  Result<void> launch(NodeId call) {
    auto body = bodyFor(call);
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
  Functions functions_;
  Manifest m_;
  std::vector<cstyle::KernelSource> sources_;
  std::vector<NodeId> calls_;
  std::map<NodeId, Body> bodies_;
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
