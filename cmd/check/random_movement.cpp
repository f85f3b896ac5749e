// Steps of the pool that move elements, and those that read or make memory.
#include <algorithm>
#include <numeric>

#include "cmd/check/random_values.h"

namespace uop {

void ValuePool::move() {
  NodeId x = any();
  keep(moved(x), trust(x));
}

NodeId ValuePool::moved(NodeId x) {
  if (g_.rank(x) == 0) return reshaped(x);
  switch (rng_.below(7)) {
    case 0: return permuted(x);
    case 1: return flipped(x);
    case 2: return shrunk(x);
    case 3: return window(x);
    default: return reshaped(x);
  }
}

NodeId ValuePool::permuted(NodeId x) {
  std::vector<int64_t> axes(g_.rank(x));
  std::iota(axes.begin(), axes.end(), 0);
  for (size_t i = axes.size(); i > 1; --i) std::swap(axes[i - 1], axes[rng_.below(i)]);
  return g_.permute(x, axes);
}

NodeId ValuePool::flipped(NodeId x) {
  std::vector<int64_t> axes;
  for (size_t i = 0; i < g_.rank(x); ++i)
    if (rng_.chance(50)) axes.push_back(static_cast<int64_t>(i));
  return listed(Op::Flip, AttrKey::Axes, x, axes);
}

NodeId ValuePool::shrunk(NodeId x) {
  std::vector<int64_t> bounds;
  for (Dim d : g_.shape(x)) {
    int64_t begin = d > 0 && rng_.chance(50) ? rng_.between(0, d - 1) : 0;
    bounds.push_back(begin);
    bounds.push_back(rng_.chance(50) ? d : rng_.between(std::min(begin + !rng_.chance(3), d), d));
  }
  return listed(Op::Shrink, AttrKey::Bounds, x, bounds);
}

// A SHRINK with offsets of run time.
NodeId ValuePool::window(NodeId x) {
  std::vector<NodeId> sources{x};
  std::vector<int64_t> bounds;
  for (Dim d : std::vector<Dim>(g_.shape(x).begin(), g_.shape(x).end())) {
    int64_t keep = d > 0 ? rng_.between(1, d) : 0, begin = rng_.between(0, d - keep);
    bounds.push_back(begin), bounds.push_back(begin + keep);
    sources.push_back(begin + keep < d ? wholeNumber(d - begin - keep + 1) : g_.index(0));
  }
  return g_.make(Op::Shrink, sources, Attrs().set(AttrKey::Bounds, g_.list(bounds)));
}

// x moved along an axis, zeros coming in.
NodeId ValuePool::shifted(NodeId x, size_t axis, int64_t by) {
  std::vector<int64_t> pad, bounds;
  for (size_t i = 0; i < g_.rank(x); ++i) {
    int64_t before = i == axis ? std::max<int64_t>(by, 0) : 0, after = i == axis ? std::max<int64_t>(-by, 0) : 0;
    pad.insert(pad.end(), {before, after});
    bounds.insert(bounds.end(), {after, after + g_.shape(x)[i]});
  }
  return listed(Op::Shrink, AttrKey::Bounds, listed(Op::Pad, AttrKey::PadKey, x, pad), bounds);
}

// Steps that each combine an element with its neighbours.
void ValuePool::stencil() {
  Dim shape[] = {rng_.between(1, 80), rng_.between(1, 4)};
  NodeId x = fit(any(), shape);
  Trust t = trust(x);
  size_t axis = rng_.chance(80) ? 0 : 1;
  for (uint64_t steps = 1 + rng_.below(4); steps > 0; --steps) {
    NodeId near = shifted(x, axis, rng_.between(-2, 2)), far = shifted(x, axis, rng_.between(-3, 3));
    x = g_.binary(Op::Max, g_.binary(Op::Max, near, x), far);
    if (rng_.chance(30)) x = g_.binary(Op::Max, x, shifted(x, 1 - axis, 1));
  }
  t.signless = true;
  keep(x, t);
}

// Axes merged, split, dropped and added.
NodeId ValuePool::reshaped(NodeId x) {
  std::vector<Dim> to(g_.shape(x).begin(), g_.shape(x).end());
  if (std::ranges::find(to, 0) != to.end()) return g_.reshape(x, std::array<Dim, 2>{rng_.between(0, 5), 0});
  for (uint64_t i = 1 + rng_.below(3); i > 0; --i) {
    size_t axis = rng_.below(to.size() + 1);
    if (axis == to.size() || (to[axis] == 1 && rng_.chance(30))) {
      if (to.size() < 5) to.insert(to.begin() + static_cast<long>(rng_.below(to.size() + 1)), 1);
      continue;
    }
    Dim factor = rng_.between(2, 4);
    if (to[axis] % factor == 0 && rng_.chance(60) && to.size() < 5) {
      to[axis] /= factor;
      to.insert(to.begin() + static_cast<long>(axis) + static_cast<long>(rng_.below(2)), factor);
    } else if (axis + 1 < to.size()) {
      to[axis] *= to[axis + 1];
      to.erase(to.begin() + static_cast<long>(axis) + 1);
    } else if (to[axis] == 1) {
      to.erase(to.begin() + static_cast<long>(axis));
    }
  }
  return g_.reshape(x, to);
}

void ValuePool::pad() {
  NodeId x = any();
  std::vector<int64_t> pad;
  for (size_t i = 0; i < 2 * g_.rank(x); ++i) pad.push_back(rng_.chance(40) ? rng_.between(1, 3) : 0);
  keep(listed(Op::Pad, AttrKey::PadKey, x, pad), trust(x));
}

void ValuePool::expand() {
  NodeId x = any();
  std::vector<Dim> to(g_.shape(x).begin(), g_.shape(x).end());
  for (Dim& d : to)
    if (d == 1 && rng_.chance(60)) d = rng_.chance(3) ? 0 : rng_.between(1, 5);
  while (to.size() < 5 && rng_.chance(40)) to.insert(to.begin(), rng_.between(1, 3));
  keep(g_.expand(x, to), trust(x));
}

// A LOAD, with a gate or without.
void ValuePool::load() {
  std::vector<NodeId> places;
  for (NodeId n : values_)
    if (g_[n].place) places.push_back(n);
  if (places.empty()) return;
  NodeId x = rng_.pick(places);
  if (rng_.chance(30)) return void(keep(g_.load(x), trust(x)));
  auto like = [&](NodeId n, DType d) { return asType(fit(n, rng_.chance(50) ? g_.shape(x) : std::span<const Dim>{}), d); };
  NodeId alt = like(any(), g_.dtype(x)), gate = like(exactValue(), DType::Bool);
  Trust t = with(g_.dtype(x), std::max(trust(x).most, trust(alt).most), {x, alt});
  if (exact(x) && exact(alt)) t.rounded = 0;
  keep(g_.make(Op::Load, {x, alt, gate}), t);
}

void ValuePool::stage() {
  NodeId x = any();
  if (g_[x].place) return;
  add(g_.stage(x, {}, rng_.chance(80) ? Space::Global : rng_.chance(70) ? Space::Local : Space::Reg), trust(x));
}

}  // namespace uop
