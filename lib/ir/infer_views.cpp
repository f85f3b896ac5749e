// Movement ops and INDEX.
#include <algorithm>

#include "ir/infer.h"

namespace uop {

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

}  // namespace uop
