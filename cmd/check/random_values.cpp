#include "cmd/check/random_values.h"

#include <algorithm>

namespace uop {
namespace {

constexpr DType kTypes[] = {DType::F32, DType::F32, DType::F32, DType::I32, DType::I32, DType::Bool, DType::I8, DType::U8, DType::I16, DType::U16,
                            DType::U32, DType::I64, DType::U64, DType::F16, DType::BF16, DType::F64};
constexpr unsigned kMaxRounded = 3;
constexpr double kMaxRoundedMagnitude = 1024;

}  // namespace

double exactLimit(DType d) {
  switch (d) {
    case DType::BF16: return 256;
    case DType::F16: return 2048;
    case DType::F32: return 1 << 24;
    case DType::F64: return 0x1p53;
    default: return INFINITY;
  }
}

struct ValuePool::Row {
  Step step;
  unsigned weight;
  bool scalars;  // keeps the shape
};
const ValuePool::Row ValuePool::kSteps[] = {
    {&ValuePool::unary, 14, true},     {&ValuePool::binary, 22, true},        {&ValuePool::compare, 6, true},   {&ValuePool::select, 6, true},
    {&ValuePool::convert, 8, true},    {&ValuePool::integer, 8, true},        {&ValuePool::floorBinary, 3, true}, {&ValuePool::oddConstant, 3, true},
    {&ValuePool::move, 24, false},     {&ValuePool::pad, 5, false},           {&ValuePool::expand, 5, false},   {&ValuePool::load, 2, false},
    {&ValuePool::stage, 3, false},     {&ValuePool::reduce, 14, false},       {&ValuePool::broadcastBack, 5, false}, {&ValuePool::squares, 2, false},
    {&ValuePool::matrix, 4, false},    {&ValuePool::normalize, 4, false},     {&ValuePool::gather, 3, false},   {&ValuePool::prefixSum, 2, false},
    {&ValuePool::scatter, 3, false},   {&ValuePool::masked, 3, false},        {&ValuePool::stencil, 3, false}};

void ValuePool::step() {
  unsigned all = 0;
  for (const Row& row : kSteps) all += scalars_ && !row.scalars ? 0 : row.weight;
  auto at = static_cast<unsigned>(rng_.below(all));
  for (const Row& row : kSteps) {
    if (scalars_ && !row.scalars) continue;
    if (at < row.weight) return (this->*row.step)();
    at -= row.weight;
  }
}

DType ValuePool::randomType() { return rng_.pick(kTypes); }

std::vector<Dim> ValuePool::randomShape(size_t mostRank) {
  constexpr Dim kDims[] = {1, 2, 2, 3, 3, 4, 5, 7, 8}, kLong[] = {16, 17, 31, 33, 64, 100, 129, 1000, 4097, 9000};
  bool large = options_.maxElements > 256;
  std::vector<Dim> out;
  int64_t count = 1;
  for (uint64_t rank = rng_.below(mostRank + 1); rank > 0; --rank) {
    Dim d = rng_.chance(2) ? 0 : large && rng_.chance(40) ? rng_.pick(kLong) : rng_.pick(kDims);
    if (count * d > options_.maxElements) d = 1;
    count *= d;
    out.push_back(d);
  }
  return out;
}

NodeId ValuePool::add(NodeId n, Trust t) {
  if (trust_.emplace(n, t).second) values_.push_back(n);
  return n;
}

// A new value, if others can still be made of it; else one to end with, if it can be compared at all.
NodeId ValuePool::keep(NodeId n, Trust t) {
  DType d = g_.dtype(n);
  bool half = d == DType::F16 || d == DType::BF16, finite = t.most <= kMaxRoundedMagnitude;
  if (g_.elements(n) > options_.maxElements) return kNoNode;
  if (t.rounded == 0 || (t.rounded < kMaxRounded && finite && !half)) return add(n, t);
  if (finite && t.rounded <= (half ? 2 : kMaxRounded) && trust_.emplace(n, t).second) ends_.push_back(n);
  return kNoNode;
}

Trust ValuePool::with(DType d, double most, std::initializer_list<NodeId> from, bool rounds) const {
  Trust out{isFloat(d) ? most : INFINITY};
  if (!isFloat(d)) return out;
  for (NodeId n : from) {
    if (!isFloat(g_.dtype(n))) continue;
    Trust t = trust(n);
    out.rounded = std::max(out.rounded, t.rounded);
    out.special |= t.special, out.signless |= t.signless;
  }
  if (rounds || out.rounded > 0 || most > exactLimit(d)) ++out.rounded;
  return out;
}

bool ValuePool::summable(NodeId n) const {
  Trust t = trust(n);
  return !isFloat(g_.dtype(n)) || (t.rounded == 0 && !t.special && t.most <= exactLimit(g_.dtype(n)));
}

NodeId ValuePool::filled(DType d, Scalar value, std::span<const Dim> shape) {
  NodeId c = g_.constant(d, value);
  if (shape.empty()) return c;
  std::vector<Dim> ones(shape.size(), 1);
  return g_.expand(g_.reshape(c, ones), shape);
}

NodeId ValuePool::tensor(DType d, double value, std::span<const Dim> shape) {
  return filled(d, isFloat(d) ? Scalar::ofDouble(roundTo(value, d)) : Scalar::ofInt(static_cast<int64_t>(value)), shape);
}

NodeId ValuePool::fit(NodeId x, std::span<const Dim> shape) {
  if (std::ranges::equal(g_.shape(x), shape)) return x;
  Trust t = trust(x);
  int64_t have = g_.elements(x), want = 1;
  for (Dim d : shape) want *= d;
  Dim flat[] = {have};
  NodeId y = g_.reshape(x, flat);
  if (have > want) y = listed(Op::Shrink, AttrKey::Bounds, y, std::array<int64_t, 2>{0, want});
  if (have < want) y = listed(Op::Pad, AttrKey::PadKey, y, std::array<int64_t, 2>{0, want - have});
  return add(g_.reshape(y, shape), t);
}

NodeId ValuePool::asType(NodeId x, DType d) {
  if (g_.dtype(x) == d) return x;
  NodeId from = exact(x) ? x : exactValue();  // another type is compared by another measure
  double most = isFloat(d) ? trust(from).most : INFINITY;
  if (g_.dtype(from) == DType::Bool) most = 1;
  if (isInteger(g_.dtype(from)) && isFloat(d) && rng_.chance(80)) {
    from = add(g_.binary(Op::FloorMod, from, tensor(g_.dtype(from), 7, g_.shape(from))), {INFINITY});
    most = 7;
  }
  // One rounding of an exact value is the same everywhere, but sums of such values are not.
  Trust t = with(d, 0, {from});
  t.most = most > exactLimit(d) ? INFINITY : most;
  t.special |= t.most == INFINITY && isFloat(d);
  return add(g_.cast(fit(from, g_.shape(x)), d), t);
}

NodeId ValuePool::tame(NodeId x, DType d, std::span<const Dim> shape, double most) {
  auto good = [&](NodeId n) { return !isFloat(g_.dtype(n)) || (summable(n) && trust(n).most <= most); };
  for (int i = 0; i < 8 && !good(x); ++i) x = any();
  if (!good(x)) return add(tensor(d, 1, shape), {1});
  NodeId y = asType(fit(x, shape), d);
  return good(y) ? y : add(tensor(d, 2, shape), {2});
}

NodeId ValuePool::exactValue() {
  for (int i = 0; i < 8; ++i)
    if (NodeId x = any(); exact(x)) return x;
  for (NodeId x : values_)
    if (exact(x)) return x;
  return add(g_.constInt(DType::I32, 1), {INFINITY});
}

NodeId ValuePool::ofKind(bool (*kind)(DType), DType otherwise) {
  for (int i = 0; i < 8; ++i)
    if (NodeId x = any(); kind(g_.dtype(x))) return x;
  return asType(any(), otherwise);
}

NodeId ValuePool::wholeNumber(int64_t below) {
  if (rng_.chance(30)) return g_.index(rng_.between(0, below - 1));
  std::vector<NodeId> found;
  for (NodeId n : values_)
    if (g_.rank(n) == 0 && isInteger(g_.dtype(n))) found.push_back(n);
  if (found.empty()) {
    NodeId x = ofKind([](DType d) { return isInteger(d); }, DType::I32);
    found = {add(g_.reduce(x, {}, ReduceOp::Max, static_cast<int64_t>(g_.rank(x))), {INFINITY})};
  }
  NodeId x = rng_.pick(found);
  if (static_cast<uint64_t>(below) > maxValue(g_.dtype(x))) x = g_.cast(x, DType::Index);
  return g_.binary(Op::FloorMod, x, g_.constInt(g_.dtype(x), below));
}

}  // namespace uop
