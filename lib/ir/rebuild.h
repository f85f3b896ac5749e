// Rebuilding a program bottom-up: the frame that passes share.
#pragma once
#include <algorithm>
#include <utility>
#include <vector>

#include "ir/program.h"

namespace uop {

enum class Bodies : uint8_t { Same, Rebuilt };  // those of CALLs

// What no function of its own reaches but a CALL's body does stays what it is: nodes keep their tags there.
inline void keepBodies(const Graph& g, std::span<const NodeId> order, std::vector<NodeId>& now) {
  std::vector<NodeId> bodies;
  for (NodeId id : order)
    if (g.op(id) == Op::Call) bodies.push_back(g.src(id, 0));
  for (NodeId id : cone(g, bodies, true))
    if (now[id] == kNoNode) now[id] = id;
}

// Calls visit(old, newSources, now) for every node that the results reach, sources first, and returns the old → new table,
// which `now` is as far as it goes. `visit` makes nodes in the same graph. CALL bodies are functions of their own: a CALL
// keeps its own, unless they are rebuilt as well, as suits what does not ask which function a node is in.
template <class Visit>
std::vector<NodeId> rebuildNodes(Graph& g, std::span<const NodeId> roots, Visit visit, Bodies bodies = Bodies::Same) {
  const bool all = bodies == Bodies::Rebuilt;
  std::vector<NodeId> order = cone(g, roots, all);
  std::vector<NodeId> now(order.empty() ? 0 : order.back() + 1, kNoNode);
  std::vector<NodeId> sources;
  for (NodeId id : order) {
    sources.clear();
    for (NodeId s : g.srcs(id)) sources.push_back(now[s]);
    if (!all && g.op(id) == Op::Call) sources[0] = g.src(id, 0);
    now[id] = visit(id, std::span<const NodeId>(sources), std::as_const(now));
  }
  if (!all) keepBodies(g, order, now);
  return now;
}

// The least unused ALLOC slot and RANGE id of everything the roots reach.
struct FreshIds {
  int64_t slot = 0, range = 0;
};
inline FreshIds freshIds(const Graph& g, std::span<const NodeId> roots) {
  FreshIds out;
  for (NodeId id : cone(g, roots, true)) {
    if (g.op(id) == Op::Alloc) out.slot = std::max(out.slot, g.attr(id, AttrKey::Slot) + 1);
    if (g.op(id) == Op::Range) out.range = std::max(out.range, g.attr(id, AttrKey::Id) + 1);
  }
  return out;
}

}  // namespace uop
