// Rebuilding a program bottom-up: the frame that passes share.
#pragma once
#include <algorithm>
#include <utility>
#include <vector>

#include "ir/program.h"

namespace uop {

// Calls visit(old, newSources, now) for every node that the results reach (CALL bodies too), sources first, and returns
// the old → new table, which `now` is as far as it goes. `visit` makes nodes in the same graph.
template <class Visit>
std::vector<NodeId> rebuildNodes(Graph& g, std::span<const NodeId> roots, Visit visit) {
  std::vector<NodeId> order = cone(g, roots, true);
  std::vector<NodeId> now(order.empty() ? 0 : order.back() + 1, kNoNode);
  std::vector<NodeId> sources;
  for (NodeId id : order) {
    sources.clear();
    for (NodeId s : g.srcs(id)) sources.push_back(now[s]);
    now[id] = visit(id, std::span<const NodeId>(sources), std::as_const(now));
  }
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
