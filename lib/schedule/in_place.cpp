#include "schedule/in_place.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "schedule/tree_builder.h"

namespace uop {
namespace {

using schedule::Edge;
using schedule::ItemId;

struct Use {
  std::vector<Access> reads, writes;
};

// Whether all reads of one argument can come before the one STORE to another, both being the same memory: what the loop tree
// of the body with both as one would say (memory_order.cpp), without building it for each pair.
class ReadsFirst {
 public:
  ReadsFirst(const Graph& g, NodeId body) : g_(g), nest_(g, body, tree_) {
    possible_ = nest_.build() && schedule::addDependences(nest_, edges_) && schedule::addAntiDependences(nest_, edges_);
    std::ranges::sort(edges_, {}, &Edge::before);
  }

  // The STORE that is asked about from now on.
  void setStore(const Access& write) {
    write_ = &write;
    after_.assign(nest_.itemCount(), false);
    std::vector<ItemId> todo;
    auto reach = [&](ItemId item) {
      if (!after_[item]) after_[item] = true, todo.push_back(item);
    };
    for (uint32_t level = tree_.levels[write.node];; level = tree_.loops[level].parent) {
      reach(nest_.lift(write.node, level));
      if (level == 0) break;
    }
    while (!todo.empty()) {
      const ItemId item = todo.back();
      todo.pop_back();
      for (const Edge& e : std::ranges::equal_range(edges_, item, {}, &Edge::before)) reach(e.after);
    }
  }

  bool allowed(const Access& read) const {
    const uint32_t both = tree_.common(tree_.levels[read.node], tree_.levels[write_->node]);
    return (both == 0 || (sameIndices(read) && inEachLoop(read, both))) && !after_[nest_.lift(read.node, both)];
  }
  bool possible() const { return possible_; }

 private:
  bool sameIndices(const Access& read) const {
    return std::ranges::equal(read.place.indices, write_->place.indices, [&](NodeId a, NodeId b) { return a == b || (g_.constInt(a) && g_.constInt(a) == g_.constInt(b)); });
  }
  bool inEachLoop(const Access& read, uint32_t loop) const {
    for (; loop != 0; loop = tree_.loops[loop].parent) {
      const NodeId range = tree_.loops[loop].range;
      const auto bound = g_.constInt(g_.src(range, 0));
      if (!(bound && *bound <= 1) && std::ranges::none_of(read.place.indices, [&](NodeId i) { return g_.isOpen(i, range); })) return false;
    }
    return true;
  }

  const Graph& g_;
  LoopTree tree_;
  schedule::Nest nest_;
  std::vector<Edge> edges_;  // ascending `before`
  bool possible_ = false;
  const Access* write_ = nullptr;
  std::vector<bool> after_;  // items that come after the STORE, its own included
};

class Finder {
 public:
  Finder(const Graph& g, NodeId body) : g_(g), body_(body), nodes_(cone(g, {&body, 1})) { gather(); }

  std::vector<InPlace> run() {
    std::vector<InPlace> pairs;
    for (const auto& [out, written] : uses_) {
      if (written.writes.size() != 1 || !written.reads.empty() || !writesEachOnce(written.writes[0])) continue;
      const Access& write = written.writes[0];
      bool asked = false;
      for (const auto& [in, read] : uses_) {
        if (!read.writes.empty() || read.reads.empty() || !alike(in, out)) continue;
        const bool same = std::ranges::all_of(read.reads, [&](const Access& r) { return r.place.state == kNoNode && sameElement(out, r.place, write.place); });
        if (!same) continue;
        if (!readsFirst_) readsFirst_.emplace(g_, body_);
        if (!readsFirst_->possible()) return {};
        if (!std::exchange(asked, true)) readsFirst_->setStore(write);
        if (std::ranges::all_of(read.reads, [&](const Access& r) { return readsFirst_->allowed(r); })) pairs.push_back({g_.attr(in, AttrKey::Slot), g_.attr(out, AttrKey::Slot)});
      }
    }
    return pairs;
  }

