#include "passes/each_function.h"

#include <map>

#include "ir/rebuild.h"

namespace uop {
namespace {

// A body as a program of its own.
Program programOf(const Program& p, NodeId body) {
  Excerpt alone = excerpt(p.graph, body);
  Program out;
  out.graph = std::move(alone.graph);
  out.results.push_back({"", alone.root});
  for (NodeId n = 0; n < alone.from.size(); ++n)
    if (p.hasTag(alone.from[n])) out.setTag(n, p.tag(alone.from[n]));
  return out;
}

using Tags = std::vector<std::pair<NodeId, std::string>>;

// The one result of `function`, as nodes of g.
NodeId adopted(Graph& g, const Program& function, Tags& tags) {
  auto roots = function.roots();
  std::vector<NodeId> now(function.graph.size(), kNoNode), sources;
  for (NodeId n : postOrder(function.graph, roots)) {
    sources.clear();
    for (NodeId s : function.graph.srcs(n)) sources.push_back(now[s]);
    now[n] = g.remake(function.graph, n, sources);
    if (function.hasTag(n)) tags.emplace_back(now[n], function.tag(n));
  }
  return now[roots[0]];
}

Result<Program> runOnBodies(Program p, PassContext& ctx, PassFn pass) {
  Graph& g = p.graph;
  auto roots = p.roots();
  std::map<NodeId, NodeId> bodies;
  Tags tags;
  for (NodeId n : cone(g, roots))
    if (g.op(n) == Op::Call) bodies.emplace(g.src(n, 0), kNoNode);
  for (auto& [body, now] : bodies) {
    PassContext own{ctx.options, ctx.fp, ctx.stats, {}};
    auto done = pass(programOf(p, body), own);
    if (!done) return done;
    now = adopted(g, *done, tags);
    for (const std::string& remark : own.remarks) ctx.remarks.push_back("in a CALL's body: " + remark);
  }
  if (bodies.empty()) return p;
  retarget(p, rebuildNodes(g, roots, [&](NodeId old, std::span<const NodeId> sources, const auto&) {
    if (g.op(old) != Op::Call) return g.remake(g, old, sources);
    std::vector<NodeId> parts(sources.begin(), sources.end());
    parts[0] = bodies.at(parts[0]);
    return g.remake(g, old, parts);
  }));
  for (const auto& [node, text] : tags) p.setTag(node, text);
  return p;
}

}  // namespace

Result<Program> runOnFunctions(Program p, PassContext& ctx, PassFn pass) {
  auto done = runOnBodies(std::move(p), ctx, pass);
  if (!done) return done;
  return pass(std::move(*done), ctx);
}

}  // namespace uop
