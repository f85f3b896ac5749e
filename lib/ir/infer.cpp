// Type and shape rules: one function a TypeRule of ops.def, from the format's sections 3, 4 and 6.
#include <algorithm>

#include "ir/graph.h"

namespace uop {

// The node under construction. Each rule fills in what derives from sources and attributes, or says what is wrong.
class Inferrer {
 public:
  Inferrer(Graph& g, Op op, std::span<const NodeId> srcs, const Attrs& attrs) : g_(g), op_(op), srcs_(srcs), attrs_(attrs) {}
  Result<Node> run();

 private:
  using R = Result<void>;
  const Node& s(size_t i) const { return g_[srcs_[i]]; }
  std::span<const Dim> shp(size_t i) const { return g_.shape(srcs_[i]); }
  std::string shpText(size_t i) const { return shapeText(shp(i)); }
  std::span<const int64_t> dims(AttrKey key) const { return g_.listById(attrs_.get(key)); }
  void setShape(std::span<const Dim> d) { node_.shapeList = static_cast<uint32_t>(g_.list(d)); }
  void view() { node_.place = s(0).place, node_.base = s(0).base, node_.stretched = s(0).stretched; }

  R checkSources();
  R checkShape();
  void inferOpen();
  R dispatch();
  R storage();
  R constant();
  R cast();
  R bitcast();
  R elementwise();
  R wantKind(DType d, bool ok, std::string_view what);
  R sameDtypes(size_t first);
  R broadcast();
  R reshape();
  R expand();
  R permute();
  R flip();
  R pad();
  R shrink();
  R index();
  R load();
  R store();
  R gate(size_t at);
  R after();
  R range();
  R closers();
  R reduce();
  R stage();
  R call();
  R get();
  R pairCount(AttrKey);
  R distinctAxes();

