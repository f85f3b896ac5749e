#include <algorithm>
#include <unordered_map>

#include "ir/rebuild.h"

namespace uop {
namespace {

// The RANGEs that each effect must be inside of: those of the ENDs that run it. An effect that others wait for as well is
// left where it is.
std::unordered_map<NodeId, std::vector<NodeId>> loopsOfEffects(const Graph& g, std::span<const NodeId> order) {
  std::unordered_map<NodeId, size_t> users;
  for (NodeId n : order)
    for (NodeId s : g.srcs(n))
      if (hasTrait(g.op(s), trait::Effect)) ++users[s];
  std::unordered_map<NodeId, std::vector<NodeId>> out;
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    NodeId n = *it;
    if (g.op(n) != Op::End && g.op(n) != Op::Sink) continue;
    std::vector<NodeId> loops = out.contains(n) ? out.at(n) : std::vector<NodeId>{};
    if (g.op(n) == Op::End) loops.insert(loops.end(), g.srcs(n).begin() + 1, g.srcs(n).end());
    if (loops.empty()) continue;
    for (NodeId s : g.op(n) == Op::End ? g.srcs(n).first(1) : g.srcs(n))
      if (users[s] == 1) out[s] = loops;
  }
  return out;
}

NodeId pinned(Graph& g, NodeId place, std::span<const NodeId> loops) {
  if (g.op(place) != Op::Index) return g.after(place, loops);
  std::vector<NodeId> parts(g.srcs(place).begin(), g.srcs(place).end());
  parts[0] = g.after(parts[0], loops);
  return g.make(Op::Index, parts, g.attrsOf(place));
}

// STOREs, and the loops of their ENDs that nothing in them is inside of.
std::unordered_map<NodeId, std::vector<NodeId>> looseStores(const Graph& g, std::span<const NodeId> order) {
  std::unordered_map<NodeId, std::vector<NodeId>> out;
  for (const auto& [effect, loops] : loopsOfEffects(g, order)) {
    if (g.op(effect) != Op::Store) continue;
    for (NodeId r : loops)
      if (!g.isOpen(effect, r)) out[effect].push_back(r);
  }
  return out;
}

}  // namespace

bool hasLooseEffects(const Program& p) { return !looseStores(p.graph, cone(p.graph, p.roots(), true)).empty(); }

void pinEffects(Program& p) {
  Graph& g = p.graph;
  auto roots = p.roots();
  auto missing = looseStores(g, cone(g, roots, true));
  if (missing.empty()) return;
  retarget(p, rebuildNodes(g, roots, [&](NodeId old, std::span<const NodeId> sources, const auto& now) {
    auto it = missing.find(old);
    if (it == missing.end()) return g.remake(g, old, sources);
    std::vector<NodeId> loops, parts(sources.begin(), sources.end());
    for (NodeId r : it->second) loops.push_back(now[r] == kNoNode ? r : now[r]);
    parts[0] = pinned(g, parts[0], loops);
    return g.remake(g, old, parts);
  }, Bodies::Rebuilt));
}

}  // namespace uop
