#include "cmd/check/rebuild.h"

#include <algorithm>

namespace uop {
namespace {

class Rebuilder {
 public:
  Rebuilder(const Program& p, const Edit& e) : q_(compacted(p)), g_(q_.graph), e_(e) {}
  std::optional<Program> run();

 private:
  std::optional<NodeId> make(NodeId n);
  std::optional<NodeId> replacement(NodeId n);
  NodeId zeros(NodeId n);
  NodeId leaf(NodeId n, NodeId variant);
  Dim resized(Dim d) const { return d == e_.size ? e_.smaller : d; }
  void adapt(NodeId n, std::span<const NodeId> sources, Attrs& attrs);
  std::vector<int64_t> expanded(NodeId n, std::span<const Dim> source);
  std::vector<int64_t> reshaped(NodeId n, std::span<const Dim> source);
  std::vector<int64_t> window(NodeId n, std::span<const Dim> source);

  Program q_;
  Graph& g_;
  const Edit& e_;
  std::vector<NodeId> now_;
  int64_t slot_ = 0;
};

NodeId Rebuilder::zeros(NodeId n) {
  NodeId zero = g_.constant(g_.dtype(n), zeroOf(g_.dtype(n)));
  std::vector<Dim> ones(g_.rank(n), 1);
  return g_.rank(n) > 0 ? g_.expand(g_.reshape(zero, ones), g_.shape(n)) : zero;
}

NodeId Rebuilder::leaf(NodeId n, NodeId variant) {
  Attrs a;
  a.set(AttrKey::Slot, slot_).set(AttrKey::DTypeKey, static_cast<int64_t>(g_.dtype(n))).set(AttrKey::Shape, g_.list(g_.shape(n)));
  return g_.make(Op::Param, {}, a.set(AttrKey::Name, g_.string(fmt::format("leaf{}{}", slot_, "abcd"[variant]))));
}

std::optional<NodeId> Rebuilder::replacement(NodeId n) {
  if (e_.to == Edit::kZero) return zeros(n);
  if (e_.to >= Edit::kLeaf && e_.to < Edit::kZero) return leaf(n, e_.to - Edit::kLeaf);
  return now_[e_.to];
}

// Axes that were the source's stay the source's.
std::vector<int64_t> Rebuilder::expanded(NodeId n, std::span<const Dim> source) {
  std::vector<int64_t> to;
  auto shape = g_.shape(n), from = g_.shape(g_.src(n, 0));
  for (size_t i = 0; i < shape.size(); ++i) {
    bool kept = shape.size() - i <= from.size() && from[i + from.size() - shape.size()] == shape[i];
    to.push_back(kept && shape.size() - i <= source.size() ? source[i + source.size() - shape.size()] : resized(shape[i]));
  }
  return to;
}

// Where the count does not fit, one axis makes up for it.
std::vector<int64_t> Rebuilder::reshaped(NodeId n, std::span<const Dim> source) {
  std::vector<int64_t> to;
  Dim have = 1, want = 1;
  for (Dim d : g_.shape(n)) to.push_back(resized(d)), want *= to.back();
  for (Dim d : source) have *= d;
  for (size_t i = to.size(); have != want && want != 0 && i-- > 0;) {
    Dim others = want / to[i];
    if (have % others == 0) to[i] = have / others, want = have;
  }
  return to;
}

std::vector<int64_t> Rebuilder::window(NodeId n, std::span<const Dim> source) {
  auto bounds = g_.listAttr(n, AttrKey::Bounds);
  auto from = g_.shape(g_.src(n, 0));
  std::vector<int64_t> to(bounds.begin(), bounds.end());
  for (size_t i = 0; i < source.size() && 2 * i < to.size(); ++i) {
    bool whole = to[2 * i + 1] == from[i];
    to[2 * i + 1] = whole ? source[i] : std::min(resized(to[2 * i + 1] - to[2 * i]) + to[2 * i], source[i]);
    to[2 * i] = std::min(to[2 * i], to[2 * i + 1]);
  }
  return to;
}

void Rebuilder::adapt(NodeId n, std::span<const NodeId> sources, Attrs& attrs) {
  Op op = g_.op(n);
  bool changed = e_.size >= 0 || (!sources.empty() && !std::ranges::equal(g_.shape(sources[0]), g_.shape(g_.src(n, 0))));
  if (n == e_.unpadded) attrs.set(AttrKey::PadKey, g_.list(std::vector<int64_t>(2 * g_.rank(n), 0)));
  if (!changed) return;
  if (op == Op::Param || op == Op::Buffer || op == Op::Alloc) {
    std::vector<int64_t> shape;
    for (Dim d : g_.shape(n)) shape.push_back(resized(d));
    attrs.set(AttrKey::Shape, g_.list(shape));
  }
  if (op == Op::Const && g_.dtype(n) == DType::Index)
    for (int64_t less : {0, 1})
      if (*g_.constInt(n) == e_.size - less) attrs.set(AttrKey::Value, e_.smaller - less);
  if (op == Op::Expand) attrs.set(AttrKey::Shape, g_.list(expanded(n, g_.shape(sources[0]))));
  if (op == Op::Reshape) attrs.set(AttrKey::Shape, g_.list(reshaped(n, g_.shape(sources[0]))));
  if (op == Op::Shrink) attrs.set(AttrKey::Bounds, g_.list(window(n, g_.shape(sources[0]))));
}

std::optional<NodeId> Rebuilder::make(NodeId n) {
  if (n == e_.from) return replacement(n);
  std::vector<NodeId> sources;
  for (size_t i = 0; i < g_[n].srcCount; ++i)
    if (n != e_.less || i < e_.first || i >= e_.first + e_.count) sources.push_back(now_[g_.src(n, i)]);
  if (hasTrait(g_.op(n), trait::ClosesRanges))  // one that became a number needs no closing
    sources.erase(std::remove_if(sources.begin() + 1, sources.end(), [&](NodeId s) { return g_.op(s) != Op::Range; }), sources.end());
  Attrs attrs = g_.attrsOf(n);
  adapt(n, sources, attrs);
  auto made = g_.tryMake(g_.op(n), sources, attrs);
  return made ? std::optional(*made) : std::nullopt;
}

std::optional<Program> Rebuilder::run() {
  std::vector<NodeId> order = cone(g_, q_.roots(), true);
  now_.assign(order.back() + 1, kNoNode);
  for (NodeId n : order)
    if (g_.op(n) == Op::Param) slot_ = std::max(slot_, g_.attr(n, AttrKey::Slot) + 1);
  for (NodeId n : order) {
    auto made = make(n);
    if (!made) return std::nullopt;
    now_[n] = *made;
  }
  for (ResultDef& r : q_.results) r.node = now_[r.node];
  q_.lines.clear();
  return compacted(q_);
}

}  // namespace

std::optional<Program> rebuilt(const Program& p, const Edit& edit) { return Rebuilder(p, edit).run(); }

}  // namespace uop
