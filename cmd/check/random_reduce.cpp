// Steps of the pool that reduce, and idioms made of reductions.
#include <algorithm>

#include "cmd/check/random_values.h"
#include "ir/eval.h"

namespace uop {

// Over the leading axes: with an operator that suits what x holds.
NodeId ValuePool::reduceOf(NodeId x, size_t axes) {
  DType d = g_.dtype(x);
  Trust t = trust(x);
  double terms = 1;
  for (size_t i = 0; i < axes; ++i) terms *= static_cast<double>(g_.shape(x)[i]);
  auto op = static_cast<ReduceOp>(rng_.below(3));
  double product = std::pow(std::max(1.0, t.most), std::max(terms, 1.0));
  if (op == ReduceOp::Mul && isFloat(d) && !(exact(x) && product <= exactLimit(d))) op = ReduceOp::Add;
  if (op == ReduceOp::Add && (d == DType::Bool || !summable(x) || t.most * terms > exactLimit(d))) op = ReduceOp::Max;
  Trust out = with(d, op == ReduceOp::Add ? t.most * terms : op == ReduceOp::Mul ? product : t.most, {x});
  if (exact(x)) out.rounded = 0;
  out.special |= op == ReduceOp::Max && terms == 0;
  out.signless |= op != ReduceOp::Mul;
  return keep(g_.reduce(x, {}, op, static_cast<int64_t>(axes)), out);
}

void ValuePool::reduce() {
  NodeId x = any();
  if (g_.rank(x) == 0) return;
  NodeId y = rng_.chance(60) ? permuted(x) : x;
  add(y, trust(x));
  reduceOf(y, rng_.between(rng_.chance(5) ? 0 : 1, static_cast<int64_t>(g_.rank(y))));
}

// A value beside its own reductions over one axis, then over another.
void ValuePool::broadcastBack() {
  NodeId x = any();
  std::vector<Dim> shape(g_.shape(x).begin(), g_.shape(x).end());
  if (shape.empty() || !summable(x)) return;
  NodeId sum = x;
  for (uint64_t times = 1 + rng_.below(2); times > 0; --times) {
    size_t axis = rng_.below(shape.size());
    std::vector<int64_t> front{static_cast<int64_t>(axis)};
    for (size_t i = 0; i < shape.size(); ++i)
      if (i != axis) front.push_back(static_cast<int64_t>(i));
    NodeId reduced = reduceOf(add(g_.permute(x, front), trust(x)), 1);
    if (reduced == kNoNode || g_.dtype(x) == DType::Bool || !summable(reduced)) return;
    std::vector<Dim> one = shape;
    one[axis] = 1;
    NodeId back = g_.reshape(reduced, one);
    if (rng_.chance(50)) back = g_.expand(back, shape);
    sum = keep(g_.binary(Op::Add, sum, add(back, trust(reduced))), with(g_.dtype(x), trust(sum).most + trust(reduced).most, {sum, reduced}));
    if (sum == kNoNode) return;
  }
}

// Terms that are rounded, but all of one sign.
void ValuePool::squares() {
  NodeId x = any();
  Trust t = trust(x);
  if (!isFloat(g_.dtype(x)) || g_.rank(x) == 0 || t.special) return;
  auto n = static_cast<double>(g_.shape(x)[0]);
  keep(g_.reduce(g_.binary(Op::Mul, x, x), {}, ReduceOp::Add, 1), with(g_.dtype(x), t.most * t.most * n, {x}, true));
}

// [m,k] times [k,n], as a REDUCE of products.
void ValuePool::matrix() {
  Dim m = rng_.between(1, 5), k = rng_.between(1, 6), n = rng_.between(1, 5);
  NodeId a = any();
  DType d = g_.dtype(a) == DType::Bool ? DType::I32 : g_.dtype(a);
  Dim left[] = {k, m, 1}, right[] = {k, 1, n}, all[] = {k, m, n};
  NodeId x = asType(fit(a, left), d), y = asType(fit(any(), right), d);
  if (!summable(x) || !summable(y)) return;
  double most = trust(x).most * trust(y).most * static_cast<double>(k);
  if (most > exactLimit(d)) return;
  NodeId product = g_.binary(Op::Mul, g_.expand(x, all), g_.expand(y, all));
  Trust t = with(d, most, {x, y});
  t.signless = true;
  keep(g_.reduce(product, {}, ReduceOp::Add, 1), t);
}

// A softmax, or what centres rows: a value used by reductions and by what they scale.
void ValuePool::normalize() {
  DType d = rng_.chance(70) ? DType::F32 : DType::F64;
  Dim rows = rng_.between(1, 5), columns = rng_.between(1, 9), shape[] = {columns, rows}, one[] = {1, rows};
  NodeId x = tame(any(), d, shape, 64);
  bool softmax = rng_.chance(50);
  NodeId m = g_.reduce(x, {}, softmax ? ReduceOp::Max : ReduceOp::Add, 1);
  if (!softmax) m = g_.binary(Op::Mul, m, tensor(d, 1.0 / static_cast<double>(columns), g_.shape(m)));
  NodeId centred = g_.binary(Op::Add, x, g_.unary(Op::Neg, g_.expand(g_.reshape(m, one), shape)));
  NodeId e = softmax ? g_.unary(Op::Exp2, centred) : g_.binary(Op::Mul, centred, centred);
  NodeId s = g_.reduce(e, {}, ReduceOp::Add, 1);
  NodeId scale = g_.unary(Op::Recip, g_.binary(Op::Add, s, tensor(d, 1, g_.shape(s))));
  NodeId y = g_.binary(Op::Mul, softmax ? e : centred, g_.expand(g_.reshape(scale, one), shape));
  // Rows that are all alike leave zeros up to rounding.
  if (!softmax) y = g_.binary(Op::Add, y, tensor(d, 128, shape));
  keep(y, with(d, 192, {x}, true));
}

// [n,n] whose column i holds the last i + 1 elements that x begins with: the sum of the rows is its prefix sum.
NodeId ValuePool::windows(NodeId x, Dim n) {
  Dim row[] = {1, 2 * n - 1}, stretched[] = {n + 1, 2 * n - 1}, flat[] = {(n + 1) * (2 * n - 1)}, rows[] = {n, 2 * n};
  NodeId padded = g_.reshape(listed(Op::Pad, AttrKey::PadKey, x, std::array<int64_t, 2>{n - 1, 0}), row);
  NodeId cut = listed(Op::Shrink, AttrKey::Bounds, g_.reshape(g_.expand(padded, stretched), flat), std::array<int64_t, 2>{0, 2 * n * n});
  return listed(Op::Shrink, AttrKey::Bounds, g_.reshape(cut, rows), std::array<int64_t, 4>{0, n, 0, n});
}

// 1 … n, or a run of numbers near it, along one axis of `shape`.
NodeId ValuePool::arange(DType d, std::span<const Dim> shape, size_t axis) {
  Dim n = shape[axis], line[] = {n};
  std::vector<Dim> alone(shape.size(), 1);
  alone[axis] = n;
  NodeId run = g_.reduce(windows(tensor(d, 1, line), n), {}, ReduceOp::Add, 1);
  if (rng_.chance(30)) run = g_.binary(Op::Add, run, tensor(d, static_cast<double>(rng_.below(3)), line));
  if (isSigned(d) && rng_.chance(20)) run = g_.binary(Op::Add, g_.unary(Op::Neg, run), tensor(d, static_cast<double>(n), line));
  return g_.expand(g_.reshape(run, alone), shape);
}

// Whether arange along `axis` differs from an index along `other`.
NodeId ValuePool::missed(std::span<const Dim> shape, size_t axis, size_t other) {
  DType at = rng_.chance(60) ? DType::I32 : rng_.chance(50) ? DType::I64 : DType::U8;
  std::vector<Dim> ofIndex(shape.size(), 1);
  ofIndex[other] = shape[other];
  NodeId index = asType(fit(ofKind([](DType t) { return isInteger(t); }, at), ofIndex), at);
  return g_.binary(Op::CmpNe, arange(at, shape, axis), g_.expand(index, shape));
}

// table[index], written as arange == index under a sum.
void ValuePool::gather() {
  Dim n = rng_.between(2, 8), count = rng_.between(1, 5), width = rng_.between(1, 4);
  Dim ofTable[] = {n, 1, width}, all[] = {n, count, width};
  NodeId table = fit(any(), ofTable);
  DType d = g_.dtype(table);
  if (d == DType::Bool) return;
  NodeId miss = missed(all, 0, 1);
  Trust t = trust(table);
  t.signless = true;
  if (rng_.chance(60)) return void(keep(g_.reduce(g_.where(miss, tensor(d, 0, all), g_.expand(table, all)), {}, ReduceOp::Add, 1), t));
  // As a product with the hit: what a false one multiplies may be left out, so it must be finite.
  if (t.special) return;
  NodeId hit = g_.cast(g_.binary(Op::CmpNe, miss, tensor(DType::Bool, 1, all)), d);
  keep(g_.reduce(g_.binary(Op::Mul, hit, g_.expand(table, all)), {}, ReduceOp::Add, 1), t);
}

// Its gradient: rows added up, or their maximum taken, in the element that an index names.
void ValuePool::scatter() {
  Dim count = rng_.between(1, 6), n = rng_.between(2, 8), width = rng_.between(1, 3);
  Dim ofRows[] = {count, 1, width}, all[] = {count, n, width};
  NodeId rows = fit(any(), ofRows);
  DType d = g_.dtype(rows);
  Trust t = with(d, trust(rows).most * static_cast<double>(count), {rows});
  if (d == DType::Bool || !summable(rows) || t.most > exactLimit(d)) return;
  t.signless = true;
  NodeId term = g_.where(missed(all, 1, 0), tensor(d, 0, all), g_.expand(rows, all));
  keep(g_.reduce(term, {}, ReduceOp::Add, 1), t);
}

// A sum, or a maximum, of what a comparison of places along two axes lets through: causal masks and windows.
void ValuePool::masked() {
  Dim all[] = {rng_.between(1, 24), rng_.between(1, 6)};
  NodeId x = fit(any(), all);
  DType d = g_.dtype(x);
  bool max = d == DType::Bool || !summable(x) || rng_.chance(30);
  Trust t = with(d, trust(x).most * (max ? 1 : static_cast<double>(all[0])), {x});
  if (t.most > exactLimit(d) && !max) return;
  t.special |= max && isFloat(d);
  t.signless = true;
  if (max) t.rounded = trust(x).rounded;
  NodeId k = arange(DType::I32, all, 0), i = arange(DType::I32, all, 1);
  NodeId keeps = rng_.chance(50) ? g_.binary(Op::CmpLt, k, i) : g_.binary(Op::CmpLt, i, k);
  if (rng_.chance(30)) keeps = g_.binary(Op::And, keeps, g_.binary(Op::CmpLt, k, g_.binary(Op::Add, i, tensor(DType::I32, 5, all))));
  ReduceOp op = max ? ReduceOp::Max : ReduceOp::Add;
  NodeId hidden = filled(d, identityOf(op, d), all);
  NodeId term = rng_.chance(50) ? g_.where(keeps, x, hidden) : g_.where(g_.binary(Op::CmpNe, keeps, tensor(DType::Bool, 1, all)), hidden, x);
  keep(g_.reduce(term, {}, op, 1), t);
}

void ValuePool::prefixSum() {
  Dim n = rng_.between(1, 8), line[] = {n};
  NodeId x = fit(any(), line);
  DType d = g_.dtype(x);
  if (d == DType::Bool || !summable(x) || trust(x).most * static_cast<double>(n) > exactLimit(d)) return;
  Trust t = with(d, trust(x).most * static_cast<double>(n), {x});
  t.signless = true;
  keep(g_.reduce(windows(x, n), {}, ReduceOp::Add, 1), t);
}

}  // namespace uop
