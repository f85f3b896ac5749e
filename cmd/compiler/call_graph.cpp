#include "cmd/compiler/call_graph.h"

#include <algorithm>
#include <unordered_map>

#include "cmd/compiler/arena.h"
#include "ir/functions.h"

namespace uop {
namespace {

int64_t slotOf(const Graph& g, NodeId call, NodeId base) {
  auto args = g.srcs(call).subspan(1);
  for (size_t slot = 0; slot < args.size(); ++slot)
    if (g[args[slot]].base == base) return static_cast<int64_t>(slot);
  internalError(fmt::format("{} has no such argument", nodeText(g, call)));
}

class Builder {
 public:
  explicit Builder(const Program& p) : p_(p), g_(p.graph), functions_(p.graph), nodes_(cone(g_, p.roots())) {}

  CallGraph run() {
    for (NodeId n : nodes_) {
      if (g_.op(n) == Op::Alloc) addTemp(n);
      if (g_.op(n) == Op::After || g_.op(n) == Op::Reshape) extraDeps(n);
      if (g_.op(n) == Op::Call) addLaunch(n);
    }
    for (const ResultDef& r : p_.results)
      if (auto it = tempOf_.find(g_[r.node].base); isValue(g_.dtype(r.node)) && it != tempOf_.end()) out_.graph.temps[it->second].after = true;
    return std::move(out_);
  }

 private:
  struct Touched {
    std::optional<uint32_t> writer;
    std::vector<uint32_t> readers;  // since then
  };

  void addTemp(NodeId alloc) {
    tempOf_.emplace(alloc, static_cast<uint32_t>(out_.temps.size()));
    out_.temps.push_back(alloc);
    out_.graph.temps.push_back({arenaBytes(g_.elements(alloc) * byteSize(g_.dtype(alloc))), false, false});
  }

  const std::vector<int64_t>& writtenBy(NodeId call) { return functions_.body(g_.src(call, 0)).written; }

  const std::vector<InPlace>& inPlaceOf(NodeId body) {
    auto [it, fresh] = inPlace_.try_emplace(body);
    if (!fresh) return it->second;
    const Excerpt alone = excerpt(g_, body);
    return it->second = inPlacePairs(alone.graph, alone.root);
  }

  bool writes(NodeId call, NodeId base) {
    auto args = g_.srcs(call).subspan(1);
    return std::ranges::any_of(writtenBy(call), [&](int64_t slot) { return g_[args[static_cast<size_t>(slot)]].base == base; });
  }

  // CALLs that a place waits for though they do not write it. Where one of them was given the place below, it waits for what
  // that waits for, which then need not be listed again: chains may be as long as the program.
  void extraDeps(NodeId n) {
    const NodeId below = g_.src(n, 0);
    std::vector<uint32_t> extra;
    bool covered = false;
    for (NodeId call : g_.op(n) == Op::After ? callsBelow(n) : std::vector<NodeId>{}) {
      if (!writes(call, g_[n].base)) extra.push_back(launchOf_.at(call));
      covered |= std::ranges::find(g_.srcs(call).subspan(1), below) != g_.srcs(call).end();
    }
    if (auto it = extra_.find(below); it != extra_.end() && !covered) extra.insert(extra.end(), it->second.begin(), it->second.end());
    if (!extra.empty()) extra_.emplace(n, std::move(extra));
  }

  std::vector<NodeId> callsBelow(NodeId after) const {
    std::vector<NodeId> todo(g_.srcs(after).begin() + 1, g_.srcs(after).end()), calls;
    while (!todo.empty()) {
      const NodeId n = todo.back();
      todo.pop_back();
      if (g_.op(n) == Op::Call) calls.push_back(n);
      else todo.insert(todo.end(), g_.srcs(n).begin(), g_.srcs(n).end());
    }
    return calls;
  }

  void addLaunch(NodeId call) {
    const auto v = static_cast<uint32_t>(out_.calls.size());
    out_.calls.push_back(call);
    launchOf_.emplace(call, v);
    LaunchGraph::Launch& launch = out_.graph.launches.emplace_back();
    auto args = g_.srcs(call).subspan(1);
    for (size_t slot = 0; slot < args.size(); ++slot) {
      if (!g_[args[slot]].place) continue;
      const NodeId base = g_[args[slot]].base;
      if (auto it = extra_.find(args[slot]); it != extra_.end()) launch.deps.insert(launch.deps.end(), it->second.begin(), it->second.end());
      if (auto it = tempOf_.find(base); it != tempOf_.end() && std::ranges::find(launch.temps, it->second) == launch.temps.end()) launch.temps.push_back(it->second);
      touch(launch, v, base, writes(call, base));
    }
    addReuse(launch, call);
  }

  void touch(LaunchGraph::Launch& launch, uint32_t v, NodeId base, bool write) {
    Touched& t = touched_[base];
    if (t.writer && *t.writer != v) launch.deps.push_back(*t.writer);
    if (!write) return t.readers.push_back(v);
    for (uint32_t reader : t.readers)
      if (reader != v) launch.deps.push_back(reader);
    t = {v, {}};
  }

  void addReuse(LaunchGraph::Launch& launch, NodeId call) {
    auto args = g_.srcs(call).subspan(1);
    auto tempAt = [&](int64_t slot) -> std::optional<uint32_t> {
      const NodeId base = g_[args[static_cast<size_t>(slot)]].base;
      auto it = tempOf_.find(base);
      if (it == tempOf_.end() || std::ranges::count_if(args, [&](NodeId a) { return g_[a].base == base; }) != 1) return std::nullopt;
      return it->second;
    };
    const bool worthwhile = launch.temps.size() > 1 && std::ranges::any_of(writtenBy(call), [&](int64_t slot) { return tempAt(slot).has_value(); });
    if (!worthwhile) return;
    for (const InPlace& pair : inPlaceOf(g_.src(call, 0)))
      if (auto dying = tempAt(pair.read), born = tempAt(pair.written); dying && born) launch.reuse.push_back({*dying, *born});
  }

  const Program& p_;
  const Graph& g_;
  Functions functions_;
  const std::vector<NodeId> nodes_;
  CallGraph out_;
  std::unordered_map<NodeId, uint32_t> tempOf_, launchOf_;
  std::unordered_map<NodeId, std::vector<uint32_t>> extra_;  // by place
  std::unordered_map<NodeId, Touched> touched_;              // by base
  std::unordered_map<NodeId, std::vector<InPlace>> inPlace_;  // by body
};

}  // namespace

InPlace CallGraph::slotsOf(const Graph& g, uint32_t launch, LaunchGraph::Reuse reuse) const {
  return {slotOf(g, calls[launch], temps[reuse.dying]), slotOf(g, calls[launch], temps[reuse.born])};
}

CallGraph callGraphOf(const Program& lowered) { return Builder(lowered).run(); }

}  // namespace uop
