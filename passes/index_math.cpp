#include "passes/index_math.h"

#include <algorithm>

namespace uop {

NodeId IndexMath::add(NodeId x, NodeId y) {
  auto a = g_.constInt(x), b = g_.constInt(y);
  if (a && b) return g_.index(*a + *b);
  if (a) return add(y, x);
  if (b == 0) return x;
  if (b && g_.op(x) == Op::Add && g_.constInt(g_.src(x, 1))) return add(g_.src(x, 0), g_.index(*b + *g_.constInt(g_.src(x, 1))));
  return g_.binary(Op::Add, x, y);
}

NodeId IndexMath::mul(NodeId x, int64_t c) {
  if (auto a = g_.constInt(x)) return g_.index(*a * c);
  if (c == 1) return x;
  if (c == 0) return g_.index(0);
  auto a = g_[x].srcCount == 2 ? g_.constInt(g_.src(x, 1)) : std::nullopt;
  int64_t product = 0;
  bool scales = a && !__builtin_mul_overflow(*a, c, &product);
  if (scales && g_.op(x) == Op::Mul) return mul(g_.src(x, 0), product);
  if (scales && g_.op(x) == Op::Add) return add(mul(g_.src(x, 0), c), g_.index(product));
  return g_.binary(Op::Mul, x, g_.index(c));
}

NodeId IndexMath::div(NodeId x, int64_t c) {
  if (c == 1) return x;
  if (auto a = g_.constInt(x)) return g_.index(*a / c - (*a % c < 0));
  return g_.binary(Op::FloorDiv, x, g_.index(c));
}

NodeId IndexMath::mod(NodeId x, int64_t c) {
  if (c == 1) return g_.index(0);
  if (auto a = g_.constInt(x)) return g_.index(((*a % c) + c) % c);
  return g_.binary(Op::FloorMod, x, g_.index(c));
}

NodeId IndexMath::lt(NodeId x, NodeId y) {
  auto a = g_.constInt(x), b = g_.constInt(y);
  return a && b ? g_.boolean(*a < *b) : g_.binary(Op::CmpLt, x, y);
}

NodeId IndexMath::both(NodeId a, NodeId b) {
  auto isTrue = [&](NodeId x) { return x == kNoNode || g_.constInt(x) == 1; };
  if (isTrue(a)) return isTrue(b) ? kNoNode : b;
  if (isTrue(b) || a == b) return a;
  if (g_.constInt(a) == 0 || g_.constInt(b) == 0) return g_.boolean(false);
  return g_.binary(Op::And, a, b);
}

void IndexMath::reshapeGroup(std::span<const NodeId> index, std::span<const Dim> to, std::span<const Dim> from, std::vector<NodeId>& out) {
  NodeId flat = g_.index(0);
  for (size_t i = 0; i < to.size(); ++i)
    if (to[i] != 1) flat = add(mul(flat, to[i]), index[i]);
  int64_t stride = 1;
  for (Dim d : from) stride *= d;
  int64_t whole = stride;
  for (Dim d : from) {
    stride /= d;
    NodeId at = div(flat, stride);
    // The leading axis needs no modulus: the flat index is below the group's size.
    out.push_back(d == 1 ? g_.index(0) : stride * d == whole ? at : mod(at, d));
  }
}

std::vector<NodeId> IndexMath::reshape(std::span<const NodeId> index, std::span<const Dim> to, std::span<const Dim> from) {
  std::vector<NodeId> out;
  if (auto empty = std::ranges::find(to, 0); empty != to.end()) {
    // Never evaluated, but an index into an axis of no elements must not be a constant.
    for (Dim d : from) out.push_back(d == 0 ? index[static_cast<size_t>(empty - to.begin())] : g_.index(0));
    return out;
  }
  size_t i = 0, k = 0;
  while (i < to.size() || k < from.size()) {
    size_t i0 = i, k0 = k;
    int64_t a = i < to.size() ? to[i++] : 1, b = k < from.size() ? from[k++] : 1;
    while (a != b) {
      if (a < b) a *= to[i++];
      else b *= from[k++];
    }
    reshapeGroup(index.subspan(i0, i - i0), to.subspan(i0, i - i0), from.subspan(k0, k - k0), out);
  }
  return out;
}

}  // namespace uop
