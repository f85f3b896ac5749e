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
    return schedule::whyOverwritten(g_, tree_, read, *write_, 0).empty() && !after_[nest_.lift(read.node, both)];
  }
  bool possible() const { return possible_; }

 private:
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
        const bool old = std::ranges::all_of(read.reads, [](const Access& r) { return r.place.state == kNoNode; });
        if (!old) continue;
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

  // Each loop's counter is a digit of one index: so no element is met twice.
  bool writesEachOnce(const Access& write) const {
    if (write.place.state != kNoNode) return false;
    std::set<NodeId> loops = loopsAround(write.node);
    for (size_t axis = 0; axis < write.place.indices.size(); ++axis) {
      if (g_.shape(write.place.root)[axis] == 1) continue;
      Affine form = affineOf(g_, write.place.indices[axis]);
      std::vector<NodeId> digits = digitsOf(g_, form);
      if (digits.empty() && (!form.exact || !form.terms.empty())) return false;
      for (NodeId r : digits) loops.erase(r);
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