 private:
  void gather() {
    const auto below = belowAfters(g_, nodes_);
    const auto implicit = implicitReads(g_, nodes_);
    for (NodeId n : nodes_) {
      const bool store = g_.op(n) == Op::Store;
      if (!store && g_.op(n) != Op::Load && !implicit[n]) continue;
      PlaceRef ref = resolvePlace(g_, implicit[n] ? n : g_.src(n, 0), below);
      if (g_.op(ref.root) != Op::Param) continue;
      Use& use = uses_[ref.root];
      (store ? use.writes : use.reads).push_back({n, store, std::move(ref)});
    }
    for (NodeId n : nodes_)
      if (g_.op(n) == Op::End) runs_[g_.src(n, 0)].push_back(n);
      else if (g_.op(n) == Op::Sink)
        for (NodeId s : g_.srcs(n)) runs_[s].push_back(n);
  }

  bool alike(NodeId a, NodeId b) const { return g_.dtype(a) == g_.dtype(b) && std::ranges::equal(g_.shape(a), g_.shape(b)); }

  bool sameElement(NodeId root, const PlaceRef& a, const PlaceRef& b) const {
    for (size_t axis = 0; axis < a.indices.size(); ++axis)
      if (g_.shape(root)[axis] != 1 && a.indices[axis] != b.indices[axis]) return false;
    return true;
  }

  // Ranges of every loop around the STORE, whether or not it depends on them.
  std::set<NodeId> loopsAround(NodeId store) const {
    std::set<NodeId> loops;
    std::vector<NodeId> around = {store};
    for (size_t i = 0; i < around.size(); ++i) {
      if (g_.op(around[i]) == Op::End)
        for (NodeId r : g_.srcs(around[i]).subspan(1))
          if (g_.constInt(g_.src(r, 0)) != 1) loops.insert(r);
      if (auto it = runs_.find(around[i]); it != runs_.end()) around.insert(around.end(), it->second.begin(), it->second.end());
    }
    return loops;
  }

  // Each loop's counter is a digit of one index, in a number system without carries: so no element is met twice.
  bool writesEachOnce(const Access& write) const {
    if (write.place.state != kNoNode) return false;
    std::set<NodeId> loops = loopsAround(write.node);
    for (size_t axis = 0; axis < write.place.indices.size(); ++axis) {
      if (g_.shape(write.place.root)[axis] == 1) continue;
      Affine form = affineOf(g_, write.place.indices[axis]);
      if (!form.exact) return false;
      std::ranges::sort(form.terms, {}, [](const auto& term) { return std::abs(term.second); });
      __int128 reach = 0;  // of the digits so far
      for (size_t i = 0; i < form.terms.size(); ++i) {
        auto [atom, coefficient] = form.terms[i];
        const int64_t weight = std::abs(coefficient);
        if (g_.op(atom) != Op::Range || weight <= reach) return false;
        if (auto bound = g_.constInt(g_.src(atom, 0))) reach += static_cast<__int128>(weight) * std::max<int64_t>(0, *bound - 1);
        else if (i + 1 < form.terms.size()) return false;
        loops.erase(atom);
      }
    }
    return loops.empty();
  }

  const Graph& g_;
  const NodeId body_;
  const std::vector<NodeId> nodes_;
  std::map<NodeId, Use> uses_;  // by PARAM
  std::unordered_map<NodeId, std::vector<NodeId>> runs_;  // ENDs and SINKs, by the effect that they run
  std::optional<ReadsFirst> readsFirst_;
};

}  // namespace

std::vector<InPlace> inPlacePairs(const Graph& g, NodeId body) { return Finder(g, body).run(); }

Excerpt mergeArguments(const Graph& g, NodeId body, InPlace pair) {
  const std::vector<NodeId> nodes = cone(g, {&body, 1}, true);
  auto paramOf = [&](int64_t slot) { return *std::ranges::find_if(nodes, [&](NodeId n) { return g.op(n) == Op::Param && g.attr(n, AttrKey::Slot) == slot; }); };
  const NodeId read = paramOf(pair.read), written = paramOf(pair.written);
  Excerpt out;
  std::unordered_map<NodeId, NodeId> now;
  now[read] = now[written] = out.graph.remake(g, read, {});
  out.from.push_back(read);
  std::vector<NodeId> sources;
  for (NodeId n : nodes) {
    if (now.contains(n)) continue;
    sources.clear();
    for (NodeId s : g.srcs(n)) sources.push_back(now.at(s));
    now[n] = out.graph.remake(g, n, sources);
    out.from.resize(std::max<size_t>(out.from.size(), now[n] + 1), n);
  }
  out.root = now.at(body);
  return out;
}

}  // namespace uop
