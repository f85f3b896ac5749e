#include "ir/graph.h"

#include "ir/program.h"

#include <algorithm>
#include <bit>

namespace uop {
namespace {

uint64_t nodeHash(Op op, AttrId attr, std::span<const NodeId> sources) { return hashSpan(sources, (uint64_t{attr} << 8) | static_cast<uint64_t>(op)); }

}  // namespace

Graph::Graph() { chunks_.reserve(64); }

static Node* chunkSlot(std::vector<std::unique_ptr<Node[]>>& chunks, size_t id, unsigned bits) {
  if (id >> bits == chunks.size()) chunks.push_back(std::make_unique_for_overwrite<Node[]>(size_t{1} << bits));
  return &chunks[id >> bits][id & ((size_t{1} << bits) - 1)];
}

AttrId Graph::internAttrs(Op op, const Attrs& attrs) {
  const OpInfo& row = info(op);
  if (row.attrCount == 0 && attrs.dotted.empty()) return 0;
  std::array<int64_t, kMaxAttrs + 2> words{};
  for (size_t i = 0; i < row.attrCount; ++i)
    if (attrs.has(row.attrs[i])) words[0] |= int64_t{1} << i, words[i + 1] = attrs.get(row.attrs[i]);
  size_t count = row.attrCount + 1u;
  words[count++] = attrs.dotted.empty() ? 0 : string(attrs.dotted);
  return attrs_.intern(std::span<const int64_t>(words.data(), count));
}

NodeId Graph::internNode(const Node& node, std::span<const NodeId> sources) {
  auto fresh = static_cast<NodeId>(nodes_);
  if (fresh >= kNoNode - 1) internalError("the graph holds more nodes than ids");
  NodeId id = table_.findOrInsert(nodeHash(node.op, node.attr, sources), fresh, [&](NodeId other) {
    const Node& o = (*this)[other];
    return o.op == node.op && o.attr == node.attr && o.srcCount == sources.size() && std::equal(sources.begin(), sources.end(), o.srcs);
  });
  if (id != fresh) return id;
  Node* at = chunkSlot(chunks_, nodes_++, kChunkBits);
  *at = node;
  at->srcs = srcPool_.store(sources).data();
  at->srcCount = static_cast<uint32_t>(sources.size());
  if (at->base == kNoNode && (node.place || node.op == Op::Tuple)) at->base = id;
  if (node.op == Op::Range) {
    NodeId self[] = {id};
    at->open = unite(at->open, rangeSets_.intern(self));
  }
  return id;
}

NodeId Graph::make(Op op, std::span<const NodeId> sources, const Attrs& attrs) {
  auto made = tryMake(op, sources, attrs);
  if (made) return *made;
  std::string text = fmt::format("made a wrong {}: {}", name(op), made.error().message);
  for (NodeId s : sources) text += "\n  " + nodeText(*this, s);
  internalError(text);
}

NodeId Graph::remake(const Graph& from, NodeId like, std::span<const NodeId> sources) {
  if (&from == this) {
    auto old = srcs(like);
    if (std::equal(sources.begin(), sources.end(), old.begin(), old.end())) return like;
    return make(op(like), sources, attrsOf(like));
  }
  Attrs attrs = from.attrsOf(like);
  const OpInfo& row = info(from.op(like));
  for (size_t i = 0; i < row.attrCount; ++i) {
    AttrKey key = row.attrs[i];
    if (!attrs.has(key)) continue;
    AttrType type = attrType(key);
    if (type == AttrType::Dims || type == AttrType::Pairs) attrs.set(key, list(from.listById(attrs.get(key))));
    if (type == AttrType::String) attrs.set(key, string(from.stringById(attrs.get(key))));
  }
  return make(from.op(like), sources, attrs);
}

int64_t Graph::elements(NodeId id) const {
  int64_t n = 1;
  for (Dim d : shape(id)) n *= d;
  return n;
}

bool Graph::isOpen(NodeId id, NodeId range) const {
  auto set = open(id);
  return std::binary_search(set.begin(), set.end(), range);
}

bool Graph::hasAttr(NodeId id, AttrKey key) const {
  int at = attrPosition(op(id), key);
  AttrId attrs = (*this)[id].attr;
  return at >= 0 && attrs != 0 && (attrs_[attrs][0] >> at & 1);
}

int64_t Graph::attr(NodeId id, AttrKey key, int64_t otherwise) const {
  int at = attrPosition(op(id), key);
  AttrId attrs = (*this)[id].attr;
  if (at < 0 || attrs == 0) return otherwise;
  auto words = attrs_[attrs];
  return words[0] >> at & 1 ? words[static_cast<size_t>(at) + 1] : otherwise;
}

std::string_view Graph::stringById(int64_t id) const {
  auto chars = strings_[static_cast<uint32_t>(id)];
  return {chars.data(), chars.size()};
}

std::string_view Graph::stringAttr(NodeId id, AttrKey key) const { return hasAttr(id, key) ? stringById(attr(id, key)) : ""; }

std::string_view Graph::dotted(NodeId id) const {
  AttrId attrs = (*this)[id].attr;
  return attrs == 0 ? "" : stringById(attrs_[attrs].back());
}

Attrs Graph::attrsOf(NodeId id) const {
  Attrs out;
  const OpInfo& row = info(op(id));
  for (size_t i = 0; i < row.attrCount; ++i)
    if (hasAttr(id, row.attrs[i])) out.set(row.attrs[i], attr(id, row.attrs[i]));
  out.dotted = dotted(id);
  return out;
}

std::optional<int64_t> Graph::constInt(NodeId id) const {
  if (!isConst(id) || isFloat(dtype(id))) return std::nullopt;
  return constValue(id).asInt();
}

std::span<const NodeId> Graph::tupleItems(NodeId id) const {
  const Node& n = (*this)[id];
  return n.dtype == DType::Tuple ? srcs(n.base) : std::span<const NodeId>{};
}

RangeSetId Graph::unite(RangeSetId a, RangeSetId b) {
  if (a == b || b == 0) return a;
  if (a == 0) return b;
  uint64_t key = uint64_t{std::min(a, b)} << 32 | std::max(a, b);
  if (auto it = unions_.find(key); it != unions_.end()) return it->second;
  std::vector<NodeId> both;
  std::ranges::set_union(rangeSets_[a], rangeSets_[b], std::back_inserter(both));
  return unions_[key] = rangeSets_.intern(both);
}

RangeSetId Graph::without(RangeSetId a, std::span<const NodeId> ranges) {
  if (a == 0 || ranges.empty()) return a;
  std::vector<NodeId> left;
  for (NodeId r : rangeSets_[a])
    if (std::ranges::find(ranges, r) == ranges.end()) left.push_back(r);
  return rangeSets_.intern(left);
}

}  // namespace uop