  Graph& g_;
  Op op_;
  std::span<const NodeId> srcs_;
  const Attrs& attrs_;
  Node node_{};
};

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

Result<NodeId> Graph::tryMake(Op op, std::span<const NodeId> sources, const Attrs& attrs) {
  auto node = Inferrer(*this, op, sources, attrs).run();
  if (!node) return std::unexpected(node.error());
  node->attr = internAttrs(op, attrs);
  return internNode(*node, sources);
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

Inferrer::R Inferrer::storage() {
  node_.dtype = static_cast<DType>(attrs_.get(AttrKey::DTypeKey));
  if (!isValue(node_.dtype)) return fail(Diag::WantsKind, name(op_), "a dtype of values", name(node_.dtype));
  setShape(dims(AttrKey::Shape));
  node_.place = op_ != Op::Param || !dims(AttrKey::Shape).empty();
  bool bounded = attrs_.has(AttrKey::Min) || attrs_.has(AttrKey::Max);
  if (bounded && (node_.place || !isInteger(node_.dtype))) return fail(Diag::WantsKind, "min= and max= of PARAM", "an integer scalar", name(node_.dtype));
  if (attrs_.has(AttrKey::Min) && attrs_.has(AttrKey::Max) && attrs_.get(AttrKey::Min) > attrs_.get(AttrKey::Max))
    return fail(Diag::MinMax, attrs_.get(AttrKey::Min), attrs_.get(AttrKey::Max), "expected min <= max");
  return {};
}

Inferrer::R Inferrer::constant() {
  node_.dtype = static_cast<DType>(attrs_.get(AttrKey::DTypeKey));
  if (!isValue(node_.dtype)) return fail(Diag::WantsKind, name(op_), "a dtype of values", name(node_.dtype));
  setShape({});
  return {};
}

Inferrer::R Inferrer::cast() {
  node_.dtype = static_cast<DType>(attrs_.get(AttrKey::DTypeKey));
  if (!isValue(node_.dtype)) return fail(Diag::WantsKind, name(op_), "a dtype of values", name(node_.dtype));
  return {};
}

Inferrer::R Inferrer::bitcast() {
  DType from = s(0).dtype;
  if (auto r = cast(); !r) return r;
  if (from == DType::Bool || node_.dtype == DType::Bool) return fail(Diag::BitcastBool);
  if (byteSize(from) != byteSize(node_.dtype)) return fail(Diag::BitcastSize, name(from), name(node_.dtype));
  return {};
}

// Operands have one dtype; `index` beside a CONST of integer type gives `index`.
Inferrer::R Inferrer::sameDtypes(size_t first) {
  DType d = s(first).dtype;
  for (size_t i = first + 1; i < srcs_.size(); ++i) {
    DType e = s(i).dtype;
    if (d == e) continue;
    bool fits = (d == DType::Index && isInteger(e) && s(i).op == Op::Const) || (e == DType::Index && isInteger(d) && s(first).op == Op::Const);
    if (!fits) return fail(Diag::DTypesDiffer, name(op_), name(d), name(e));
    d = DType::Index;
  }
  node_.dtype = d;
  return {};
}

Inferrer::R Inferrer::broadcast() {
  std::array<Dim, kMaxRank> out;
  size_t rank = 0;
  for (size_t i = 0; i < srcs_.size(); ++i) rank = std::max(rank, shp(i).size());
  std::fill_n(out.begin(), rank, Dim{1});
  for (size_t i = 0; i < srcs_.size(); ++i) {
    auto shape = shp(i);
    for (size_t k = 0; k < shape.size(); ++k) {
      Dim& at = out[rank - shape.size() + k];
      if (at == 1) at = shape[k];
      else if (shape[k] != 1 && shape[k] != at) return fail(Diag::NoBroadcast, name(op_), shpText(i == 0 ? 0 : i - 1), shpText(i));
    }
  }
  setShape(std::span(out.data(), rank));
  return {};
}

Inferrer::R Inferrer::elementwise() {
  TypeRule rule = info(op_).rule;
  if (rule == TypeRule::Where)
    if (auto r = wantKind(s(0).dtype, s(0).dtype == DType::Bool, "a bool condition"); !r) return r;
  if (auto r = sameDtypes(rule == TypeRule::Where ? 1 : 0); !r) return r;
  DType d = node_.dtype;
  if (op_ == Op::Add && d == DType::Bool) return fail(Diag::AddOfBool, name(op_));
  R kind = {};
  if (rule == TypeRule::Number) kind = wantKind(d, isNumber(d), "a number");
  if (rule == TypeRule::Float) kind = wantKind(d, isFloat(d), "a float");
  if (rule == TypeRule::Integer) kind = wantKind(d, isInteger(d), "an integer");
  if (rule == TypeRule::IntegerOrBool) kind = wantKind(d, isInteger(d) || d == DType::Bool, "an integer or bool");
  if (!kind) return kind;
  if (rule == TypeRule::Compare) node_.dtype = DType::Bool;
  if (srcs_.size() > 1) return broadcast();
  return {};
}

Inferrer::R Inferrer::reshape() {
  view();
  auto to = dims(AttrKey::Shape);
  setShape(to);
  if (auto r = checkShape(); !r) return r;
  auto count = [](std::span<const Dim> shape) {
    int64_t n = 1;
    for (Dim d : shape) n = d == 0 || n == 0 ? 0 : n * d;
    return n;
  };
  bool empty = std::ranges::find(to, 0) != to.end();
  int64_t have = std::ranges::find(shp(0), 0) != shp(0).end() ? 0 : count(shp(0)), want = empty ? 0 : count(to);
  if (have != want) return fail(Diag::ReshapeCount, shpText(0), shapeText(to), have, want);
  return {};
}

Inferrer::R Inferrer::expand() {
  view();
  auto from = shp(0), to = dims(AttrKey::Shape);
  if (to.size() < from.size()) return fail(Diag::ExpandShape, shapeText(from), shapeText(to), "the new shape has fewer axes; its rank must be at least as large");
  size_t added = to.size() - from.size();
  for (size_t i = 0; i < to.size(); ++i) {
    Dim have = i < added ? 1 : from[i - added];
    if (have != to[i] && have != 1)
      return fail(Diag::ExpandShape, shapeText(from), shapeText(to), fmt::format("axis {} has {} elements, and only an axis of 1 stretches", i - added, have));
    node_.stretched |= have != to[i];
  }
  setShape(to);
  return {};
}

Inferrer::R Inferrer::permute() {
  view();
  auto axes = dims(AttrKey::Axes), from = shp(0);
  std::vector<bool> seen(from.size());
  bool good = axes.size() == from.size();
  for (int64_t a : axes) {
    good = good && a >= 0 && a < static_cast<int64_t>(from.size()) && !seen[static_cast<size_t>(a)];
    if (good) seen[static_cast<size_t>(a)] = true;
  }
  if (!good) return fail(Diag::PermuteAxes, shapeText(axes), from.size(), shapeText(from));
  std::vector<Dim> out;
  for (int64_t a : axes) out.push_back(from[static_cast<size_t>(a)]);
  setShape(out);
  return {};
}

Inferrer::R Inferrer::distinctAxes() {
  auto axes = dims(AttrKey::Axes);
  std::vector<int64_t> sorted(axes.begin(), axes.end());
  std::ranges::sort(sorted);
  for (int64_t a : sorted)
    if (a < 0 || a >= static_cast<int64_t>(shp(0).size())) return fail(Diag::AxisRange, name(op_), shapeText(axes), shpText(0), shp(0).size());
  if (auto twice = std::ranges::adjacent_find(sorted); twice != sorted.end()) return fail(Diag::AxisTwice, name(op_), shapeText(axes), *twice);
  return {};
}

Inferrer::R Inferrer::flip() {
  view();
  return distinctAxes();
}

Inferrer::R Inferrer::pairCount(AttrKey key) {
  if (dims(key).size() == 2 * shp(0).size()) return {};
  return fail(Diag::PairCount, name(op_), attrName(key), shp(0).size(), shpText(0), dims(key).size() / 2);
}

Inferrer::R Inferrer::pad() {
  if (auto r = pairCount(AttrKey::PadKey); !r) return r;
  auto pad = dims(AttrKey::PadKey);
  std::vector<Dim> out(shp(0).begin(), shp(0).end());
  for (size_t i = 0; i < out.size(); ++i)
    for (int64_t more : pad.subspan(2 * i, 2))
      if (more < 0 || __builtin_add_overflow(out[i], more, &out[i]) || out[i] > kMaxAxis) return fail(Diag::AxisLimit, fmt::format("{} + {} (PAD)", shp(0)[i], more));
  setShape(out);
  return {};
}

Inferrer::R Inferrer::shrink() {
  view();
  if (auto r = pairCount(AttrKey::Bounds); !r) return r;
  auto bounds = dims(AttrKey::Bounds);
  std::vector<Dim> out;
  for (size_t i = 0; i < shp(0).size(); ++i) {
    int64_t lo = bounds[2 * i], hi = bounds[2 * i + 1];
    if (lo < 0 || lo > hi || hi > shp(0)[i]) return fail(Diag::ShrinkBounds, lo, hi, i, shp(0)[i]);
    out.push_back(hi - lo);
  }
  if (srcs_.size() != 1 && srcs_.size() != 1 + out.size()) return fail(Diag::ShrinkOffsets, out.size(), srcs_.size() - 1);
  for (size_t i = 1; i < srcs_.size(); ++i) {
    if (auto r = wantKind(s(i).dtype, isInteger(s(i).dtype), "integer offsets"); !r) return r;
    if (!shp(i).empty()) return fail(Diag::NotScalar, name(op_), "offset", shpText(i));
  }
  setShape(out);
  return {};
}

Inferrer::R Inferrer::index() {
  if (!s(0).place) return fail(Diag::WantsPlace, name(op_), name(s(0).dtype));
  view();
  auto shape = shp(0);
  if (srcs_.size() - 1 > shape.size()) return fail(Diag::IndexRank, srcs_.size() - 1, shapeText(shape), shape.size());
  for (size_t i = 1; i < srcs_.size(); ++i) {
    if (auto r = wantKind(s(i).dtype, isInteger(s(i).dtype), "integer indices"); !r) return r;
    if (!shp(i).empty()) return fail(Diag::NotScalar, name(op_), "index", shpText(i));
    if (auto at = g_.constInt(srcs_[i]); at && (*at < 0 || *at >= shape[i - 1])) return fail(Diag::IndexBounds, *at, i - 1, shape[i - 1]);
  }
  setShape(shape.subspan(srcs_.size() - 1));
  return {};
}

Inferrer::R Inferrer::gate(size_t at) {
  if (auto r = wantKind(s(at).dtype, s(at).dtype == DType::Bool, "a bool gate"); !r) return r;
  if (!shp(at).empty() && !std::ranges::equal(shp(at), shp(0))) return fail(Diag::GateShape, name(op_), shpText(at), shpText(0));
  return {};
}

Inferrer::R Inferrer::load() {
  if (!s(0).place) return fail(Diag::WantsPlace, name(op_), name(s(0).dtype));
  if (srcs_.size() == 1) return {};
  if (s(1).dtype != s(0).dtype || (!shp(1).empty() && !std::ranges::equal(shp(1), shp(0))))
    return fail(Diag::LoadAlt, name(s(1).dtype), shpText(1), name(s(0).dtype), shpText(0));
  return gate(2);
}

Inferrer::R Inferrer::store() {
  if (!s(0).place) return fail(Diag::WantsPlace, name(op_), name(s(0).dtype));
  if (g_.op(s(0).base) == Op::Stage) return fail(Diag::StoreReadOnly, "a STAGE");
  if (s(0).stretched) return fail(Diag::StoreExpanded);
  if (s(1).dtype != s(0).dtype) return fail(Diag::StoreDType, name(s(1).dtype), name(s(0).dtype));
  if (!std::ranges::equal(shp(1), shp(0))) return fail(Diag::StoreShape, shpText(1), shpText(0));
  if (srcs_.size() == 3)
    if (auto r = gate(2); !r) return r;
  node_.dtype = DType::Void;
  setShape({});
  return {};
}

Inferrer::R Inferrer::after() {
  if (s(0).dtype == DType::Void) return fail(Diag::WantsValue, name(op_), name(s(0).dtype));
  view();
  return {};
}

Inferrer::R Inferrer::range() {
  if (auto r = wantKind(s(0).dtype, isInteger(s(0).dtype), "an integer bound"); !r) return r;
  if (!shp(0).empty()) return fail(Diag::NotScalar, name(op_), "bound", shpText(0));
  node_.dtype = DType::Index;
  return {};
}

Inferrer::R Inferrer::closers() {
  for (size_t i = 1; i < srcs_.size(); ++i) {
    if (s(i).op != Op::Range) return fail(Diag::WantsRange, name(op_), name(s(i).op));
    for (size_t k = 1; k < i; ++k)
      if (srcs_[k] == srcs_[i]) return fail(Diag::RangeTwice, name(op_), g_.attr(srcs_[i], AttrKey::Id));
  }
  if (op_ != Op::End) return {};
  if (s(0).dtype == DType::Tuple || (s(0).dtype != DType::Void && s(0).op != Op::Call)) return fail(Diag::WantsKind, name(op_), "a STORE, END, CALL or SINK", name(s(0).op));
  node_.dtype = DType::Void;
  setShape({});
  return {};
}

Inferrer::R Inferrer::reduce() {
  if (auto r = closers(); !r) return r;
  if (attrs_.get(AttrKey::ReduceKey) == static_cast<int64_t>(ReduceOp::Add) && s(0).dtype == DType::Bool) return fail(Diag::AddOfBool, "REDUCE op=ADD");
  int64_t n = attrs_.get(AttrKey::N);
  if (n < 0 || n > static_cast<int64_t>(shp(0).size())) return fail(Diag::ReduceN, n, shpText(0), shp(0).size());
  if (n > 0 && srcs_.size() > 1) return fail(Diag::ReduceRangesN, n);
  setShape(shp(0).subspan(static_cast<size_t>(n)));
  return {};
}

Inferrer::R Inferrer::stage() {
  if (auto r = closers(); !r) return r;
  std::vector<Dim> out;
  for (size_t i = 1; i < srcs_.size(); ++i) {
    auto bound = g_.constInt(s(i).srcs[0]);
    if (!bound || *bound < 0) return fail(Diag::StageBound);
    out.push_back(*bound);
  }
  out.insert(out.end(), shp(0).begin(), shp(0).end());
  setShape(out);
  node_.place = true;
  return {};
}

// What needs the body's whole cone (slots, writes) is checked by verifyProgram.
Inferrer::R Inferrer::call() {
  for (size_t i = 1; i < srcs_.size(); ++i)
    if (!isValue(s(i).dtype)) return fail(Diag::WantsValue, name(op_), name(s(i).dtype));
  if (s(0).dtype == DType::Tuple) node_.base = s(0).base;
  return {};
}

Inferrer::R Inferrer::get() {
  if (s(0).dtype != DType::Tuple) return fail(Diag::GetTuple, name(s(0).op));
  auto items = g_.srcs(s(0).base);
  int64_t at = attrs_.get(AttrKey::IndexKey);
  if (at < 0 || at >= static_cast<int64_t>(items.size())) return fail(Diag::GetRange, at, items.size());
  const Node& item = g_[items[static_cast<size_t>(at)]];
  node_.dtype = item.dtype;
  node_.shapeList = item.shapeList;
  return {};
}

}  // namespace uop
