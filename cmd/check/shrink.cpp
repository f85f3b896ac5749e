#include "cmd/check/shrink.h"

#include <algorithm>
#include <set>

#include "cmd/check/rebuild.h"

namespace uop {
namespace {

bool valid(const Program& p) {
  Diagnostics diags;
  verifyProgram(p, diags);
  if (diags.errorCount()) return false;
  SourceBuffer text("shrunk", printProgram(p));
  Diagnostics reading(&text);
  return readProgram(text, reading).has_value();
}

int64_t weight(const Program& p) {
  int64_t sum = 500 * static_cast<int64_t>(p.results.size());
  for (NodeId n : cone(p.graph, p.roots(), true)) {
    sum += 1000;
    for (Dim d : p.graph.shape(n)) sum += d;
    if (p.graph.op(n) == Op::Const && p.graph.dtype(n) == DType::Index) sum += std::clamp<int64_t>(*p.graph.constInt(n), 0, 99);
  }
  return sum;
}

// What a node might be replaced by, the simplest first.
std::vector<NodeId> simpler(const Graph& g, NodeId n) {
  std::vector<NodeId> out;
  if (g.op(n) == Op::Range) return {Edit::kZero};
  if (g[n].srcCount == 0) return out;
  bool value = isValue(g.dtype(n)) && !g[n].place;
  if (value) out.push_back(Edit::kZero);
  if (value || (isValue(g.dtype(n)) && g.rank(n) > 0))
    for (NodeId k = 0; k < Edit::kLeaves; ++k) out.push_back(Edit::kLeaf + k);
  // Whatever lies below and has the same type; at last its own sources, if their shapes will do.
  NodeId roots[] = {n};
  std::vector<NodeId> below;
  for (NodeId s : cone(g, roots))
    if (s != n && g.dtype(s) == g.dtype(n) && std::ranges::equal(g.shape(s), g.shape(n)) && g[s].place == g[n].place) below.push_back(s);
  if (below.size() > 4) below.erase(below.begin() + 2, below.end() - 2);
  for (NodeId s : g.srcs(n))
    if (g.dtype(s) == g.dtype(n) && std::ranges::find(below, s) == below.end()) below.push_back(s);
  out.insert(out.end(), below.begin(), below.end());
  return out;
}

class Shrinker {
 public:
  Shrinker(Program p, const std::function<bool(const Program&)>& fails, size_t attempts) : p_(compacted(p)), fails_(fails), left_(attempts) {}
  Program run() {
    while (left_ > 0 && (dropResult() || lowerResult() || simplifyNodes() || dropSources() || shrinkAxes())) {
    }
    return std::move(p_);
  }

 private:
  bool accept(std::optional<Program> q) {
    if (!q || left_ == 0 || q->results.empty() || weight(*q) >= weight(p_) || !valid(*q)) return false;
    --left_;
    if (!fails_(*q)) return false;
    p_ = std::move(*q);
    return true;
  }
  std::vector<NodeId> nodes() const { return cone(p_.graph, p_.roots(), true); }

  bool dropResult() {
    for (size_t i = 0; p_.results.size() > 1 && i < p_.results.size(); ++i) {
      Program q = compacted(p_);
      q.results.erase(q.results.begin() + static_cast<long>(i));
      if (accept(compacted(q))) return true;
    }
    return false;
  }
  // A value on the way to a result in its place, the first on that way first.
  bool lowerResult() {
    for (size_t i = 0; i < p_.results.size(); ++i) {
      NodeId root[] = {p_.results[i].node};
      std::vector<NodeId> below = cone(p_.graph, root);
      for (NodeId n : below) {
        if (n == root[0] || !isValue(p_.graph.dtype(n)) || !p_.graph.open(n).empty() || p_.graph.op(n) == Op::Alloc) continue;
        Program q = compacted(p_);
        q.results[i].node = n;
        if (accept(compacted(q))) return true;
      }
    }
    return false;
  }
  // From the results down: what is replaced early takes most with it.
  bool simplifyNodes() {
    std::vector<NodeId> order = nodes();
    for (auto it = order.rbegin(); it != order.rend() && left_ > 0; ++it) {
      for (NodeId to : simpler(p_.graph, *it))
        if (accept(rebuilt(p_, {.from = *it, .to = to}))) return true;
      if (p_.graph.op(*it) == Op::Pad && accept(rebuilt(p_, {.unpadded = *it}))) return true;
    }
    return false;
  }
  // Gates, and what AFTER and SINK wait for.
  bool dropSources() {
    for (NodeId n : nodes()) {
      Op op = p_.graph.op(n);
      size_t count = p_.graph[n].srcCount, first = op == Op::Sink ? 0 : op == Op::Store ? 2 : 1, each = op == Op::Load ? 2 : 1;
      bool may = op == Op::Sink || op == Op::After || op == Op::Store || op == Op::Load || op == Op::End || op == Op::Reduce || op == Op::Stage;
      for (size_t i = first; may && i + each <= count; ++i)
        if (accept(rebuilt(p_, {.less = n, .first = i, .count = each}))) return true;
    }
    return false;
  }
  bool shrinkAxes() {
    std::set<Dim, std::greater<>> sizes;
    for (NodeId n : nodes()) {
      sizes.insert(p_.graph.shape(n).begin(), p_.graph.shape(n).end());
      if (p_.graph.op(n) == Op::Range) sizes.insert(p_.graph.constInt(p_.graph.src(n, 0)).value_or(1));
    }
    for (Dim d : sizes)
      for (Dim smaller : std::set<Dim>{1, 2, d / 2, d - 1})
        if (smaller > 0 && smaller < d && accept(rebuilt(p_, {.size = d, .smaller = smaller}))) return true;
    return false;
  }

  Program p_;
  const std::function<bool(const Program&)>& fails_;
  size_t left_;
};

}  // namespace

Program shrink(Program p, const std::function<bool(const Program&)>& fails, size_t attempts) { return Shrinker(std::move(p), fails, attempts).run(); }

}  // namespace uop
