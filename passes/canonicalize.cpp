// canonicalize: what the text leaves implicit becomes explicit. Broadcasts become EXPANDs, gates and alternatives get
// the shape of their place, `index` arithmetic has `index` constants, a GET of a TUPLE is its item.
#include "ir/rebuild.h"
#include "passes/passes.h"

namespace uop {
namespace {

NodeId asIndex(Graph& g, NodeId x) {
  auto v = g.constInt(x);
  return v && g.dtype(x) != DType::Index ? g.index(*v) : x;
}

NodeId elementwise(Graph& g, NodeId old, std::span<const NodeId> sources) {
  std::vector<NodeId> srcs(sources.begin(), sources.end());
  size_t first = g.op(old) == Op::Where ? 1 : 0;
  bool anyIndex = std::any_of(srcs.begin() + static_cast<long>(first), srcs.end(), [&](NodeId s) { return g.dtype(s) == DType::Index; });
  for (NodeId& s : srcs) {
    if (anyIndex && &s >= &srcs[first]) s = asIndex(g, s);
    s = g.expand(s, g.shape(old));
  }
  return g.remake(g, old, srcs);
}

NodeId visit(Graph& g, NodeId old, std::span<const NodeId> sources) {
  Op op = g.op(old);
  if (hasTrait(op, trait::Elementwise) && sources.size() > 1) return elementwise(g, old, sources);
  if (op == Op::Get && g.op(sources[0]) == Op::Tuple) return g.src(sources[0], static_cast<size_t>(g.attr(old, AttrKey::IndexKey)));
  if ((op == Op::Load || op == Op::Store) && sources.size() == 3) {
    std::vector<NodeId> srcs(sources.begin(), sources.end());
    for (size_t i = op == Op::Load ? 1 : 2; i < 3; ++i) srcs[i] = g.expand(srcs[i], g.shape(srcs[0]));
    return g.remake(g, old, srcs);
  }
  return g.remake(g, old, sources);
}

}  // namespace

Result<Program> runCanonicalize(Program p, PassContext&) {
  Graph& g = p.graph;
  auto now = rebuildNodes(g, p.roots(), [&](NodeId old, std::span<const NodeId> sources, const auto&) { return visit(g, old, sources); }, Bodies::Rebuilt);
  retarget(p, now);
  pinEffects(p);
  return p;
}

}  // namespace uop
