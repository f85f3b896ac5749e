#include "cmd/common/signature.h"

#include <algorithm>

#include "ir/functions.h"

namespace uop {
namespace {

Shape shapeOf(const Graph& g, NodeId id) { return {g.shape(id).begin(), g.shape(id).end()}; }

std::optional<int64_t> bound(const Graph& g, NodeId id, AttrKey key) {
  return g.hasAttr(id, key) ? std::optional(g.attr(id, key)) : std::nullopt;
}

}  // namespace

Signature signatureOf(const Program& program) {
  const Graph& g = program.graph;
  Signature s;
  auto roots = program.roots();
  for (NodeId id : Functions(g).of(roots).params)
    s.arguments.push_back({bindingName(g, id), g.dtype(id), shapeOf(g, id), g.attr(id, AttrKey::Slot), bound(g, id, AttrKey::Min), bound(g, id, AttrKey::Max)});
  for (NodeId id : cone(g, roots, true))
    if (g.op(id) == Op::Buffer)
      s.buffers.push_back({bindingName(g, id), g.dtype(id), shapeOf(g, id), g.attr(id, AttrKey::Slot), g.attr(id, AttrKey::Const) != 0, 0});
  std::ranges::sort(s.arguments, {}, &ArgumentInfo::slot);
  std::ranges::sort(s.buffers, {}, &BufferInfo::slot);
  for (const ResultDef& r : program.results)
    if (isValue(g.dtype(r.node))) s.results.push_back({r.name, g.dtype(r.node), shapeOf(g, r.node), {}});
  return s;
}

int64_t longestReduction(const Program& program) {
  const Graph& g = program.graph;
  int64_t longest = longestReduce(program);
  auto roots = program.roots();
  for (NodeId id : cone(g, roots, true))
    if (g.op(id) == Op::Range && isSequential(g.kind(id))) longest = std::max(longest, g.constInt(g.src(id, 0)).value_or(1));
  return longest;
}

std::string typeText(DType dtype, std::span<const int64_t> shape) { return std::string(name(dtype)) + " " + shapeText(shape); }

}  // namespace uop
