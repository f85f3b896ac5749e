#include "passes/substitute.h"

#include <algorithm>

#include "ir/eval.h"

namespace uop {
namespace {

// kNoNode for an element that is not there: a gate keeps it from being read.
NodeId indexOrNever(Graph& g, NodeId old, std::span<const NodeId> sources) {
  auto made = g.tryMake(Op::Index, sources, g.attrsOf(old));
  return made ? *made : kNoNode;
}

NodeId gatedLoad(Graph& g, NodeId old, std::span<const NodeId> sources, NodeId gate) {
  NodeId alt = sources.size() == 3 ? sources[1] : g.constant(g.dtype(old), zeroOf(g.dtype(old)));
  if (sources[0] == kNoNode) return alt;
  if (gate == kNoNode) return g.remake(g, old, sources);
  return g.make(Op::Load, {sources[0], alt, sources.size() == 3 ? g.binary(Op::And, sources[2], gate) : gate});
}

// Of constants, a constant; a selection that is decided, what it selects. kNoNode: neither.
NodeId folded(Graph& g, NodeId old, std::span<const NodeId> sources) {
  if (!hasTrait(g.op(old), trait::Elementwise) || g.rank(old) > 0 || g.op(old) == Op::Bitcast) return kNoNode;
  if (g.op(old) == Op::Where && g.isConst(sources[0])) return sources[g.constInt(sources[0]) == 1 ? 1 : 2];
  if (!std::ranges::all_of(sources, [&](NodeId s) { return g.isConst(s); })) return kNoNode;
  std::vector<Scalar> values;
  for (NodeId s : sources) values.push_back(g.constValue(s));
  return g.constant(g.dtype(old), evalOp(g.op(old), g.dtype(sources.back()), g.dtype(old), values));
}

NodeId remade(Graph& g, NodeId old, std::span<const NodeId> sources, NodeId gate) {
  if (g.op(old) == Op::Load) return gatedLoad(g, old, sources, gate);
  if (g.op(old) == Op::Index) return indexOrNever(g, old, sources);
  NodeId constant = folded(g, old, sources);
  return constant == kNoNode ? g.remake(g, old, sources) : constant;
}

}  // namespace

NodeId substituted(Graph& g, NodeId root, std::span<const NodeId> keys, Substitution& to, NodeId gate) {
  std::vector<NodeId> todo{root}, sources;
  while (!todo.empty()) {
    NodeId n = todo.back();
    bool stays = std::ranges::none_of(keys, [&](NodeId r) { return g.isOpen(n, r); });
    if (to.contains(n) || stays) {
      to.try_emplace(n, n);
      todo.pop_back();
      continue;
    }
    size_t before = todo.size();
    for (NodeId s : g.srcs(n))
      if (!to.contains(s)) todo.push_back(s);
    if (todo.size() != before) continue;
    todo.pop_back();
    sources.clear();
    for (NodeId s : g.srcs(n)) sources.push_back(to.at(s));
    to[n] = remade(g, n, sources, gate);
  }
  return to.at(root);
}

}  // namespace uop
