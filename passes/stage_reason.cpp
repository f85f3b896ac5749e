#include "passes/stage_reason.h"

#include <map>

namespace uop {
namespace {

constexpr std::string_view kKey = "fuse.why=\"";

NodeId stageWith(Graph& g, NodeId value, std::span<const NodeId> ranges, const Attrs& attrs) {
  std::vector<NodeId> sources{value};
  sources.insert(sources.end(), ranges.begin(), ranges.end());
  return g.make(Op::Stage, sources, attrs);
}

}  // namespace

NodeId stageBecause(Graph& g, NodeId value, std::span<const NodeId> ranges, Space space, std::string_view reason) {
  Attrs attrs;
  attrs.set(AttrKey::SpaceKey, static_cast<int64_t>(space));
  attrs.dotted = fmt::format("{}{}\"", kKey, reason);
  return stageWith(g, value, ranges, attrs);
}

NodeId stageLike(Graph& g, NodeId like, NodeId value, std::span<const NodeId> ranges) {
  return stageWith(g, value, ranges, g.attrsOf(like));
}

std::string_view stageReason(const Graph& g, NodeId stage) {
  std::string_view text = g.dotted(stage);
  size_t at = text.find(kKey);
  if (at == std::string_view::npos) return "";
  text.remove_prefix(at + kKey.size());
  return text.substr(0, text.find('"'));
}

void remarkStages(const Program& p, std::string_view verb, PassContext& ctx) {
  std::map<std::string_view, size_t> counts;
  for (NodeId n : cone(p.graph, p.roots()))
    if (p.graph.op(n) == Op::Stage && !stageReason(p.graph, n).empty()) ++counts[stageReason(p.graph, n)];
  for (const auto& [reason, count] : counts) ctx.remarks.push_back(fmt::format("{} {}: {}", verb, count, reason));
}

}  // namespace uop
