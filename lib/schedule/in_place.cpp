#include "schedule/in_place.h"

#include <algorithm>
#include <map>
#include <set>

#include "schedule/loop_tree.h"

namespace uop {
namespace {

struct Use {
  std::vector<PlaceRef> reads, writes;
  std::vector<NodeId> stores;
};

class Finder {
 public:
  Finder(const Graph& g, NodeId body) : g_(g), body_(body), nodes_(cone(g, {&body, 1})) { gather(); }

  std::vector<InPlace> run() {
    std::vector<InPlace> pairs;
    for (const auto& [out, written] : uses_) {
      if (written.stores.size() != 1 || !written.reads.empty() || !writesEachOnce(written)) continue;
      for (const auto& [in, read] : uses_) {
        if (!read.writes.empty() || read.reads.empty() || !alike(in, out)) continue;
        const bool same = std::ranges::all_of(read.reads, [&](const PlaceRef& r) { return r.state == kNoNode && sameElement(out, r, written.writes[0]); });
        if (same) accept(pairs, {g_.attr(in, AttrKey::Slot), g_.attr(out, AttrKey::Slot)});
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
      if (store) use.stores.push_back(n);
      (store ? use.writes : use.reads).push_back(std::move(ref));
    }
  }

  bool alike(NodeId a, NodeId b) const { return g_.dtype(a) == g_.dtype(b) && std::ranges::equal(g_.shape(a), g_.shape(b)); }

  bool sameElement(NodeId root, const PlaceRef& a, const PlaceRef& b) const {
    for (size_t axis = 0; axis < a.indices.size(); ++axis)
      if (g_.shape(root)[axis] != 1 && a.indices[axis] != b.indices[axis]) return false;
    return true;
  }

  // Ranges of every loop around the STORE, whether or not it depends on them.
  std::set<NodeId> loopsAround(NodeId store) const {
    std::set<NodeId> loops, around = {store};
    for (NodeId n : nodes_) {
      const bool wraps = (g_.op(n) == Op::End && around.contains(g_.src(n, 0))) || (g_.op(n) == Op::Sink && std::ranges::any_of(g_.srcs(n), [&](NodeId s) { return around.contains(s); }));
      if (!wraps) continue;
      around.insert(n);
      if (g_.op(n) != Op::End) continue;
      for (NodeId r : g_.srcs(n).subspan(1))
        if (g_.constInt(g_.src(r, 0)) != 1) loops.insert(r);
    }
    return loops;
  }

  // Each loop's counter is a digit of one index, in a number system without carries: so no element is met twice.
  bool writesEachOnce(const Use& use) const {
    if (use.writes[0].state != kNoNode) return false;
    std::set<NodeId> loops = loopsAround(use.stores[0]);
    const NodeId root = use.writes[0].root;
    for (size_t axis = 0; axis < use.writes[0].indices.size(); ++axis) {
      if (g_.shape(root)[axis] == 1) continue;
      Affine form = affineOf(g_, use.writes[0].indices[axis]);
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

  // The loop tree has the last word on whether reads can come first.
  void accept(std::vector<InPlace>& pairs, InPlace pair) const {
    Excerpt merged = mergeArguments(g_, body_, pair);
    if (buildLoopTree(merged.graph, merged.root)) pairs.push_back(pair);
  }

  const Graph& g_;
  const NodeId body_;
  const std::vector<NodeId> nodes_;
  std::map<NodeId, Use> uses_;  // by PARAM
};

}  // namespace

std::vector<InPlace> inPlacePairs(const Graph& g, NodeId body) { return Finder(g, body).run(); }

Excerpt mergeArguments(const Graph& g, NodeId body, InPlace pair) {
  const std::vector<NodeId> nodes = cone(g, {&body, 1}, true);
  auto paramOf = [&](int64_t slot) { return *std::ranges::find_if(nodes, [&](NodeId n) { return g.op(n) == Op::Param && g.attr(n, AttrKey::Slot) == slot; }); };
  const NodeId read = paramOf(pair.read), written = paramOf(pair.written);
  Excerpt out;
  std::map<NodeId, NodeId> now;
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
