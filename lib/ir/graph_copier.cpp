#include "ir/graph_copier.h"

#include <algorithm>

namespace uop {

uint32_t& GraphCopier::slot(std::vector<uint32_t>& table, uint32_t at) {
  if (at >= table.size()) table.resize(at + 1, kUnknown);
  return table[at];
}

uint32_t GraphCopier::list(uint32_t old) {
  uint32_t& now = slot(lists_, old);
  return now != kUnknown ? now : now = to_.lists_.intern(from_.lists_[old]);
}

RangeSetId GraphCopier::rangeSet(RangeSetId old) {
  uint32_t& now = slot(rangeSets_, old);
  if (now != kUnknown) return now;
  std::vector<NodeId> ranges;
  for (NodeId r : from_.rangeSets_[old]) ranges.push_back(now_[r]);
  std::ranges::sort(ranges);
  return now = to_.rangeSets_.intern(ranges);
}

AttrId GraphCopier::attrs(NodeId old) {
  const AttrId id = from_.attrIdOf(old);
  if (id == 0) return 0;
  if (id >= attrs_.size()) attrs_.resize(id + 1);
  KnownAttrs& known = attrs_[id];
  if (known.now == kUnknown || known.op != from_.op(old)) known = {from_.op(old), to_.internAttrs(from_.op(old), to_.attrsFrom(from_, old))};
  return known.now;
}

NodeId GraphCopier::copy(NodeId old) {
  Node node = from_[old];
  sources_.clear();
  for (NodeId s : from_.srcs(old)) sources_.push_back(now_[s]);
  node.attr = attrs(old);
  node.shapeList = list(node.shapeList);
  node.base = node.base == kNoNode || node.base == old ? kNoNode : now_[node.base];
  // A RANGE adds itself.
  node.open = node.op == Op::Range ? to_[sources_[0]].open : rangeSet(node.open);
  const uint64_t hash = Graph::nodeHash(node.op, node.attr, sources_);
  return now_[old] = to_.add(node, sources_, hash);
}

}  // namespace uop
