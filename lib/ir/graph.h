// The hash-consed graph of UOps. A node is (op, sources, attributes), interned once, named by a dense integer id;
// a source's id is always smaller than its user's, so every analysis is a loop over ids, never a recursion.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/intern.h"
#include "ir/op.h"
#include "ir/scalar.h"
#include "support/diagnostics.h"
#include "support/shape.h"

namespace uop {

using NodeId = uint32_t;
inline constexpr NodeId kNoNode = ~0u;
using Dim = int64_t;  // one axis; a type of its own so that symbolic dimensions can come later
using AttrId = uint32_t;
using RangeSetId = uint32_t;

inline constexpr size_t kMaxRank = 32;
inline constexpr Dim kMaxAxis = (Dim{1} << 48) - 1;
inline constexpr int64_t kMaxBytes = (int64_t{1} << 62) - 1;
inline constexpr size_t kMaxOpenRanges = 256;

struct Node {
  const NodeId* srcs;
  uint32_t srcCount;
  AttrId attr;
  uint32_t shapeList;   // interned dims
  RangeSetId open;      // RANGEs whose loop this node is inside of
  NodeId base;          // a place: its PARAM, BUFFER, ALLOC or STAGE; a tuple: its TUPLE; else kNoNode
  Op op;
  DType dtype;
  bool place;           // MEM rather than ALU
  bool stretched;       // a view that an EXPAND made overlap itself
};

// Attributes under construction. Unset optional ones stay absent.
class Attrs {
 public:
  Attrs& set(AttrKey key, int64_t word) {
    words_[static_cast<size_t>(key)] = word;
    present_ |= 1u << static_cast<unsigned>(key);
    return *this;
  }
  bool has(AttrKey key) const { return present_ >> static_cast<unsigned>(key) & 1; }
  int64_t get(AttrKey key) const { return words_[static_cast<size_t>(key)]; }
  std::string dotted;  // "cpu.nontemporal=true mem.align=64", by name; part of identity

 private:
  std::array<int64_t, kAttrKeyCount> words_{};
  uint32_t present_ = 0;
};

class Graph {
 public:
  Graph();
  Graph(Graph&&) = default;
  Graph& operator=(Graph&&) = default;

  size_t size() const { return nodes_; }
  const Node& operator[](NodeId id) const { return chunks_[id >> kChunkBits][id & kChunkMask]; }

  // The node for (op, sources, attributes), typed and checked; the errors are the user's (format, sections 3, 4, 6).
  Result<NodeId> tryMake(Op, std::span<const NodeId> sources, const Attrs& = {});
  // The same where failure would be the compiler's own fault (InternalError).
  NodeId make(Op, std::span<const NodeId> sources, const Attrs& = {});
  NodeId make(Op op, std::initializer_list<NodeId> sources, const Attrs& attrs = {}) { return make(op, std::span(sources.begin(), sources.size()), attrs); }
  // `like` with other sources, same op and attributes.
  NodeId remake(const Graph& from, NodeId like, std::span<const NodeId> sources);
  void reserve(size_t nodes) { table_.reserve(nodes); }

  // Reading a node. Spans stay valid for the graph's life.
  std::span<const NodeId> srcs(NodeId id) const { return {(*this)[id].srcs, (*this)[id].srcCount}; }
  NodeId src(NodeId id, size_t i) const { return (*this)[id].srcs[i]; }
  Op op(NodeId id) const { return (*this)[id].op; }
  DType dtype(NodeId id) const { return (*this)[id].dtype; }
  std::span<const Dim> shape(NodeId id) const { return lists_[(*this)[id].shapeList]; }
  size_t rank(NodeId id) const { return shape(id).size(); }
  int64_t elements(NodeId id) const;  // product of the shape, 1 for a scalar
  std::span<const NodeId> open(NodeId id) const { return rangeSets_[(*this)[id].open]; }  // ascending ids
  bool isOpen(NodeId id, NodeId range) const;

  // Attributes. attr() is the raw word; absent optional ones give `otherwise`.
  bool hasAttr(NodeId id, AttrKey) const;
  int64_t attr(NodeId id, AttrKey, int64_t otherwise = 0) const;
  std::span<const int64_t> listAttr(NodeId id, AttrKey key) const { return lists_[static_cast<uint32_t>(attr(id, key))]; }  // Pairs are flat
  std::string_view stringAttr(NodeId id, AttrKey) const;  // "" where absent
  std::string_view dotted(NodeId id) const;
  Attrs attrsOf(NodeId id) const;
  AttrId attrIdOf(NodeId id) const { return (*this)[id].attr; }

