#include "passes/affine.h"

#include <algorithm>

#include "passes/substitute.h"

namespace uop {
namespace {

constexpr size_t kMaxNodes = 64;  // of one expression that depends on the RANGE

bool fits(const Interval& x, DType d) {
  Interval all = fullRange(d);
  return !x.empty() && !all.empty() && x.lo >= all.lo && x.hi <= all.hi;
}

}  // namespace

// The sources' forms, those of sources without r being (0, source, 0).
std::optional<Linear> Affine::combine(NodeId n, std::span<const Linear> sources) {
  Op op = g_.op(n);
  std::vector<Interval> ranges;
  for (NodeId s : g_.srcs(n)) ranges.push_back(facts_.get(s));
  if (op == Op::Cast) return fits(ranges[0], g_.dtype(n)) ? std::optional(sources[0]) : std::nullopt;
  bool wraps = false;
  if (op == Op::Add || op == Op::Mul || op == Op::Neg) applyOp(op, g_.dtype(g_.srcs(n).back()), g_.dtype(n), ranges, &wraps);
  if (wraps) return std::nullopt;
  Linear out = sources[0];
  auto join = [&](NodeId a, NodeId b) { return a == kNoNode ? b : b == kNoNode ? a : math_.add(a, b); };
  auto scale = [&](const Linear& x, int64_t by) -> std::optional<Linear> {
    Linear y;
    if (__builtin_mul_overflow(x.coefficient, by, &y.coefficient) || __builtin_mul_overflow(x.offset, by, &y.offset)) return std::nullopt;
    if (x.rest != kNoNode) y.rest = math_.mul(x.rest, by);
    return y;
  };
  if (op == Op::Neg) return scale(out, -1);
  if (op == Op::Add) {
    if (__builtin_add_overflow(out.coefficient, sources[1].coefficient, &out.coefficient) || __builtin_add_overflow(out.offset, sources[1].offset, &out.offset)) return std::nullopt;
    out.rest = join(out.rest, sources[1].rest);
    return out;
  }
  if (op != Op::Mul) return std::nullopt;
  for (size_t i : {size_t{0}, size_t{1}})
    if (sources[i].coefficient == 0 && sources[i].rest == kNoNode) return scale(sources[1 - i], sources[i].offset);
  return std::nullopt;
}

std::optional<Linear> Affine::in(NodeId e, NodeId r) {
  std::unordered_map<NodeId, Linear> forms{{r, {1, kNoNode, 0}}};
  std::vector<NodeId> todo{e};
  while (!todo.empty()) {
    NodeId n = todo.back();
    if (forms.contains(n)) {
      todo.pop_back();
      continue;
    }
    if (forms.size() > kMaxNodes || !fits(facts_.get(n), DType::Index)) return std::nullopt;
    if (!g_.isOpen(n, r)) {
      auto c = g_.constInt(n);
      forms[n] = c ? Linear{0, kNoNode, *c} : Linear{0, math_.asIndex(n), 0};
      todo.pop_back();
      continue;
    }
    if (!hasTrait(g_.op(n), trait::Elementwise)) return std::nullopt;
    size_t before = todo.size();
    for (NodeId s : g_.srcs(n))
      if (!forms.contains(s)) todo.push_back(s);
    if (todo.size() != before) continue;
    todo.pop_back();
    std::vector<Linear> sources;
    for (NodeId s : g_.srcs(n)) sources.push_back(forms.at(s));
    auto form = combine(n, sources);
    if (!form) return std::nullopt;
    forms[n] = *form;
  }
  return forms.at(e);
}

// x − y, kNoNode standing for 0; nullopt where it may wrap.
std::optional<NodeId> Affine::difference(NodeId x, NodeId y) {
  if (y == kNoNode) return x;
  NodeId minus = math_.mul(y, -1);
  NodeId out = x == kNoNode ? minus : math_.add(x, minus);
  Wide lo = -facts_.get(y).hi, hi = -facts_.get(y).lo;
  if (x != kNoNode) lo += facts_.get(x).lo, hi += facts_.get(x).hi;
  return fits({lo, hi}, DType::Index) ? std::optional(out) : std::nullopt;
}

std::optional<Limit> Affine::solve(NodeId comparison, bool when, NodeId r) {
  Op op = g_.op(comparison);
  if (op != Op::CmpLt && !(op == Op::CmpNe && !when)) return std::nullopt;
  DType d = g_.dtype(g_.src(comparison, 0));
  if (isFloat(d) || d == DType::Bool) return std::nullopt;
  auto a = in(g_.src(comparison, 0), r), b = in(g_.src(comparison, 1), r);
  if (!a || !b) return std::nullopt;
  int64_t c = a->coefficient - b->coefficient, offset = 0;
  if ((c != 1 && c != -1) || __builtin_sub_overflow(b->offset, a->offset, &offset)) return std::nullopt;
  // c · r  <  or  =  value + offset
  auto value = c == 1 ? difference(b->rest, a->rest) : difference(a->rest, b->rest);
  if (!value || offset <= -kMaxAxis || offset >= kMaxAxis) return std::nullopt;
  if (op == Op::CmpNe) return Limit{Limit::Equal, *value, c * offset};
  if (c == 1) return Limit{when ? Limit::Below : Limit::AtLeast, *value, offset};
  return Limit{when ? Limit::AtLeast : Limit::Below, *value, 1 - offset};
}

NodeId Affine::clamped(const Limit& l, int64_t n) {
  if (l.value == kNoNode) return g_.index(std::clamp<int64_t>(l.offset, 0, n));
  Interval x = facts_.get(l.value);
  NodeId v = l.value, least = g_.index(-l.offset), most = g_.index(n - l.offset);
  if (x.empty() || x.lo < -Wide{l.offset}) v = g_.binary(Op::Max, v, least);
  if (x.empty() || x.hi > Wide{n} - l.offset) v = g_.where(g_.binary(Op::CmpLt, v, most), v, most);
  return math_.add(v, g_.index(l.offset));
}

NodeId Affine::inside(const Limit& l, int64_t n) {
  if (l.value == kNoNode) return l.offset >= 0 && l.offset < n ? kNoNode : g_.boolean(false);
  Interval x = facts_.get(l.value);
  NodeId gate = kNoNode;
  if (x.empty() || x.lo < -Wide{l.offset}) gate = math_.lt(g_.index(-l.offset - 1), l.value);
  if (x.empty() || x.hi >= Wide{n} - l.offset) gate = math_.both(gate, math_.lt(l.value, g_.index(n - l.offset)));
  return gate;
}

}  // namespace uop
