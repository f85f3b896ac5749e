#include "ir/graph.h"

#include "ir/program.h"

#include <algorithm>
#include <bit>

namespace uop {
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

NodeId Graph::find(Op op, AttrId attr, std::span<const NodeId> sources, uint64_t hash) const {
  return table_.find(hash, [&](NodeId other) {
    const Node& o = (*this)[other];
    return o.op == op && o.attr == attr && o.srcCount == sources.size() && std::equal(sources.begin(), sources.end(), o.srcs);
  });
}

NodeId Graph::add(const Node& node, std::span<const NodeId> sources, uint64_t hash) {
  auto id = static_cast<NodeId>(nodes_);
  if (id >= kNoNode - 1) internalError("the graph holds more nodes than ids");
  table_.insert(hash, id);
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

NodeId Graph::make(Op op, std::span<const NodeId> sources, const Attrs& attrs) { return mustBe(tryMake(op, sources, attrs), op, sources); }

NodeId Graph::mustBe(Result<NodeId> made, Op op, std::span<const NodeId> sources) const {
  if (made) return *made;
  std::string text = fmt::format("made a wrong {}: {}", name(op), made.error().message);
  for (NodeId s : sources) text += "\n  " + nodeText(*this, s);
  internalError(text);
}

NodeId Graph::remake(const Graph& from, NodeId like, std::span<const NodeId> sources) {
  if (&from == this) {
    auto old = srcs(like);
    if (std::equal(sources.begin(), sources.end(), old.begin(), old.end())) return like;
    return mustBe(intern(op(like), sources, attrsOf(like), attrIdOf(like)), op(like), sources);
  }
  return make(from.op(like), sources, attrsFrom(from, like));
}

// Attributes of another graph's node, in this one's ids.
Attrs Graph::attrsFrom(const Graph& from, NodeId like) {
  Attrs attrs = from.attrsOf(like);
  const OpInfo& row = info(from.op(like));
  for (size_t i = 0; i < row.attrCount; ++i) {
    AttrKey key = row.attrs[i];
    if (!attrs.has(key)) continue;
    AttrType type = attrType(key);
    if (type == AttrType::Dims || type == AttrType::Pairs) attrs.set(key, list(from.listById(attrs.get(key))));
    if (type == AttrType::String) attrs.set(key, string(from.stringById(attrs.get(key))));
  }
  return attrs;
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
  if (attrIdOf(id) == 0) return out;
  auto words = attrs_[attrIdOf(id)];
  const OpInfo& row = info(op(id));
  for (size_t i = 0; i < row.attrCount; ++i)
    if (words[0] >> i & 1) out.set(row.attrs[i], words[i + 1]);
  out.dotted = stringById(words.back());
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
  auto x = rangeSets_[a], y = rangeSets_[b];
  if (std::ranges::includes(x, y)) return a;
  if (std::ranges::includes(y, x)) return b;
  scratch_.clear();
  std::ranges::set_union(x, y, std::back_inserter(scratch_));
  return rangeSets_.intern(scratch_);
}

RangeSetId Graph::without(RangeSetId a, std::span<const NodeId> ranges) {
  if (a == 0 || ranges.empty()) return a;
  scratch_.clear();
  for (NodeId r : rangeSets_[a])
    if (std::ranges::find(ranges, r) == ranges.end()) scratch_.push_back(r);
  return rangeSets_.intern(scratch_);
}

}  // namespace uop
