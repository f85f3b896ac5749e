#include "cmd/compiler/launch_order.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <set>
#include <tuple>

namespace uop {
namespace {

// Ready launches in a set, by how much they free and allocate; a key changes where a temporary of the launch becomes live or
// is left to it alone, so that all changes together are as many as uses.
class ListScheduler {
 public:
  ListScheduler(const LaunchGraph& graph, ListRule rule)
      : graph_(graph), rule_(rule), liveness_(graph), users_(graph.temps.size()), next_(graph.launches.size()), waits_(graph.launches.size()), keys_(graph.launches.size()) {
    for (uint32_t v = 0; v < graph.launches.size(); ++v) {
      for (uint32_t t : graph.launches[v].temps) users_[t].push_back(v);
      for (uint32_t d : graph.launches[v].deps) next_[d].push_back(v);
      waits_[v] = graph.launches[v].deps.size();
    }
  }

  std::vector<uint32_t> run() {
    std::vector<uint32_t> order;
    for (uint32_t v = 0; v < graph_.launches.size(); ++v)
      if (waits_[v] == 0) enter(v);
    while (!ready_.empty()) {
      const uint32_t v = std::get<3>(*ready_.begin());
      ready_.erase(ready_.begin());
      keys_[v].reset();
      order.push_back(v);
      launch(v);
    }
    return order;
  }

 private:
  using Key = std::tuple<int64_t, int64_t, int64_t, uint32_t>;

  Key keyOf(uint32_t v, int64_t since) const {
    const Liveness::Change c = liveness_.change(v);
    if (rule_ == ListRule::Transient) return {std::max<int64_t>(c.transient(), 0), c.net(), 0, v};
    return {c.net(), rule_ == ListRule::Recent ? -since : 0, c.transient(), v};
  }
  void enter(uint32_t v) {
    keys_[v] = keyOf(v, since_++);
    ready_.insert(*keys_[v]);
  }
  void refresh(uint32_t v) {
    if (!keys_[v]) return;
    ready_.erase(*keys_[v]);
    keys_[v] = keyOf(v, rule_ == ListRule::Recent ? -std::get<1>(*keys_[v]) : 0);
    ready_.insert(*keys_[v]);
  }

  void launch(uint32_t v) {
    std::vector<uint32_t> born;
    for (uint32_t t : graph_.launches[v].temps)
      if (!liveness_.isLive(t)) born.push_back(t);
    liveness_.run(v);
    for (uint32_t t : born)
      for (uint32_t user : users_[t]) refresh(user);
    for (uint32_t t : graph_.launches[v].temps)
      if (liveness_.usersLeft(t) == 1)
        for (uint32_t user : users_[t]) refresh(user);
    for (uint32_t user : next_[v])
      if (--waits_[user] == 0) enter(user);
  }

  const LaunchGraph& graph_;
  const ListRule rule_;
  Liveness liveness_;
  std::vector<std::vector<uint32_t>> users_, next_;
  std::vector<size_t> waits_;
  std::vector<std::optional<Key>> keys_;  // of those that are ready
  std::set<Key> ready_;
  int64_t since_ = 0;
};

// Work that the search may take, in launches looked at: some milliseconds.
constexpr size_t kSearchWork = 200'000;
constexpr size_t kWidest = 512, kNarrowest = 4;

}  // namespace

std::vector<uint32_t> listSchedule(const LaunchGraph& graph, ListRule rule) { return ListScheduler(graph, rule).run(); }

int64_t leastPeak(const LaunchGraph& graph) {
  int64_t first = 0, last = 0, most = 0;
  for (const LaunchGraph::Temp& t : graph.temps) first += t.before ? t.bytes : 0, last += t.after ? t.bytes : 0;
  for (const LaunchGraph::Launch& l : graph.launches) {
    int64_t touched = 0, saved = 0;
    for (uint32_t t : l.temps) touched += graph.temps[t].bytes;
    for (const LaunchGraph::Reuse& r : l.reuse) saved = std::max(saved, graph.temps[r.born].bytes);
    most = std::max(most, touched - saved);
  }
  return std::max({first, last, most});
}

std::vector<uint32_t> orderLaunches(const LaunchGraph& graph) {
  const auto n = graph.launches.size();
  std::vector<uint32_t> best(n);
  std::iota(best.begin(), best.end(), 0u);
  int64_t peak = peakBytes(graph, best);
  const int64_t least = leastPeak(graph);
  auto offer = [&](std::vector<uint32_t> order) {
    if (int64_t p = peakBytes(graph, order); p < peak) peak = p, best = std::move(order);
  };
  constexpr std::array rules = {ListRule::Net, ListRule::Recent, ListRule::Transient};
  for (ListRule rule : rules)
    if (peak > least) offer(listSchedule(graph, rule));
  if (peak > least) {
    const LaunchGraph back = reversed(graph);
    for (ListRule rule : rules) {
      std::vector<uint32_t> order = listSchedule(back, rule);
      std::ranges::reverse(order);
      for (uint32_t& v : order) v = static_cast<uint32_t>(n) - 1 - v;
      offer(std::move(order));
    }
  }
  const size_t width = std::min(kWidest, kSearchWork / std::max<size_t>(1, n * n));
  if (peak > least && width >= kNarrowest)
    if (auto order = beamSchedule(graph, peak, width)) offer(std::move(*order));
  return best;
}

}  // namespace uop