  bool isConst(NodeId id) const { return op(id) == Op::Const; }
  Scalar constValue(NodeId id) const { return {static_cast<uint64_t>(attr(id, AttrKey::Value))}; }
  std::optional<int64_t> constInt(NodeId id) const;  // of an integer or bool CONST
  Kind kind(NodeId range) const { return static_cast<Kind>(attr(range, AttrKey::KindKey)); }
  Space space(NodeId id) const { return static_cast<Space>(attr(id, AttrKey::SpaceKey)); }  // ALLOC, STAGE
  ReduceOp reduceOp(NodeId id) const { return static_cast<ReduceOp>(attr(id, AttrKey::ReduceKey)); }
  std::span<const NodeId> tupleItems(NodeId id) const;  // of a TUPLE, a CALL of one, ...; empty for others

  // Interning for Attrs words.
  int64_t list(std::span<const int64_t> items) { return lists_.intern(items); }
  int64_t list(std::initializer_list<int64_t> items) { return list(std::span(items.begin(), items.size())); }
  int64_t string(std::string_view text) { return strings_.intern(std::span(text.data(), text.size())); }
  std::span<const int64_t> listById(int64_t id) const { return lists_[static_cast<uint32_t>(id)]; }
  std::string_view stringById(int64_t id) const;

  // Builders for compiler code (InternalError on misuse).
  NodeId constant(DType, Scalar);
  NodeId constInt(DType dtype, int64_t v) { return constant(dtype, isFloat(dtype) ? Scalar::ofDouble(static_cast<double>(v)) : Scalar::ofInt(v)); }
  NodeId index(int64_t v) { return constInt(DType::Index, v); }
  NodeId boolean(bool v) { return constInt(DType::Bool, v); }
  NodeId range(NodeId bound, int64_t id, Kind);
  NodeId range(int64_t bound, int64_t id, Kind kind) { return range(index(bound), id, kind); }
  NodeId unary(Op op, NodeId x) { return make(op, {x}); }
  NodeId binary(Op op, NodeId x, NodeId y) { return make(op, {x, y}); }
  NodeId where(NodeId c, NodeId x, NodeId y) { return make(Op::Where, {c, x, y}); }
  NodeId cast(NodeId x, DType);
  NodeId reshape(NodeId x, std::span<const Dim> shape);
  NodeId expand(NodeId x, std::span<const Dim> shape);
  NodeId permute(NodeId x, std::span<const int64_t> axes);
  NodeId reduce(NodeId x, std::span<const NodeId> ranges, ReduceOp, int64_t n = 0);
  NodeId alloc(int64_t slot, DType, std::span<const Dim> shape, Space);
  NodeId param(int64_t slot, DType, std::span<const Dim> shape);
  NodeId indexInto(NodeId place, std::span<const NodeId> indices);
  NodeId load(NodeId place) { return make(Op::Load, {place}); }
  NodeId store(NodeId place, NodeId value) { return make(Op::Store, {place, value}); }
  NodeId end(NodeId body, std::span<const NodeId> ranges);
  NodeId after(NodeId x, std::span<const NodeId> deps);
  NodeId stage(NodeId x, std::span<const NodeId> ranges, Space);

 private:
  friend class Inferrer;
  friend class GraphCopier;
  static constexpr unsigned kChunkBits = 12;
  static constexpr size_t kChunkMask = (size_t{1} << kChunkBits) - 1;

  AttrId internAttrs(Op, const Attrs&);
  Result<NodeId> intern(Op, std::span<const NodeId> sources, const Attrs&, AttrId);
  Attrs attrsFrom(const Graph& from, NodeId like);
  static uint64_t nodeHash(Op op, AttrId attr, std::span<const NodeId> sources) { return hashSpan(sources, (uint64_t{attr} << 8) | static_cast<uint64_t>(op)); }
  NodeId find(Op, AttrId, std::span<const NodeId> sources, uint64_t hash) const;
  NodeId add(const Node&, std::span<const NodeId> sources, uint64_t hash);
  NodeId mustBe(Result<NodeId> made, Op, std::span<const NodeId> sources) const;
  RangeSetId unite(RangeSetId, RangeSetId);
  RangeSetId without(RangeSetId, std::span<const NodeId> ranges);

  std::vector<std::unique_ptr<Node[]>> chunks_;
  size_t nodes_ = 0;
  StablePool<NodeId> srcPool_;
  IdTable table_;
  Interner<int64_t> lists_;
  Interner<int64_t> attrs_;
  Interner<char> strings_;
  Interner<NodeId> rangeSets_;
  std::vector<NodeId> scratch_;
};

// Every node that `roots` reach, ascending (so sources first). A CALL's body is another function and left out, unless
// `bodies`.
std::vector<NodeId> cone(const Graph&, std::span<const NodeId> roots, bool bodies = false);

}  // namespace uop
