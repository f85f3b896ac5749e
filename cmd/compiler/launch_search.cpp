// What is live depends on the set of launches that have run, not on their order: so of two ways to one set the one with the
// lower peak is all that is kept, and the search goes from set to set, a launch a step.
#include <algorithm>
#include <map>

#include "cmd/compiler/launch_order.h"

namespace uop {
namespace {

using Bits = std::vector<uint64_t>;
bool has(const Bits& bits, uint32_t i) { return bits[i / 64] >> (i % 64) & 1; }

struct State {
  Bits done;
  int64_t live = 0, peak = 0;
  size_t step = 0;  // in steps_
};
struct Step {
  size_t before;
  uint32_t launch;
};

class Beam {
 public:
  Beam(const LaunchGraph& graph, int64_t bound, size_t width) : graph_(graph), bound_(bound), width_(width), users_(graph.temps.size()) {
    for (uint32_t v = 0; v < graph.launches.size(); ++v)
      for (uint32_t t : graph.launches[v].temps) users_[t].push_back(v);
  }

  std::optional<std::vector<uint32_t>> run() {
    State start{Bits(graph_.launches.size() / 64 + 1), 0, 0, kStart};
    for (const LaunchGraph::Temp& t : graph_.temps) start.live += t.before ? t.bytes : 0;
    start.peak = start.live;
    std::vector<State> states = {start};
    for (size_t i = 0; i < graph_.launches.size() && !states.empty(); ++i) states = advance(states);
    if (states.empty()) return std::nullopt;
    return orderOf(*std::ranges::min_element(states, {}, &State::peak));
  }

 private:
  static constexpr size_t kStart = SIZE_MAX;

  struct Effect {
    int64_t net = 0, transient = 0;
  };
  struct Touch {
    bool live, last;
  };
  Touch touchOf(const Bits& done, uint32_t temp, uint32_t launch) const {
    bool none = !graph_.temps[temp].before, last = !graph_.temps[temp].after;
    for (uint32_t user : users_[temp]) {
      if (has(done, user)) none = false;
      else if (user != launch) last = false;
    }
    return {!none, last};
  }
  Effect effectOf(const Bits& done, uint32_t v) const {
    Effect e;
    const LaunchGraph::Launch& l = graph_.launches[v];
    for (uint32_t t : l.temps) {
      const Touch touch = touchOf(done, t, v);
      if (!touch.live) e.transient += graph_.temps[t].bytes;
      if (touch.last) e.net -= graph_.temps[t].bytes;
    }
    e.net += e.transient;
    int64_t saved = 0;
    for (const LaunchGraph::Reuse& r : l.reuse) {
      const Touch dying = touchOf(done, r.dying, v);
      if (dying.live && dying.last && !touchOf(done, r.born, v).live) saved = std::max(saved, graph_.temps[r.born].bytes);
    }
    e.transient -= saved;
    return e;
  }
  bool isReady(const Bits& done, uint32_t v) const {
    return !has(done, v) && std::ranges::all_of(graph_.launches[v].deps, [&](uint32_t d) { return has(done, d); });
  }

  std::vector<State> advance(const std::vector<State>& states) {
    std::vector<State> found;
    std::map<Bits, size_t> known;
    auto offer = [&](const State& from, uint32_t v, const Effect& e) {
      const int64_t peak = std::max(from.peak, from.live + e.transient);
      if (peak >= bound_) return;
      Bits done = from.done;
      done[v / 64] |= uint64_t{1} << (v % 64);
      auto [it, fresh] = known.try_emplace(done, found.size());
      if (fresh) found.push_back({std::move(done), from.live + e.net, INT64_MAX, 0});
      State& to = found[it->second];
      if (peak >= to.peak) return;
      to.peak = peak;
      to.step = steps_.size();
      steps_.push_back({from.step, v});
    };
    for (const State& from : states) expand(from, offer);
    std::ranges::stable_sort(found, {}, [](const State& s) { return std::pair(s.peak, s.live); });
    if (found.size() > width_) found.resize(width_);
    return found;
  }

  // A launch that frees what it allocates and raises no peak may always come first: whatever order is best stays as good
  // when it is moved to the front.
  template <class Offer>
  void expand(const State& from, Offer& offer) {
    std::vector<std::pair<uint32_t, Effect>> ready;
    for (uint32_t v = 0; v < graph_.launches.size(); ++v) {
      if (!isReady(from.done, v)) continue;
      ready.emplace_back(v, effectOf(from.done, v));
      const Effect& e = ready.back().second;
      if (e.net <= 0 && from.live + e.transient <= from.peak) return offer(from, v, e);
    }
    for (const auto& [v, e] : ready) offer(from, v, e);
  }

  std::vector<uint32_t> orderOf(const State& end) const {
    std::vector<uint32_t> order;
    for (size_t s = end.step; s != kStart; s = steps_[s].before) order.push_back(steps_[s].launch);
    std::ranges::reverse(order);
    return order;
  }

  const LaunchGraph& graph_;
  const int64_t bound_;
  const size_t width_;
  std::vector<std::vector<uint32_t>> users_;
  std::vector<Step> steps_;
};

}  // namespace

std::optional<std::vector<uint32_t>> beamSchedule(const LaunchGraph& graph, int64_t bound, size_t width) { return Beam(graph, bound, width).run(); }

}  // namespace uop
