#include "backends/cstyle/interval.h"

#include <algorithm>

namespace uop::cstyle {
namespace {

Interval whole(DType d) {
  if (!isInteger(d) && d != DType::Bool) return {0, 0};
  return {isUnsigned(d) || d == DType::Bool ? 0 : static_cast<__int128>(minValue(d)), static_cast<__int128>(maxValue(d))};
}

Interval hull(Interval a, Interval b) { return {std::min(a.lo, b.lo), std::max(a.hi, b.hi)}; }

Interval product(Interval a, Interval b) {
  const __int128 p[] = {a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi};
  return {*std::min_element(p, p + 4), *std::max_element(p, p + 4)};
}

bool within64(Interval a) { return a.lo >= INT64_MIN && a.hi <= INT64_MAX; }

__int128 floorDiv(__int128 a, __int128 b) { return a / b - (a % b < 0); }  // b > 0

}  // namespace

Intervals::Intervals(const Graph& g, std::span<const NodeId> nodes) : g_(g) {
  const size_t count = nodes.empty() ? 0 : nodes.back() + 1;
  values_.assign(count, {0, 0});
  exact_.assign(count, false);
  for (NodeId n : nodes) {
    const Interval all = whole(g.dtype(n)), found = compute(n);
    exact_[n] = found.lo >= all.lo && found.hi <= all.hi;
    values_[n] = exact_[n] ? found : all;
  }
}

Interval Intervals::quotient(NodeId n) const {
  const Interval x = of(g_.src(n, 0)), y = of(g_.src(n, 1));
  if (y.lo <= 0) return whole(g_.dtype(n));
  if (g_.op(n) == Op::FloorMod) return x.lo >= 0 && x.hi < y.lo ? x : Interval{0, y.hi - 1};
  const __int128 ends[] = {floorDiv(x.lo, y.lo), floorDiv(x.lo, y.hi), floorDiv(x.hi, y.lo), floorDiv(x.hi, y.hi)};
  return {*std::min_element(ends, ends + 4), *std::max_element(ends, ends + 4)};
}

Interval Intervals::compute(NodeId n) const {
  const Interval all = whole(g_.dtype(n));
  if (!isInteger(g_.dtype(n))) return all;
  auto src = [&](size_t i) { return of(g_.src(n, i)); };
  switch (g_.op(n)) {
    case Op::Const: {
      const int64_t v = g_.constValue(n).asInt();
      const __int128 value = isUnsigned(g_.dtype(n)) ? static_cast<__int128>(static_cast<uint64_t>(v)) : v;
      return {value, value};
    }
    case Op::Param: {
      Interval bounds = all;
      if (g_.hasAttr(n, AttrKey::Min)) bounds.lo = g_.attr(n, AttrKey::Min);
      if (g_.hasAttr(n, AttrKey::Max)) bounds.hi = g_.attr(n, AttrKey::Max);
      return bounds;
    }
    case Op::Range: return {0, std::max<__int128>(0, src(0).hi - 1)};
    case Op::Add: return {src(0).lo + src(1).lo, src(0).hi + src(1).hi};
    case Op::Neg: return {-src(0).hi, -src(0).lo};
    case Op::Mul: return within64(src(0)) && within64(src(1)) ? product(src(0), src(1)) : Interval{all.lo, all.hi + 1};  // may wrap
    case Op::Max: return {std::max(src(0).lo, src(1).lo), std::max(src(0).hi, src(1).hi)};
    case Op::FloorDiv:
    case Op::FloorMod: return quotient(n);
    case Op::Where: return hull(src(1), src(2));
    case Op::After:
    case Op::Detach: return g_[n].place ? all : src(0);
    case Op::Cast: return isFloat(g_.dtype(g_.src(n, 0))) ? all : src(0);
    default: return all;
  }
}

}  // namespace uop::cstyle
