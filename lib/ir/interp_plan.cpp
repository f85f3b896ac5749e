#include "ir/interp_plan.h"

#include <algorithm>

namespace uop::interp {
namespace {

// Effects that an END runs in its loops, whether or not they depend on its ranges.
std::set<NodeId> bodyEffects(const Graph& g, std::span<const NodeId> nodes) {
  std::set<NodeId> out;
  for (size_t i = nodes.size(); i-- > 0;) {
    NodeId n = nodes[i];
    if (g.op(n) == Op::End && g[n].srcCount > 1) out.insert(g.src(n, 0));
    if (g.op(n) == Op::Sink && out.contains(n))
      for (NodeId s : g.srcs(n)) out.insert(s);
  }
  return out;
}

bool closes(const Graph& g, NodeId n) { return hasTrait(g.op(n), trait::ClosesRanges) && g[n].srcCount > 1; }
bool isEffect(const Graph& g, NodeId n) { return hasTrait(g.op(n), trait::Effect); }

}  // namespace

const BodyWrites& Planner::bodyWrites(NodeId body) {
  if (auto it = bodies_.find(body); it != bodies_.end()) return it->second;
  // Bodies of nested CALLs have smaller ids: those are worked out first.
  NodeId roots[] = {body};
  std::vector<NodeId> todo;
  for (NodeId n : cone(g_, roots, true))
    if (g_.op(n) == Op::Call && !bodies_.contains(g_.src(n, 0))) todo.push_back(g_.src(n, 0));
  todo.push_back(body);
  for (NodeId b : todo) {
    if (bodies_.contains(b)) continue;
    BodyWrites w;
    auto add = [&](NodeId base) {
      if (g_.op(base) == Op::Param) w.params.insert(g_.attr(base, AttrKey::Slot));
      if (g_.op(base) == Op::Buffer) w.buffers.insert(base);
    };
    NodeId root[] = {b};
    for (NodeId n : cone(g_, root)) {
      if (g_.op(n) == Op::Store) add(g_[g_.src(n, 0)].base);
      if (g_.op(n) != Op::Call) continue;
      const BodyWrites& inner = bodies_.at(g_.src(n, 0));
      for (int64_t slot : inner.params) add(g_[g_.src(n, 1 + static_cast<size_t>(slot))].base);
      w.buffers.insert(inner.buffers.begin(), inner.buffers.end());
    }
    bodies_.emplace(b, std::move(w));
  }
  return bodies_.at(body);
}

std::set<NodeId> Planner::writesOf(NodeId n, const FunctionPlan& plan) {
  std::set<NodeId> out;
  if (g_.op(n) == Op::Store) out.insert(g_[g_.src(n, 0)].base);
  if (auto it = plan.loops.find(n); it != plan.loops.end()) out = it->second.written;
  if (g_.op(n) == Op::Call) {
    const BodyWrites& w = bodyWrites(g_.src(n, 0));
    for (int64_t slot : w.params) out.insert(g_[g_.src(n, 1 + static_cast<size_t>(slot))].base);
    out.insert(w.buffers.begin(), w.buffers.end());
  }
  return out;
}

// Bases that evaluating n reads as an iteration finds them: through AFTERs inside of loops.
std::set<NodeId> Planner::readsOf(NodeId n, const FunctionPlan& plan) {
  std::set<NodeId> out;
  auto live = [&](NodeId p) { return g_[p].place && !g_.open(p).empty() && g_.op(g_[p].base) != Op::Stage; };
  Op op = g_.op(n);
  if (!g_[n].place && op != Op::After && op != Op::Sink && op != Op::Call)
    for (size_t i = op == Op::Store ? 1 : 0; i < g_[n].srcCount; ++i)
      if (live(g_.src(n, i))) out.insert(g_[g_.src(n, i)].base);
  if (op == Op::Call)
    for (NodeId s : g_.srcs(n).subspan(1))
      if (live(s)) out.insert(g_[s].base);
  if (auto it = plan.loops.find(n); it != plan.loops.end())
    for (const auto& level : it->second.levels)
      for (NodeId m : level) {
        auto inner = readsOf(m, plan);
        out.insert(inner.begin(), inner.end());
      }
  return out;
}

// What must be there before n is evaluated.
std::span<const NodeId> Planner::needsOf(NodeId n, const FunctionPlan& plan) const {
  auto loops = plan.loops.find(n);
  return loops == plan.loops.end() ? g_.srcs(n) : std::span<const NodeId>(loops->second.outside);
}

// Topological, effects as late as possible, and none before a read of what it overwrites that does not wait for it.
Result<std::vector<NodeId>> Planner::orderLevel(std::vector<NodeId> nodes, const FunctionPlan& plan) {
  std::ranges::sort(nodes);
  std::vector<NodeId> effects;
  for (NodeId n : nodes)
    if (!writesOf(n, plan).empty()) effects.push_back(n);
  if (effects.empty()) return nodes;
  std::unordered_map<NodeId, std::set<NodeId>> before;  // an effect → reads that must come first
  for (NodeId e : effects) {
    auto bases = writesOf(e, plan);
    std::set<NodeId> after{e};
    for (NodeId n : nodes) {
      if (n <= e) continue;
      if (std::ranges::any_of(needsOf(n, plan), [&](NodeId s) { return after.contains(s); })) after.insert(n);
    }
    for (NodeId n : nodes) {
      if (after.contains(n)) continue;
      auto reads = readsOf(n, plan);
      if (std::ranges::any_of(reads, [&](NodeId b) { return bases.contains(b); })) before[e].insert(n);
    }
  }
  std::set<NodeId> inside(nodes.begin(), nodes.end()), done;
  std::vector<NodeId> out;
  auto ready = [&](NodeId n) { return std::ranges::all_of(needsOf(n, plan), [&](NodeId s) { return !inside.contains(s) || done.contains(s); }); };
  std::set<NodeId> pending = inside;
  while (!pending.empty()) {
    NodeId next = kNoNode;
    bool moved = false;
    for (auto it = pending.begin(); it != pending.end();) {  // ascending: sources first
      NodeId n = *it;
      bool effect = std::ranges::binary_search(effects, n);
      if (!effect && ready(n)) {
        done.insert(n), out.push_back(n), it = pending.erase(it), moved = true;
        continue;
      }
      if (effect && next == kNoNode && ready(n) && std::ranges::all_of(before[n], [&](NodeId r) { return done.contains(r); })) next = n;
      ++it;
    }
    if (next != kNoNode) done.insert(next), out.push_back(next), pending.erase(next);
    else if (!moved) return fail(Diag::RuntimeFault, "no order of one iteration's reads and writes is right, around: " + nodeText(g_, *pending.begin()));
  }
  return out;
}

LoopPlan Planner::planLoops(NodeId closer, const FunctionPlan& plan) {
  LoopPlan out;
  auto ranges = g_.srcs(closer).subspan(1);
  out.ranges.assign(ranges.begin(), ranges.end());
  out.levels.resize(ranges.size());
  auto levelOf = [&](NodeId n) -> int {
    int level = -1;
    for (size_t i = 0; i < ranges.size(); ++i)
      if (g_.isOpen(n, ranges[i])) level = static_cast<int>(i);
    return level;
  };
  std::set<NodeId> seen, outside;
  std::vector<NodeId> todo;
  auto visit = [&](NodeId n, bool effect) {
    if (std::ranges::find(ranges, n) != ranges.end()) return;
    int level = levelOf(n);
    if (effect) level = static_cast<int>(ranges.size()) - 1;
    if (level < 0) outside.insert(n);
    else if (seen.insert(n).second) out.levels[static_cast<size_t>(level)].push_back(n), todo.push_back(n);
  };
  NodeId body = g_.src(closer, 0);
  bool end = g_.op(closer) == Op::End;
  visit(body, end);
  for (NodeId r : ranges)
    for (NodeId b : g_.srcs(r)) visit(b, false);
  while (!todo.empty()) {
    NodeId n = todo.back();
    todo.pop_back();
    bool runs = end && g_.op(n) == Op::Sink;
    if (closes(g_, n)) {
      for (NodeId s : plan.loops.at(n).outside) visit(s, false);
      continue;
    }
    auto srcs = g_.srcs(n);
    for (size_t i = g_.op(n) == Op::Call ? 1 : 0; i < srcs.size(); ++i) visit(srcs[i], runs);
  }
  out.outside.assign(outside.begin(), outside.end());
  return out;
}

void Planner::versions(FunctionPlan& plan) {
  std::unordered_map<NodeId, std::vector<NodeId>> executed;  // base → effects so far
  for (NodeId n : plan.nodes) {
    for (NodeId b : plan.writes.contains(n) ? plan.writes[n] : std::set<NodeId>{}) executed[b].push_back(n);
    if (g_.op(n) != Op::After || !g_[n].place) continue;
    NodeId base = g_[n].base;
    std::set<NodeId> waits, seen;
    auto known = [&](NodeId p) {
      if (auto it = plan.waits.find(p); it != plan.waits.end()) waits.insert(it->second.begin(), it->second.end());
    };
    known(g_.src(n, 0));
    for (NodeId p = g_.src(n, 0); g_[p].srcCount && g_.op(p) != Op::Stage; p = g_.src(p, 0)) known(p);
    std::vector<NodeId> todo(g_.srcs(n).begin() + 1, g_.srcs(n).end());
    while (!todo.empty()) {
      NodeId m = todo.back();
      todo.pop_back();
      if (!seen.insert(m).second) continue;
      if (auto w = plan.writes.find(m); w != plan.writes.end() && w->second.contains(base)) waits.insert(m);
      if (plan.waits.contains(m) && g_[m].base == base) {
        known(m);
        continue;
      }
      auto srcs = g_.srcs(m);
      for (size_t i = g_.op(m) == Op::Call ? 1 : 0; i < srcs.size(); ++i) todo.push_back(srcs[i]);
    }
    plan.waits[n].assign(waits.begin(), waits.end());
    if (executed[base].size() != waits.size()) plan.logged.insert(base);
  }
}

void Planner::lifetimes(FunctionPlan& plan, std::span<const NodeId> roots) {
  std::unordered_map<NodeId, NodeId> last;
  for (NodeId n : plan.nodes) {
    auto srcs = g_.srcs(n);
    for (size_t i = g_.op(n) == Op::Call ? 1 : 0; i < srcs.size(); ++i) last[srcs[i]] = n;
    if (auto it = plan.loops.find(n); it != plan.loops.end())
      for (NodeId s : it->second.outside) last[s] = n;
  }
  for (NodeId r : roots) last.erase(r);
  for (NodeId n : plan.nodes)
    if (auto it = last.find(n); it != last.end()) plan.last[it->second].push_back(n);
}

Result<const FunctionPlan*> Planner::plan(std::span<const NodeId> roots) {
  std::vector<NodeId> key(roots.begin(), roots.end());
  if (auto it = plans_.find(key); it != plans_.end()) return &it->second;
  FunctionPlan plan;
  std::vector<NodeId> all = cone(g_, roots);
  std::set<NodeId> inLoops = bodyEffects(g_, all);
  for (NodeId n : all) {
    if (closes(g_, n)) {
      LoopPlan& l = plan.loops[n] = planLoops(n, plan);
      for (const auto& level : l.levels)
        for (NodeId m : level) {
          auto w = writesOf(m, plan);
          l.written.insert(w.begin(), w.end());
        }
      for (auto& level : l.levels) {
        auto ordered = orderLevel(level, plan);
        if (!ordered) return std::unexpected(ordered.error());
        level = std::move(*ordered);
      }
      bool independent = std::ranges::any_of(l.ranges, [&](NodeId r) { return g_.kind(r) == Kind::Thread || g_.kind(r) == Kind::Global; });
      bool lanes = std::ranges::any_of(l.ranges, [&](NodeId r) { return g_.kind(r) == Kind::Local || g_.kind(r) == Kind::Warp; });
      if (independent || lanes)
        for (NodeId m : cone(g_, std::span(&n, 1)))
          if (g_.op(m) == Op::Alloc && (g_.space(m) == Space::Reg || (g_.space(m) == Space::Local && independent))) l.privateAllocs.push_back(m);
    }
    if (g_.open(n).empty() && !inLoops.contains(n)) {
      plan.nodes.push_back(n);
      if (isEffect(g_, n))
        if (auto w = writesOf(n, plan); !w.empty()) plan.writes[n] = std::move(w);
    }
    if (g_[n].place && g_[n].base == n && g_.op(n) != Op::Stage) plan.bases.insert(n);
  }
  plan.contentRead.resize(all.empty() ? 0 : all.back() + 1);
  for (size_t i = all.size(); i-- > 0;) {
    NodeId n = all[i];
    bool view = g_[n].place && g_.op(n) != Op::Stage && g_.op(n) != Op::After;
    auto srcs = g_.srcs(n);
    for (size_t k = g_.op(n) == Op::Call || g_.op(n) == Op::Store ? 1 : 0; k < srcs.size(); ++k)
      if (g_[srcs[k]].place && (view ? plan.contentRead[n] || std::ranges::find(roots, n) != roots.end() : g_.op(n) != Op::After)) plan.contentRead[srcs[k]] = true;
  }
  for (NodeId r : roots) plan.contentRead[r] = true;
  for (size_t i = all.size(); i-- > 0;)
    if (g_[all[i]].place && g_.op(all[i]) != Op::Stage && g_.op(all[i]) != Op::After && plan.contentRead[all[i]] && g_[all[i]].srcCount) plan.contentRead[g_.src(all[i], 0)] = true;
  versions(plan);
  lifetimes(plan, roots);
  return &plans_.emplace(std::move(key), std::move(plan)).first->second;
}

}  // namespace uop::interp
