#include "cmd/check/random_values.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace uop {
namespace {

constexpr DType kTypes[] = {DType::F32, DType::F32, DType::F32, DType::I32, DType::I32, DType::Bool, DType::I8, DType::U8, DType::I16, DType::U16,
                            DType::U32, DType::I64, DType::U64, DType::F16, DType::BF16, DType::F64};
constexpr double kLeaf = 4;
constexpr unsigned kMaxRounded = 3;
constexpr double kMaxRoundedMagnitude = 1024;

// Integers up to here are exact.
double exactLimit(DType d) {
  switch (d) {
    case DType::BF16: return 256;
    case DType::F16: return 2048;
    case DType::F32: return 1 << 24;
    case DType::F64: return 0x1p53;
    default: return INFINITY;
  }
}

}  // namespace

double ValuePool::leafMost(DType d) { return isFloat(d) ? kLeaf : INFINITY; }

DType ValuePool::randomType() { return rng_.pick(kTypes); }

std::vector<Dim> ValuePool::randomShape() {
  constexpr Dim kDims[] = {1, 2, 2, 3, 3, 4, 5, 7, 8};
  std::vector<Dim> out;
  int64_t count = 1;
  for (uint64_t rank = rng_.below(5); rank > 0; --rank) {
    Dim d = rng_.chance(2) ? 0 : rng_.pick(kDims);
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

// A new value, if others can still be made of it.
NodeId ValuePool::keep(NodeId n, Trust t) {
  bool far = t.rounded > kMaxRounded || (t.rounded > 0 && !(t.most <= kMaxRoundedMagnitude));
  bool half = t.rounded > 0 && (g_.dtype(n) == DType::F16 || g_.dtype(n) == DType::BF16);
  if (far || half || g_.elements(n) > options_.maxElements) return kNoNode;
  return add(n, t);
}

Trust ValuePool::with(DType d, double most, std::initializer_list<NodeId> from, bool rounds) const {
  Trust out{most, 0};
  for (NodeId n : from) out.rounded = std::max(out.rounded, trust(n).rounded);
  if (!isFloat(d)) return out;
  if (rounds || out.rounded > 0 || most > exactLimit(d)) ++out.rounded;
  return out;
}

NodeId ValuePool::tensor(DType d, double value, std::span<const Dim> shape) {
  NodeId c = g_.constant(d, isFloat(d) ? Scalar::ofDouble(roundTo(value, d)) : Scalar::ofInt(static_cast<int64_t>(value)));
  if (shape.empty()) return c;
  std::vector<Dim> ones(shape.size(), 1);
  return g_.expand(g_.reshape(c, ones), shape);
}

NodeId ValuePool::fit(NodeId x, std::span<const Dim> shape) {
  Trust t = trust(x);
  int64_t have = g_.elements(x), want = 1;
  for (Dim d : shape) want *= d;
  if (std::ranges::equal(g_.shape(x), shape)) return x;
  Dim flat[] = {have};
  NodeId y = g_.reshape(x, flat);
  if (have > want) y = g_.make(Op::Shrink, {y}, Attrs().set(AttrKey::Bounds, g_.list({0, want})));
  if (have < want) y = g_.make(Op::Pad, {y}, Attrs().set(AttrKey::PadKey, g_.list({0, want - have})));
  y = g_.reshape(y, shape);
  return add(y, t);
}

NodeId ValuePool::asType(NodeId x, DType d) {
  if (g_.dtype(x) == d) return x;
  NodeId from = exact(x) ? x : exactValue();  // another type is compared by another measure
  bool wide = isInteger(g_.dtype(from)) && isFloat(d);
  // Large integers in floats are rounded alike everywhere, but no sums of them are.
  double most = wide ? INFINITY : isFloat(d) ? std::min(trust(from).most, 1.0 + trust(from).most) : INFINITY;
  if (g_.dtype(from) == DType::Bool) most = 1;
  if (wide) {
    NodeId seven = tensor(g_.dtype(from), 7, g_.shape(from));
    from = add(g_.binary(Op::FloorMod, from, seven), {7, 0});
    most = 7;
  }
  NodeId y = g_.cast(fit(from, g_.shape(x)), d);
  return add(y, with(d, most, {from}));
}

NodeId ValuePool::exactValue() {
  for (int i = 0; i < 8; ++i)
    if (NodeId x = any(); exact(x)) return x;
  return values_[0];
}

NodeId ValuePool::ofKind(bool (*kind)(DType), DType otherwise) {
  for (int i = 0; i < 8; ++i)
    if (NodeId x = any(); kind(g_.dtype(x))) return x;
  return asType(any(), otherwise);
}

void ValuePool::unary() {
  NodeId x = any();
  DType d = g_.dtype(x);
  if (d == DType::Bool) return;
  if (!isFloat(d) || rng_.chance(30)) return void(keep(g_.unary(Op::Neg, x), trust(x)));
  double most = trust(x).most;
  auto shape = g_.shape(x);
  auto rounded = [&](NodeId y, double top) { keep(y, with(d, top, {x}, true)); };
  switch (rng_.below(6)) {
    case 0: return rounded(g_.unary(Op::Exp2, g_.binary(Op::Mul, x, tensor(d, 0.125, shape))), std::exp2(most / 8));
    case 1: return rounded(g_.unary(Op::Log2, g_.binary(Op::Add, g_.binary(Op::Mul, x, x), tensor(d, 2, shape))), 2 + 2 * std::log2(most + 2));
    case 2: return rounded(g_.unary(Op::Sin, x), 1);
    case 3: return rounded(g_.unary(Op::Recip, g_.binary(Op::Add, g_.binary(Op::Mul, x, x), tensor(d, 1, shape))), 1);
    case 4: return rounded(g_.unary(Op::Sqrt, g_.binary(Op::Mul, x, x)), most);
    default:
      if (exact(x)) keep(g_.unary(Op::Trunc, x), trust(x));
  }
}

void ValuePool::binary() {
  NodeId x = any(), y = any();
  y = asType(fit(y, g_.shape(x)), g_.dtype(x));
  DType d = g_.dtype(x);
  double a = trust(x).most, b = trust(y).most;
  switch (rng_.below(3)) {
    case 0:
      // What is rounded may cancel, and then nothing but rounding is left.
      if (d != DType::Bool && exact(x) && exact(y)) keep(g_.binary(Op::Add, x, y), with(d, a + b, {x, y}));
      return;
    case 1: return void(keep(g_.binary(Op::Mul, x, y), with(d, a * b, {x, y})));
    default: return void(keep(g_.binary(Op::Max, x, y), with(d, std::max(a, b), {x, y})));
  }
}

void ValuePool::compare() {
  NodeId x = exactValue(), y = exactValue();
  y = asType(fit(y, g_.shape(x)), g_.dtype(x));
  keep(g_.binary(rng_.chance(60) ? Op::CmpLt : Op::CmpNe, x, y), {1, 0});
}

void ValuePool::select() {
  NodeId x = any(), y = any(), c = ofKind([](DType d) { return d == DType::Bool; }, DType::Bool);
  y = asType(fit(y, g_.shape(x)), g_.dtype(x));
  c = asType(fit(c, g_.shape(x)), DType::Bool);
  keep(g_.where(c, x, y), with(g_.dtype(x), std::max(trust(x).most, trust(y).most), {x, y}));
}

void ValuePool::convert() {
  NodeId x = any();
  DType d = randomType();
  if (rng_.chance(20) && isInteger(g_.dtype(x)) && isInteger(d) && byteSize(d) == byteSize(g_.dtype(x)) && d != g_.dtype(x))
    return void(keep(g_.make(Op::Bitcast, {x}, Attrs().set(AttrKey::DTypeKey, static_cast<int64_t>(d))), {INFINITY, 0}));
  asType(x, d);
}

void ValuePool::move() {
  NodeId x = any();
  auto shape = g_.shape(x);
  size_t rank = shape.size();
  Trust t = trust(x);
  auto attr = [&](Op op, AttrKey key, const std::vector<int64_t>& list) { return g_.make(op, {x}, Attrs().set(key, g_.list(list))); };
  if (rank == 0) return void(fit(x, randomShape()));
  size_t axis = rng_.below(rank);
  switch (rng_.below(7)) {
    case 0: {
      std::vector<int64_t> axes(rank);
      std::iota(axes.begin(), axes.end(), 0);
      for (size_t i = rank; i > 1; --i) std::swap(axes[i - 1], axes[rng_.below(i)]);
      return void(keep(g_.permute(x, axes), t));
    }
    case 1: return void(keep(attr(Op::Flip, AttrKey::Axes, {static_cast<int64_t>(axis)}), t));
    case 2: {
      std::vector<int64_t> pad(2 * rank);
      pad[2 * axis] = rng_.between(0, 2), pad[2 * axis + 1] = rng_.between(0, 2);
      return void(keep(attr(Op::Pad, AttrKey::PadKey, pad), t));
    }
    case 3: {
      std::vector<int64_t> bounds;
      for (Dim d : shape) bounds.push_back(0), bounds.push_back(d);
      if (shape[axis] > 0) bounds[2 * axis] = rng_.between(0, shape[axis] - 1), bounds[2 * axis + 1] = rng_.between(bounds[2 * axis], shape[axis]);
      return void(keep(attr(Op::Shrink, AttrKey::Bounds, bounds), t));
    }
    case 4: {
      std::vector<Dim> to(shape.begin(), shape.end());
      for (Dim& d : to)
        if (d == 1 && rng_.chance(60)) d = rng_.between(1, 4);
      if (rng_.chance(40) && rank < 5) to.insert(to.begin(), rng_.between(1, 3));
      return void(keep(g_.expand(x, to), t));
    }
    case 5: {  // merge two axes, or split one
      std::vector<Dim> to(shape.begin(), shape.end());
      if (axis + 1 < rank) {
        to[axis] *= to[axis + 1];
        to.erase(to.begin() + static_cast<long>(axis) + 1);
      } else if (to[axis] % 2 == 0 && to[axis] > 0) {
        to[axis] /= 2;
        to.push_back(2);
      } else {
        to.push_back(1);
      }
      return void(keep(g_.reshape(x, to), t));
    }
    default: return void(fit(x, randomShape()));
  }
}

NodeId ValuePool::permuteToFront(NodeId x, size_t axis) {
  std::vector<int64_t> axes{static_cast<int64_t>(axis)};
  for (size_t i = 0; i < g_.rank(x); ++i)
    if (i != axis) axes.push_back(static_cast<int64_t>(i));
  return g_.permute(x, axes);
}

void ValuePool::reduce() {
  NodeId x = any();
  if (g_.rank(x) == 0) return;
  DType d = g_.dtype(x);
  Trust t = trust(x);
  NodeId y = rng_.chance(60) ? permuteToFront(x, rng_.below(g_.rank(x))) : x;
  auto n = static_cast<int64_t>(rng_.between(1, static_cast<int64_t>(std::min<size_t>(2, g_.rank(y)))));
  double terms = 1;
  for (int64_t i = 0; i < n; ++i) terms *= static_cast<double>(g_.shape(y)[static_cast<size_t>(i)]);
  auto op = static_cast<ReduceOp>(rng_.below(3));
  if (op == ReduceOp::Add && (d == DType::Bool || !exact(x))) op = ReduceOp::Max;
  if (op == ReduceOp::Mul && isFloat(d) && std::pow(std::max(1.0, t.most), terms) > exactLimit(d)) op = ReduceOp::Add;
  double most = op == ReduceOp::Add ? t.most * terms : op == ReduceOp::Mul ? std::pow(std::max(1.0, t.most), terms) : t.most;
  if (op == ReduceOp::Max && terms == 0 && isFloat(d)) return;  // -inf
  keep(g_.reduce(y, {}, op, n), with(d, std::max(most, 1.0), {x}));
}

void ValuePool::integer() {
  NodeId x = ofKind([](DType d) { return isInteger(d); }, DType::I32), y = any();
  y = asType(fit(y, g_.shape(x)), g_.dtype(x));
  constexpr Op kOps[] = {Op::FloorDiv, Op::FloorMod, Op::And, Op::Or, Op::Xor, Op::Shl, Op::Shr};
  if (rng_.chance(40)) y = tensor(g_.dtype(x), static_cast<double>(rng_.between(0, 9)), g_.shape(x));
  keep(g_.binary(rng_.pick(kOps), x, y), {INFINITY, 0});
}

// [m,k] times [k,n], as a REDUCE of products.
void ValuePool::matrix() {
  Dim m = rng_.between(1, 5), k = rng_.between(1, 6), n = rng_.between(1, 5);
  NodeId a = any();
  DType d = g_.dtype(a) == DType::Bool ? DType::I32 : g_.dtype(a);
  Dim left[] = {k, m, 1}, right[] = {k, 1, n}, all[] = {k, m, n};
  NodeId x = asType(fit(a, left), d), y = asType(fit(any(), right), d);
  if (!exact(x) || !exact(y)) return;
  double most = trust(x).most * trust(y).most * static_cast<double>(k);
  NodeId product = g_.binary(Op::Mul, g_.expand(x, all), g_.expand(y, all));
  keep(g_.reduce(product, {}, ReduceOp::Add, 1), with(d, most, {x, y}));
}

// A softmax, or what centres rows: a value used by reductions and by what they scale.
void ValuePool::normalize() {
  Dim rows = rng_.between(1, 5), columns = rng_.between(1, 9), shape[] = {columns, rows}, one[] = {1, rows};
  NodeId x = asType(fit(any(), shape), DType::F32);
  if (trust(x).most > 64 || !exact(x)) return;
  bool softmax = rng_.chance(50);
  NodeId m = g_.reduce(x, {}, softmax ? ReduceOp::Max : ReduceOp::Add, 1);
  if (!softmax) m = g_.binary(Op::Mul, m, tensor(DType::F32, 1.0 / static_cast<double>(columns), g_.shape(m)));
  NodeId centred = g_.binary(Op::Add, x, g_.unary(Op::Neg, g_.expand(g_.reshape(m, one), shape)));
  NodeId e = softmax ? g_.unary(Op::Exp2, centred) : g_.binary(Op::Mul, centred, centred);
  NodeId s = g_.reduce(e, {}, ReduceOp::Add, 1);
  NodeId scale = g_.unary(Op::Recip, g_.binary(Op::Add, s, tensor(DType::F32, 1, g_.shape(s))));
  NodeId y = g_.binary(Op::Mul, softmax ? e : centred, g_.expand(g_.reshape(scale, one), shape));
  // Rows that are all alike leave zeros up to rounding.
  if (!softmax) y = g_.binary(Op::Add, y, tensor(DType::F32, 128, shape));
  keep(y, with(DType::F32, 192, {x}, true));
}

// [n,n] whose column i holds the last i + 1 elements that x begins with: the sum of the rows is its prefix sum.
NodeId ValuePool::windows(NodeId x, Dim n) {
  Dim row[] = {1, 2 * n - 1}, stretched[] = {n + 1, 2 * n - 1}, flat[] = {(n + 1) * (2 * n - 1)}, rows[] = {n, 2 * n};
  NodeId padded = g_.reshape(g_.make(Op::Pad, {x}, Attrs().set(AttrKey::PadKey, g_.list({n - 1, 0}))), row);
  NodeId cut = g_.make(Op::Shrink, {g_.reshape(g_.expand(padded, stretched), flat)}, Attrs().set(AttrKey::Bounds, g_.list({0, 2 * n * n})));
  return g_.make(Op::Shrink, {g_.reshape(cut, rows)}, Attrs().set(AttrKey::Bounds, g_.list({0, n, 0, n})));
}

// table[index], written as arange == index under a sum.
void ValuePool::gather() {
  Dim n = rng_.between(2, 8), count = rng_.between(1, 5), width = rng_.between(1, 4);
  Dim ofTable[] = {n, 1, width}, ofIndex[] = {1, count, 1}, all[] = {n, count, width}, line[] = {n}, column[] = {n, 1, 1};
  NodeId table = fit(any(), ofTable);
  if (g_.dtype(table) == DType::Bool) return;
  NodeId index = asType(fit(ofKind([](DType d) { return isInteger(d); }, DType::I32), ofIndex), DType::I32);
  NodeId ones = tensor(DType::I32, 1, line);
  NodeId arange = g_.reduce(windows(ones, n), {}, ReduceOp::Add, 1);
  NodeId hit = g_.binary(Op::CmpNe, g_.expand(g_.reshape(arange, column), all), g_.expand(index, all));
  NodeId zero = tensor(g_.dtype(table), 0, all);
  keep(g_.reduce(g_.where(hit, zero, g_.expand(table, all)), {}, ReduceOp::Add, 1), trust(table));
}

void ValuePool::prefixSum() {
  Dim n = rng_.between(1, 8), line[] = {n};
  NodeId x = fit(any(), line);
  DType d = g_.dtype(x);
  if (d == DType::Bool || !exact(x)) return;
  keep(g_.reduce(windows(x, n), {}, ReduceOp::Add, 1), with(d, trust(x).most * static_cast<double>(n), {x}));
}

void ValuePool::stage() {
  NodeId x = any();
  if (g_[x].place) return;
  add(g_.stage(x, {}, rng_.chance(80) ? Space::Global : Space::Local), trust(x));
}

void ValuePool::step() {
  static constexpr std::pair<Step, unsigned> kSteps[] = {
      {&ValuePool::unary, 12}, {&ValuePool::binary, 22}, {&ValuePool::compare, 6}, {&ValuePool::select, 6}, {&ValuePool::convert, 8},
      {&ValuePool::move, 24},  {&ValuePool::reduce, 14}, {&ValuePool::integer, 8}, {&ValuePool::matrix, 4}, {&ValuePool::normalize, 4},
      {&ValuePool::gather, 3}, {&ValuePool::prefixSum, 2}, {&ValuePool::stage, 2}};
  unsigned all = 0;
  for (auto [step, weight] : kSteps) all += weight;
  auto at = static_cast<unsigned>(rng_.below(all));
  for (auto [step, weight] : kSteps) {
    if (at < weight) return (this->*step)();
    at -= weight;
  }
}

}  // namespace uop
