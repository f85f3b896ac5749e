// Steps of the pool that keep shapes.
#include <algorithm>

#include "cmd/check/random_values.h"

namespace uop {

// y brought to a dtype and shape that goes with x: the same, or one that broadcasts with it.
NodeId ValuePool::partner(NodeId x, NodeId y) {
  std::vector<Dim> shape(g_.shape(x).begin(), g_.shape(x).end());
  if (rng_.chance(40)) {
    for (Dim& d : shape)
      if (rng_.chance(40)) d = 1;
    shape.erase(shape.begin(), shape.begin() + static_cast<long>(rng_.below(shape.size() + 1)));
  }
  return asType(fit(y, shape), g_.dtype(x));
}

void ValuePool::unary() {
  NodeId x = any();
  DType d = g_.dtype(x);
  if (rng_.chance(10)) return void(keep(g_.unary(Op::Detach, x), trust(x)));
  if (d == DType::Bool) return;
  if (!isFloat(d) || rng_.chance(25)) return void(keep(g_.unary(Op::Neg, x), trust(x)));
  if (rng_.chance(30)) return wild(x);
  unaryFloat(x);
}

// Arguments that keep clear of infinities and NaN.
void ValuePool::unaryFloat(NodeId x) {
  DType d = g_.dtype(x);
  double most = trust(x).most;
  auto rounded = [&](NodeId y, double top) { keep(y, with(d, top, {x}, true)); };
  auto squared = [&] { return g_.binary(Op::Mul, x, x); };
  auto shape = g_.shape(x);
  if (most > 64) return;
  switch (rng_.below(6)) {
    case 0: return rounded(g_.unary(Op::Exp2, g_.binary(Op::Mul, x, tensor(d, 0.125, shape))), std::exp2(most / 8));
    case 1: return rounded(g_.unary(Op::Log2, g_.binary(Op::Add, squared(), tensor(d, 2, shape))), 2 + 2 * std::log2(most + 2));
    case 2: return rounded(g_.unary(Op::Sin, x), 1);
    case 3: return rounded(g_.unary(Op::Recip, g_.binary(Op::Add, squared(), tensor(d, 1, shape))), 1);
    case 4: return rounded(g_.unary(Op::Sqrt, squared()), most);
    default: return rounded(g_.binary(Op::Add, x, tensor(d, 2 * most + 1, shape)), 3 * most + 1);  // far from cancelling
  }
}

// Arguments that need not keep clear of them.
void ValuePool::wild(NodeId x) {
  DType d = g_.dtype(x);
  Trust t = trust(x);
  if (t.rounded > 0) return;
  auto odd = [&](Op op, double top) {
    Trust out = with(d, top, {x}, true);
    out.special = true;
    keep(g_.unary(op, x), out);
  };
  switch (rng_.below(5)) {
    case 0: return void(keep(g_.unary(Op::Trunc, x), t));
    case 1: return t.signless ? void() : odd(Op::Recip, t.most == INFINITY ? INFINITY : 1);
    case 2: return odd(Op::Sqrt, t.most);
    case 3: return odd(Op::Log2, t.most == INFINITY ? 1100 : std::log2(t.most + 1));
    default: {
      // EXP2 of small integers is exact, but no integer.
      if (t.most > 8) return;
      Trust out{INFINITY, 0, t.special, false};
      keep(g_.unary(Op::Exp2, x), out);
    }
  }
}

void ValuePool::binary() {
  NodeId x = any(), y = partner(x, any());
  DType d = g_.dtype(x);
  double a = trust(x).most, b = trust(y).most;
  if (rng_.chance(30)) std::swap(x, y);
  switch (rng_.below(3)) {
    case 0:
      // What is rounded may cancel, and then nothing but rounding is left.
      if (d != DType::Bool && exact(x) && exact(y)) keep(g_.binary(Op::Add, x, y), with(d, a + b, {x, y}));
      return;
    case 1: return void(keep(g_.binary(Op::Mul, x, y), with(d, a * b, {x, y})));
    default: {
      Trust t = with(d, std::max(a, b), {x, y});
      if (exact(x) && exact(y)) t.rounded = 0;
      t.signless = true;
      keep(g_.binary(Op::Max, x, y), t);
    }
  }
}

// FLOORDIV and FLOORMOD of floats: by zero as well.
void ValuePool::floorBinary() {
  NodeId x = ofKind(isFloat, DType::F32), y = partner(x, any());
  if (!summable(x) || !summable(y) || trust(x).most > 100 || trust(y).most > 100 || trust(y).signless) return;
  bool mod = rng_.chance(50);
  Trust t = with(g_.dtype(x), mod ? trust(y).most : trust(x).most, {x, y});
  t.special = t.signless = true;
  keep(g_.binary(mod ? Op::FloorMod : Op::FloorDiv, x, y), t);
}

void ValuePool::compare() {
  NodeId x = exactValue(), y = partner(x, exactValue());
  if (!exact(y)) return;
  if (rng_.chance(50)) std::swap(x, y);
  keep(g_.binary(rng_.chance(60) ? Op::CmpLt : Op::CmpNe, x, y), {INFINITY});
}

void ValuePool::select() {
  NodeId x = any(), y = partner(x, any()), c = ofKind([](DType d) { return d == DType::Bool; }, DType::Bool);
  c = asType(fit(c, rng_.chance(60) ? g_.shape(x) : g_.shape(y)), DType::Bool);
  if (rng_.chance(50)) std::swap(x, y);
  Trust t = with(g_.dtype(x), std::max(trust(x).most, trust(y).most), {x, y});
  if (exact(x) && exact(y)) t.rounded = 0;
  keep(g_.where(c, x, y), t);
}

void ValuePool::convert() {
  NodeId x = any();
  if (rng_.chance(30)) return bitcast(x);
  if (rng_.chance(15) && isInteger(g_.dtype(x))) {
    Op op = rng_.chance(50) ? Op::Add : Op::Mul;
    NodeId i = g_.binary(op, g_.cast(x, DType::Index), g_.constInt(DType::I32, rng_.between(-3, 9)));
    return void(keep(g_.cast(i, DType::I64), {INFINITY}));
  }
  if (rng_.chance(50) && exact(x)) return void(asType(asType(x, randomType()), g_.dtype(x)));
  asType(x, randomType());
}

// A NaN has no bits of its own, so none goes to integers.
void ValuePool::bitcast(NodeId x) {
  DType from = g_.dtype(x), to = randomType();
  for (int i = 0; i < 20 && (to == from || byteSize(to) != byteSize(from) || to == DType::Bool); ++i) to = randomType();
  if (from == DType::Bool || to == from || to == DType::Bool || byteSize(to) != byteSize(from)) return;
  Trust t = trust(x);
  if (isFloat(from) && (t.rounded > 0 || t.special || t.signless)) return;
  keep(g_.make(Op::Bitcast, {x}, Attrs().set(AttrKey::DTypeKey, static_cast<int64_t>(to))), {INFINITY, 0, isFloat(to), false});
}

void ValuePool::integer() {
  bool logic = rng_.chance(15);
  NodeId x = logic ? ofKind([](DType d) { return d == DType::Bool; }, DType::Bool) : ofKind([](DType d) { return isInteger(d); }, DType::I32);
  NodeId y = partner(x, any());
  constexpr Op kOps[] = {Op::And, Op::Or, Op::Xor, Op::FloorDiv, Op::FloorMod, Op::Shl, Op::Shr};
  if (!logic && rng_.chance(40)) y = add(tensor(g_.dtype(x), static_cast<double>(rng_.between(0, 9)), g_.shape(x)), {INFINITY});
  if (rng_.chance(20)) std::swap(x, y);
  keep(g_.binary(kOps[rng_.below(logic ? 3 : std::size(kOps))], x, y), {INFINITY});
}

// Limits, infinities, NaN, −0: alone, or in some places of a value.
void ValuePool::oddConstant() {
  NodeId x = exactValue();
  DType d = g_.dtype(x);
  Scalar value = Scalar::ofInt(rng_.chance(50) ? minValue(d) : static_cast<int64_t>(maxValue(d)));
  Trust t{INFINITY};
  if (isFloat(d)) {
    constexpr double kOdd[] = {INFINITY, -INFINITY, NAN, -0.0, 0.0, 1.0, -1.0, 2.0};
    value = Scalar::ofDouble(rng_.pick(kOdd));
    t = {2, 0, !std::isfinite(value.asDouble()), false};
  }
  NodeId c = add(filled(d, value, rng_.chance(50) ? std::span<const Dim>{} : g_.shape(x)), t);
  if (rng_.chance(70)) {
    NodeId where = asType(fit(exactValue(), g_.shape(x)), DType::Bool);
    Trust both = with(d, std::max(trust(x).most, t.most), {x, c});
    both.rounded = 0;
    keep(rng_.chance(50) ? g_.where(where, c, x) : g_.where(where, x, c), both);
  }
}

}  // namespace uop
