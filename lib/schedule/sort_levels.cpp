// Topological order of each loop's items, smallest node first among those that are ready.
#include <algorithm>
#include <queue>
#include <ranges>

#include "ir/program.h"
#include "schedule/tree_builder.h"

namespace uop::schedule {
namespace {

struct Successors {
  std::vector<uint32_t> start, to;
  std::vector<uint32_t> waiting;  // by item: edges into it

  Successors(size_t items, std::span<const Edge> edges) : start(items + 1), to(edges.size()), waiting(items) {
    for (const Edge& e : edges) ++start[e.before + 1], ++waiting[e.after];
    for (size_t i = 0; i < items; ++i) start[i + 1] += start[i];
    std::vector<uint32_t> fill(start.begin(), start.end() - 1);
    for (const Edge& e : edges) to[fill[e.before]++] = e.after;
  }
  std::span<const uint32_t> of(ItemId item) const { return std::span(to).subspan(start[item], start[item + 1] - start[item]); }
};

// Every item left over has a predecessor that is left over too: walking back must close a circle.
Error cycleError(const Nest& nest, std::span<const Edge> edges, const std::vector<uint32_t>& waiting, ItemId from) {
  std::unordered_map<ItemId, ItemId> before;
  for (const Edge& e : edges)
    if (waiting[e.before] > 0 && waiting[e.after] > 0) before.try_emplace(e.after, e.before);
  std::unordered_map<ItemId, bool> seen;
  ItemId at = from;
  while (!seen[at]) seen[at] = true, at = before.at(at);
  std::string text = "no order exists: each of these must come before the next, and the last before the first:";
  size_t named = 0;
  std::vector<ItemId> circle;
  for (ItemId stop = at; circle.empty() || at != stop; at = before.at(at)) circle.push_back(at);
  for (ItemId item : circle | std::views::reverse) {
    const Op op = nest.g.op(nest.nodeOf(item));
    if (op != Op::Store && op != Op::Load && op != Op::End && !hasTrait(op, trait::Effect) && circle.size() > 8) continue;
    if (++named > 8) break;
    text += "\n  " + nodeText(nest.g, nest.nodeOf(item));
  }
  return {Diag::PassError, text, {}};
}

}  // namespace

Result<void> sortLevels(const Nest& nest, std::span<const Edge> edges) {
  Successors next(nest.itemCount(), edges);
  std::vector<ItemId> items(nest.nodes.begin(), nest.nodes.end());
  std::erase_if(items, [&](ItemId n) { return nest.itemOf(n) != n; });
  for (uint32_t loop = 1; loop < nest.tree.loops.size(); ++loop) items.push_back(nest.loopItem(loop));
  // Loops of one END nest directly, so an END names one item of a level.
  auto later = [&](ItemId a, ItemId b) { return nest.nodeOf(a) > nest.nodeOf(b) || (nest.nodeOf(a) == nest.nodeOf(b) && a > b); };
  std::priority_queue<ItemId, std::vector<ItemId>, decltype(later)> ready(later);
  for (ItemId i : items)
    if (next.waiting[i] == 0) ready.push(i);
  size_t placed = 0;
  for (; !ready.empty(); ++placed) {
    const ItemId item = ready.top();
    ready.pop();
    const bool isLoop = nest.isLoopItem(item);
    nest.tree.loops[nest.levelOf(item)].body.push_back({isLoop, nest.nodeOf(item), isLoop ? nest.loopOfItem(item) : 0});
    for (ItemId after : next.of(item))
      if (--next.waiting[after] == 0) ready.push(after);
  }
  if (placed == items.size()) return {};
  for (ItemId i : items)
    if (next.waiting[i] > 0) return std::unexpected(cycleError(nest, edges, next.waiting, i));
  internalError("items of a loop tree are lost");
}

}  // namespace uop::schedule
