#include "ir/program.h"

#include <algorithm>
#include <bit>
#include <utility>

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

// A word of 64 nodes at a time: a small body in a large graph costs little more than its own nodes.
std::vector<NodeId> cone(const Graph& g, std::span<const NodeId> roots, bool bodies) {
  if (roots.empty()) return {};
  NodeId top = *std::ranges::max_element(roots);
  std::vector<uint64_t> reached(top / 64 + 1);
  auto reach = [&](NodeId n) { reached[n / 64] |= uint64_t{1} << n % 64; };
  for (NodeId r : roots) reach(r);
  size_t count = 0;
  for (size_t word = reached.size(); word-- > 0;) {
    for (uint64_t left = reached[word]; left;) {
      unsigned bit = 63 - static_cast<unsigned>(std::countl_zero(left));
      auto n = static_cast<NodeId>(word * 64 + bit);
      auto srcs = g.srcs(n);
      for (size_t i = g.op(n) == Op::Call && !bodies ? 1 : 0; i < srcs.size(); ++i) reach(srcs[i]);
      ++count;
      left = reached[word] & ((uint64_t{1} << bit) - 1);
    }
  }
  std::vector<NodeId> out;
  out.reserve(count);
  for (size_t word = 0; word < reached.size(); ++word)
    for (uint64_t left = reached[word]; left; left &= left - 1) out.push_back(static_cast<NodeId>(word * 64 + static_cast<unsigned>(std::countr_zero(left))));
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
  std::vector<NodeId> now(p.graph.size(), kNoNode), sources;
  for (NodeId n : postOrder(p.graph, roots)) {
    sources.clear();
    for (NodeId s : p.graph.srcs(n)) sources.push_back(now[s]);
    now[n] = out.graph.remake(p.graph, n, sources);
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
