#include "ir/infer.h"

#include <algorithm>

namespace uop {

namespace {

bool isRangeSource(Op op, size_t i) { return i > 0 && hasTrait(op, trait::ClosesRanges); }

// Sources that may be void or a tuple.
bool takesEffects(Op op) { return op == Op::Call || op == Op::After || op == Op::End || op == Op::Sink || op == Op::Get; }

std::string countText(const OpInfo& row) {
  auto sources = [](uint32_t n) { return fmt::format("{} source{}", n, n == 1 ? "" : "s"); };
  if (row.minSrc == row.maxSrc) return row.minSrc == 0 ? "no source (0)" : sources(row.minSrc);
  return row.maxSrc == kMany ? "at least " + sources(row.minSrc) : fmt::format("{} to {} sources", row.minSrc, row.maxSrc);
}

}  // namespace

Result<NodeId> Graph::tryMake(Op op, std::span<const NodeId> sources, const Attrs& attrs) { return intern(op, sources, attrs, internAttrs(op, attrs)); }

// What is there already was checked then.
Result<NodeId> Graph::intern(Op op, std::span<const NodeId> sources, const Attrs& attrs, AttrId attr) {
  const uint64_t hash = nodeHash(op, attr, sources);
  if (NodeId known = find(op, attr, sources, hash); known != kNoNode) return known;
  auto node = Inferrer(*this, op, sources, attrs).run();
  if (!node) return std::unexpected(node.error());
  node->attr = attr;
  return add(*node, sources, hash);
}

Result<Node> Inferrer::run() {
  node_.op = op_;
  node_.base = kNoNode;
  node_.dtype = srcs_.empty() ? DType::Void : s(0).dtype;
  node_.shapeList = srcs_.empty() ? 0 : s(0).shapeList;
  if (auto r = checkSources(); !r) return std::unexpected(r.error());
  if (auto r = dispatch(); !r) return std::unexpected(r.error());
  if (auto r = checkShape(); !r) return std::unexpected(r.error());
  inferOpen();
  if (g_.rangeSets_[node_.open].size() > kMaxOpenRanges) return fail(Diag::RangeOpenLimit, kMaxOpenRanges);
  return node_;
}

Inferrer::R Inferrer::checkSources() {
  const OpInfo& row = info(op_);
  if (srcs_.size() < row.minSrc || srcs_.size() > row.maxSrc) return fail(Diag::SourceCount, row.name, countText(row), srcs_.size());
  if (op_ == Op::Load && srcs_.size() == 2) return fail(Diag::SourceCount, row.name, "1 source or 3 (place, alt, gate)", 2);
  for (size_t i = 0; i < row.attrCount; ++i)
    if (!row.optional[i] && !attrs_.has(row.attrs[i])) return fail(Diag::MissingAttr, row.name, attrName(row.attrs[i]));
  if (takesEffects(op_)) return {};
  for (size_t i = 0; i < srcs_.size(); ++i)
    if (!isValue(s(i).dtype)) return fail(Diag::WantsValue, row.name, name(s(i).dtype));
  return {};
}

Inferrer::R Inferrer::checkShape() {
  auto shape = g_.lists_[node_.shapeList];
  if (shape.size() > kMaxRank) return fail(Diag::RankLimit, shape.size());
  bool empty = std::ranges::find(shape, 0) != shape.end();
  int64_t bytes = std::max<int64_t>(1, byteSize(node_.dtype));
  for (Dim d : shape) {
    if (d > kMaxAxis) return fail(Diag::AxisLimit, d);
    if (!empty && (__builtin_mul_overflow(bytes, d, &bytes) || bytes > kMaxBytes)) return fail(Diag::BytesLimit, shapeText(shape), name(node_.dtype));
  }
  return {};
}

void Inferrer::inferOpen() {
  RangeSetId open = 0;
  for (size_t i = op_ == Op::Call ? 1 : 0; i < srcs_.size(); ++i)
    if (!isRangeSource(op_, i)) open = g_.unite(open, s(i).open);
  if (hasTrait(op_, trait::ClosesRanges) && srcs_.size() > 1) {
    open = g_.without(open, srcs_.subspan(1));
    // A bound that depends on an outer loop keeps that loop open, unless it is closed here as well.
    for (size_t i = 1; i < srcs_.size(); ++i) open = g_.unite(open, g_.without(s(i).open, srcs_.subspan(1)));
  }
  node_.open = open;
}

Inferrer::R Inferrer::dispatch() {
  switch (info(op_).rule) {
    case TypeRule::Storage: return storage();
    case TypeRule::Constant: return constant();
    case TypeRule::Cast: return cast();
    case TypeRule::Bitcast: return bitcast();
    case TypeRule::Number:
    case TypeRule::Float:
    case TypeRule::NumberOrBool:
    case TypeRule::IntegerOrBool:
    case TypeRule::Integer:
    case TypeRule::Compare:
    case TypeRule::Where:
    case TypeRule::Same: return elementwise();
    case TypeRule::Reshape: return reshape();
    case TypeRule::Expand: return expand();
    case TypeRule::Permute: return permute();
    case TypeRule::Flip: return flip();
    case TypeRule::Pad: return pad();
    case TypeRule::Shrink: return shrink();
    case TypeRule::Index: return index();
    case TypeRule::Load: return load();
    case TypeRule::Store: return store();
    case TypeRule::After: return after();
    case TypeRule::Range: return range();
    case TypeRule::End: return closers();
    case TypeRule::Reduce: return reduce();
    case TypeRule::Stage: return stage();
    case TypeRule::Call: return call();
    case TypeRule::Tuple: node_.dtype = DType::Tuple, setShape({}); return {};
    case TypeRule::Get: return get();
    case TypeRule::Sink: node_.dtype = DType::Void, setShape({}); return {};
  }
  return {};
}

Inferrer::R Inferrer::wantKind(DType d, bool ok, std::string_view what) {
  if (ok) return {};
  return fail(Diag::WantsKind, name(op_), what, name(d));
}

}  // namespace uop
