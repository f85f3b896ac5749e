#include "passes/inline_calls.h"

#include <set>

namespace uop {

NodeId asValue(Graph& g, NodeId n) { return g[n].place && isValue(g.dtype(n)) ? g.load(n) : n; }

NodeId Inliner::remakeValue(NodeId old, std::span<const NodeId> sources) {
  if (g_.op(old) != Op::After || g_[old].place) return g_.remake(g_, old, sources);
  std::vector<NodeId> srcs(sources.begin(), sources.end());
  srcs[0] = asValue(g_, srcs[0]);
  return g_.remake(g_, old, srcs);
}

NodeId Inliner::remake(NodeId old, std::span<const NodeId> sources) {
  if (g_.op(old) != Op::Get) return remakeValue(old, sources);
  NodeId tuple = sources[0];
  std::vector<NodeId> deps;  // its items are ordered as the tuple is
  for (; g_.op(tuple) == Op::After; tuple = g_.src(tuple, 0)) deps.insert(deps.end(), g_.srcs(tuple).begin() + 1, g_.srcs(tuple).end());
  if (g_.op(tuple) != Op::Tuple) return remakeValue(old, sources);
  NodeId item = g_.src(tuple, static_cast<size_t>(g_.attr(old, AttrKey::IndexKey)));
  return deps.empty() || g_.dtype(item) == DType::Void ? item : g_.after(asValue(g_, item), deps);
}

NodeId Inliner::instantiate(NodeId body, std::span<const NodeId> args) {
  std::vector<NodeId> roots{body};
  std::vector<NodeId> order = cone(g_, roots);
  std::unordered_map<NodeId, NodeId> now;
  std::vector<NodeId> sources;
  if (overLimit()) return body;
  made_ += static_cast<int64_t>(order.size());
  for (NodeId id : order) {
    sources.clear();
    if (g_.op(id) == Op::Call) sources.push_back(g_.src(id, 0));
    for (NodeId s : ownSources(g_, id)) sources.push_back(now.at(s));
    now[id] = copy(id, sources, args);
  }
  return now.at(body);
}

NodeId Inliner::copy(NodeId id, std::span<const NodeId> sources, std::span<const NodeId> args) {
  Attrs attrs = g_.attrsOf(id);
  switch (g_.op(id)) {
    case Op::Param: return args[static_cast<size_t>(g_.attr(id, AttrKey::Slot))];
    case Op::Alloc: return g_.make(Op::Alloc, sources, attrs.set(AttrKey::Slot, fresh_.slot++));
    case Op::Range: return g_.make(Op::Range, sources, attrs.set(AttrKey::Id, fresh_.range++));
    case Op::Index:
    case Op::Load: {
      // A value argument that the body indexes needs a place.
      std::vector<NodeId> srcs(sources.begin(), sources.end());
      if (!g_[srcs[0]].place) {
        if (g_.op(id) == Op::Load && srcs.size() == 1) return srcs[0];
        srcs[0] = g_.stage(srcs[0], {}, g_.open(srcs[0]).empty() ? Space::Global : Space::Local);
      }
      return g_.remake(g_, id, srcs);
    }
    default: return remake(id, sources);
  }
}

namespace {

void inlineOthers(Program& p, Inliner& inliner, const std::unordered_set<NodeId>& kept) {
  Graph& g = p.graph;
  retarget(p, rebuildNodes(g, p.roots(), [&](NodeId old, std::span<const NodeId> sources, const auto&) {
    if (inliner.overLimit()) return old;
    if (g.op(old) != Op::Call) return inliner.remake(old, sources);
    return kept.contains(g.src(old, 0)) ? g.remake(g, old, sources) : inliner.instantiate(sources[0], sources.subspan(1));
  }, Bodies::Rebuilt));
}

// Each body that a CALL is left of, with what it calls inlined.
std::unordered_map<NodeId, NodeId> leavesOf(Program& p, Inliner& inliner) {
  Graph& g = p.graph;
  std::set<NodeId> bodies;  // a body is smaller than its callers
  for (NodeId n : cone(g, p.roots(), true))
    if (g.op(n) == Op::Call) bodies.insert(g.src(n, 0));
  std::unordered_map<NodeId, NodeId> out;
  for (NodeId body : bodies) {
    out[body] = body;
    if (std::ranges::none_of(cone(g, std::span(&body, 1)), [&](NodeId n) { return g.op(n) == Op::Call; })) continue;
    auto now = rebuildNodes(g, std::span(&body, 1), [&](NodeId old, std::span<const NodeId> sources, const auto&) {
      if (inliner.overLimit()) return old;
      return g.op(old) == Op::Call ? inliner.instantiate(out.at(sources[0]), sources.subspan(1)) : inliner.remake(old, sources);
    });
    out[body] = now[body];
  }
  return out;
}

}  // namespace

Result<Program> runInlineCalls(Program p, PassContext& ctx) {
  Graph& g = p.graph;
  auto kept = keptBodies(g, p.roots(), ctx.options.integer("keep"));
  Inliner inliner(g, freshIds(g, p.roots()), ctx.options.integer("limit"));
  inlineOthers(p, inliner, kept);
  if (!kept.empty() && !inliner.overLimit()) placeCalls(p, inliner, leavesOf(p, inliner));
  if (inliner.overLimit())
    return fail(Diag::PassError, fmt::format("inline-calls: the program grows beyond {} nodes; raise it with --set inline-calls.limit=N", ctx.options.integer("limit")));
  return p;
}

}  // namespace uop
