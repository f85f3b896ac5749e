#include "cmd/check/shrink.h"

#include <algorithm>

namespace uop {
namespace {

constexpr NodeId kZero = kNoNode;  // stands for zeros of the same type

NodeId zerosLike(Graph& g, NodeId n) {
  NodeId zero = g.constant(g.dtype(n), zeroOf(g.dtype(n)));
  std::vector<Dim> ones(g.rank(n), 1);
  return g.rank(n) > 0 ? g.expand(g.reshape(zero, ones), g.shape(n)) : zero;
}

// The program with `from` replaced by `to`, an earlier node or kZero; nullopt where that breaks the format.
std::optional<Program> replaced(const Program& p, NodeId from, NodeId to) {
  Program q = compacted(p);  // has the ids of p, which is compacted
  Graph& g = q.graph;
  auto roots = q.roots();
  std::vector<NodeId> order = cone(g, roots, true), now(order.back() + 1, kNoNode), sources;
  for (NodeId n : order) {
    sources.clear();
    for (NodeId s : g.srcs(n)) sources.push_back(now[s]);
    if (n == from) {
      now[n] = to == kZero ? zerosLike(g, n) : now[to];
      continue;
    }
    auto made = g.tryMake(g.op(n), sources, g.attrsOf(n));
    if (!made) return std::nullopt;
    now[n] = *made;
  }
  for (ResultDef& r : q.results) r.node = now[r.node];
  q.lines.clear();
  return compacted(q);
}

bool valid(const Program& p) {
  Diagnostics diags;
  verifyProgram(p, diags);
  return diags.errorCount() == 0;
}

// What a node might be replaced by, the simplest first.
std::vector<NodeId> simpler(const Graph& g, NodeId n) {
  std::vector<NodeId> out;
  if (isValue(g.dtype(n)) && !g[n].place && g[n].srcCount > 0 && g.op(n) != Op::Range) out.push_back(kZero);
  // Whatever lies below and has the same type, nearest last.
  NodeId roots[] = {n};
  std::vector<NodeId> below;
  for (NodeId s : cone(g, roots))
    if (s != n && g.dtype(s) == g.dtype(n) && std::ranges::equal(g.shape(s), g.shape(n)) && g[s].place == g[n].place) below.push_back(s);
  if (below.size() > 4) below.erase(below.begin() + 2, below.end() - 2);
  out.insert(out.end(), below.begin(), below.end());
  return out;
}

class Shrinker {
 public:
  Shrinker(Program p, const std::function<bool(const Program&)>& fails, size_t attempts) : p_(compacted(p)), fails_(fails), left_(attempts) {}
  Program run() {
    while (left_ > 0 && (dropResult() || simplifyNode())) {
    }
    return std::move(p_);
  }

 private:
  bool accept(Program q) {
    if (left_ == 0 || q.results.empty() || !valid(q)) return false;
    --left_;
    if (!fails_(q)) return false;
    p_ = std::move(q);
    return true;
  }
  bool dropResult() {
    for (size_t i = 0; p_.results.size() > 1 && i < p_.results.size(); ++i) {
      Program q = compacted(p_);
      q.results.erase(q.results.begin() + static_cast<long>(i));
      if (accept(compacted(q))) return true;
    }
    return false;
  }
  // From the results down: what is replaced early takes most with it.
  bool simplifyNode() {
    auto roots = p_.roots();
    std::vector<NodeId> order = cone(p_.graph, roots, true);
    for (auto it = order.rbegin(); it != order.rend(); ++it)
      for (NodeId to : simpler(p_.graph, *it)) {
        size_t size = order.size();
        auto q = replaced(p_, *it, to);
        if (q && q->graph.size() < size && accept(std::move(*q))) return true;
        if (left_ == 0) return false;
      }
    return false;
  }

  Program p_;
  const std::function<bool(const Program&)>& fails_;
  size_t left_;
};

}  // namespace

Program shrink(Program p, const std::function<bool(const Program&)>& fails, size_t attempts) { return Shrinker(std::move(p), fails, attempts).run(); }

}  // namespace uop
