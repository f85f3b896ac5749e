// Builders of Graph for compiler code.
#include "ir/graph.h"

namespace uop {

NodeId Graph::constant(DType dtype, Scalar value) {
  return make(Op::Const, {}, Attrs{}.set(AttrKey::Value, static_cast<int64_t>(value.bits)).set(AttrKey::DTypeKey, static_cast<int64_t>(dtype)));
}

NodeId Graph::range(NodeId bound, int64_t id, Kind kind) {
  return make(Op::Range, {bound}, Attrs{}.set(AttrKey::Id, id).set(AttrKey::KindKey, static_cast<int64_t>(kind)));
}

NodeId Graph::cast(NodeId x, DType to) {
  return dtype(x) == to ? x : make(Op::Cast, {x}, Attrs{}.set(AttrKey::DTypeKey, static_cast<int64_t>(to)));
}

NodeId Graph::reshape(NodeId x, std::span<const Dim> to) {
  if (std::ranges::equal(shape(x), to)) return x;
  return make(Op::Reshape, {x}, Attrs{}.set(AttrKey::Shape, list(to)));
}

NodeId Graph::expand(NodeId x, std::span<const Dim> to) {
  if (std::ranges::equal(shape(x), to)) return x;
  return make(Op::Expand, {x}, Attrs{}.set(AttrKey::Shape, list(to)));
}

NodeId Graph::permute(NodeId x, std::span<const int64_t> axes) {
  bool moved = false;
  for (size_t i = 0; i < axes.size(); ++i) moved |= axes[i] != static_cast<int64_t>(i);
  return moved ? make(Op::Permute, {x}, Attrs{}.set(AttrKey::Axes, list(axes))) : x;
}

namespace {
std::vector<NodeId> joined(NodeId first, std::span<const NodeId> rest) {
  std::vector<NodeId> all{first};
  all.insert(all.end(), rest.begin(), rest.end());
  return all;
}
}  // namespace

NodeId Graph::reduce(NodeId x, std::span<const NodeId> ranges, ReduceOp op, int64_t n) {
  return make(Op::Reduce, joined(x, ranges), Attrs{}.set(AttrKey::ReduceKey, static_cast<int64_t>(op)).set(AttrKey::N, n));
}

NodeId Graph::alloc(int64_t slot, DType dtype, std::span<const Dim> shape, Space space) {
  return make(Op::Alloc, {},
              Attrs{}.set(AttrKey::Slot, slot).set(AttrKey::DTypeKey, static_cast<int64_t>(dtype)).set(AttrKey::Shape, list(shape)).set(AttrKey::SpaceKey, static_cast<int64_t>(space)));
}

NodeId Graph::param(int64_t slot, DType dtype, std::span<const Dim> shape) {
  return make(Op::Param, {}, Attrs{}.set(AttrKey::Slot, slot).set(AttrKey::DTypeKey, static_cast<int64_t>(dtype)).set(AttrKey::Shape, list(shape)));
}

NodeId Graph::indexInto(NodeId place, std::span<const NodeId> indices) { return indices.empty() ? place : make(Op::Index, joined(place, indices)); }
NodeId Graph::end(NodeId body, std::span<const NodeId> ranges) { return ranges.empty() ? body : make(Op::End, joined(body, ranges)); }
NodeId Graph::after(NodeId x, std::span<const NodeId> deps) { return deps.empty() ? x : make(Op::After, joined(x, deps)); }
NodeId Graph::stage(NodeId x, std::span<const NodeId> ranges, Space space) {
  return make(Op::Stage, joined(x, ranges), Attrs{}.set(AttrKey::SpaceKey, static_cast<int64_t>(space)));
}

}  // namespace uop
