#include "ir/program.h"

#include <algorithm>
#include <utility>

#include "ir/functions.h"
#include "ir/graph_copier.h"

namespace uop {

std::vector<NodeId> Program::roots() const {
  std::vector<NodeId> out;
  for (const ResultDef& r : results) out.push_back(r.node);
  return out;
}

void Program::setTag(NodeId n, std::string_view text) {
  if (hasTag(n)) return;
  if (n >= tags_.size()) tags_.resize(n + 1);
  tags_[n] = static_cast<uint32_t>(graph.string(text)) + 1;
}

void Program::moveTags(std::span<const NodeId> now) {
  std::vector<uint32_t> old = std::exchange(tags_, {});
  for (NodeId n = 0; n < std::min(old.size(), now.size()); ++n) {
    if (old[n] == 0 || now[n] == kNoNode || hasTag(now[n])) continue;
    if (now[n] >= tags_.size()) tags_.resize(now[n] + 1);
    tags_[now[n]] = old[n];
  }
}

void retarget(Program& p, std::span<const NodeId> now) {
  for (ResultDef& r : p.results) r.node = now[r.node];
  p.moveTags(now);
  p.lines.clear();
}

std::string bindingName(const Graph& g, NodeId n) {
  if (g.hasAttr(n, AttrKey::Name)) return std::string(g.stringAttr(n, AttrKey::Name));
  return fmt::format("{}{}", g.op(n) == Op::Buffer ? "buf" : "arg", g.attr(n, AttrKey::Slot));
}

namespace {

std::span<const NodeId> reachedFrom(const Graph& g, NodeId n, bool bodies) { return bodies ? g.srcs(n) : ownSources(g, n); }

// Without a table as long as the graph: there may be tens of thousands of small functions in a large graph.
std::optional<std::vector<NodeId>> smallCone(const Graph& g, std::span<const NodeId> roots, bool bodies, size_t most) {
  std::vector<NodeId> found;
  IdTable seen;
  auto reach = [&](NodeId n) {
    auto fresh = static_cast<uint32_t>(found.size());
    if (seen.findOrInsert(hashMix(n, 0), fresh, [&](uint32_t i) { return found[i] == n; }) == fresh) found.push_back(n);
  };
  for (NodeId r : roots) reach(r);
  for (size_t i = 0; i < found.size(); ++i) {
    if (found.size() > most) return std::nullopt;
    for (NodeId s : reachedFrom(g, found[i], bodies)) reach(s);
  }
  std::ranges::sort(found);
  return found;
}

}  // namespace

std::vector<NodeId> cone(const Graph& g, std::span<const NodeId> roots, bool bodies) {
  if (roots.empty()) return {};
  NodeId top = *std::ranges::max_element(roots);
  if (auto small = smallCone(g, roots, bodies, top / 256)) return std::move(*small);
  std::vector<bool> reached(top + 1);
  for (NodeId r : roots) reached[r] = true;
  size_t count = 0;
  for (NodeId n = top + 1; n-- > 0;) {
    if (!reached[n]) continue;
    ++count;
    for (NodeId s : reachedFrom(g, n, bodies)) reached[s] = true;
  }
  std::vector<NodeId> out;
  out.reserve(count);
  for (NodeId n = 0; n <= top; ++n)
    if (reached[n]) out.push_back(n);
  return out;
}

std::vector<NodeId> postOrder(const Graph& g, std::span<const NodeId> roots) {
  std::vector<NodeId> out;
  std::vector<bool> seen(g.size());
  struct Frame {
    NodeId node;
    uint32_t next;
  };
  std::vector<Frame> stack;
  for (NodeId root : roots) {
    if (seen[root]) continue;
    seen[root] = true;
    stack.push_back({root, 0});
    while (!stack.empty()) {
      Frame& f = stack.back();
      if (f.next == g[f.node].srcCount) {
        out.push_back(f.node);
        stack.pop_back();
        continue;
      }
      NodeId s = g.src(f.node, f.next++);
      if (!seen[s]) seen[s] = true, stack.push_back({s, 0});
    }
  }
  return out;
}

Excerpt excerpt(const Graph& g, NodeId root) {
  Excerpt out;
  out.from = cone(g, std::span(&root, 1), true);
  auto now = [&](NodeId old) { return static_cast<NodeId>(std::ranges::lower_bound(out.from, old) - out.from.begin()); };
  std::vector<NodeId> sources;
  for (NodeId n : out.from) {
    sources.clear();
    for (NodeId s : g.srcs(n)) sources.push_back(now(s));
    out.root = out.graph.remake(g, n, sources);
  }
  return out;
}

int64_t longestReduce(const Program& p) {
  const Graph& g = p.graph;
  double longest = 1;
  auto roots = p.roots();
  for (NodeId n : cone(g, roots, true)) {
    if (g.op(n) != Op::Reduce) continue;
    double terms = 1;
    for (Dim d : g.shape(g.src(n, 0)).first(static_cast<size_t>(g.attr(n, AttrKey::N)))) terms *= static_cast<double>(d);
    for (NodeId r : g.srcs(n).subspan(1)) terms *= static_cast<double>(g.constInt(g.src(r, 0)).value_or(1));
    longest = std::max(longest, terms);
  }
  return static_cast<int64_t>(std::min(longest, 1e15));
}

Program compacted(const Program& p) {
  Program out;
  auto roots = p.roots();
  const std::vector<NodeId> order = postOrder(p.graph, roots);
  out.graph.reserve(order.size());
  GraphCopier now(p.graph, out.graph);
  for (NodeId n : order) {
    now.copy(n);
    if (p.lines.size() > n) {
      out.lines.resize(out.graph.size());
      out.lines[now[n]] = p.lines[n];
    }
    if (p.hasTag(n)) out.setTag(now[n], p.tag(n));
  }
  for (const ResultDef& r : p.results) out.results.push_back({r.name, now[r.node]});
  return out;
}

}  // namespace uop
