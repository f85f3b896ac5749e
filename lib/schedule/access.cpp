#include "schedule/access.h"

#include <algorithm>
#include <map>

#include "ir/program.h"

namespace uop {

std::vector<NodeId> belowAfters(const Graph& g, std::span<const NodeId> nodes) {
  std::vector<NodeId> below(nodes.empty() ? 0 : nodes.back() + 1);
  for (NodeId n : nodes) below[n] = g.op(n) == Op::After ? below[g.src(n, 0)] : n;
  return below;
}

PlaceRef resolvePlace(const Graph& g, NodeId place, std::span<const NodeId> belowAfters) {
  PlaceRef ref;
  for (NodeId at = place;; at = g.src(at, 0)) {
    if (g.op(at) == Op::After && ref.state == kNoNode) ref.state = at;
    at = belowAfters[at];
    if (g.op(at) == Op::Param || g.op(at) == Op::Alloc) {
      ref.root = at;
      break;
    }
    if (g.op(at) != Op::Index) internalError(fmt::format("{} is no place of a kernel", nodeText(g, at)));
    auto own = g.srcs(at).subspan(1);
    ref.indices.insert(ref.indices.begin(), own.begin(), own.end());
  }
  if (ref.indices.size() != g.rank(ref.root)) internalError(fmt::format("{} is accessed with {} indices", nodeText(g, ref.root), ref.indices.size()));
  return ref;
}

namespace {

// Does `user` take its i-th source as a value, rather than as a place or for order?
bool takesValue(Op user, size_t i) {
  if (user == Op::Load || user == Op::Store || user == Op::Index) return i > 0;
  return user == Op::Range || user == Op::Detach || hasTrait(user, trait::Elementwise);
}

}  // namespace

std::vector<bool> implicitReads(const Graph& g, std::span<const NodeId> nodes) {
  std::vector<bool> reads(nodes.empty() ? 0 : nodes.back() + 1);
  for (NodeId n : nodes)
    for (size_t i = 0; i < g[n].srcCount; ++i)
      if (NodeId s = g.src(n, i); g[s].place && takesValue(g.op(n), i)) reads[s] = true;
  return reads;
}

namespace {

constexpr int64_t kLargest = int64_t{1} << 31;
constexpr int kMostSteps = 64;

bool fits(__int128 v) { return v > -kLargest && v < kLargest; }

// Nodes still to expand, greatest id first, so that each is expanded once with all of its coefficient.
struct Expansion {
  std::map<NodeId, __int128, std::greater<>> open;
  __int128 constant = 0;
  bool exact = true;

  void add(NodeId n, __int128 coefficient) {
    auto& c = open[n];
    c += coefficient;
    exact &= fits(c);
  }
  bool expand(const Graph& g, NodeId n, __int128 c) {
    if (auto v = g.constInt(n)) {
      constant += c * *v;
      exact &= fits(*v) && fits(constant);
      return true;
    }
    if (g.dtype(n) != DType::Index) return false;
    if (g.op(n) == Op::Add) return add(g.src(n, 0), c), add(g.src(n, 1), c), true;
    if (g.op(n) == Op::Neg) return add(g.src(n, 0), -c), true;
    if (g.op(n) != Op::Mul) return false;
    for (size_t i : {0u, 1u})
      if (auto k = g.constInt(g.src(n, i)); k && fits(*k)) return add(g.src(n, 1 - i), c * *k), true;
    return false;
  }
};

}  // namespace

Affine affineOf(const Graph& g, NodeId index) {
  Affine out;
  Expansion e;
  e.add(index, 1);
  for (int step = 0; !e.open.empty() && e.exact; ++step) {
    auto [node, coefficient] = *e.open.begin();
    e.open.erase(e.open.begin());
    if (coefficient == 0) continue;
    if (step >= kMostSteps || !e.expand(g, node, coefficient)) out.terms.emplace_back(node, static_cast<int64_t>(coefficient));
  }
  out.constant = static_cast<int64_t>(e.constant);
  out.exact = e.exact;
  std::ranges::sort(out.terms);
  return out;
}

std::vector<NodeId> digitsOf(const Graph& g, const Affine& index) {
  if (!index.exact) return {};
  auto terms = index.terms;
  std::ranges::sort(terms, {}, [](const auto& term) { return std::abs(term.second); });
  std::vector<NodeId> out;
  __int128 reach = 0;  // of the digits so far
  for (auto [atom, coefficient] : terms) {
    const int64_t weight = std::abs(coefficient);
    if (g.op(atom) != Op::Range || weight <= reach) return {};
    auto bound = g.constInt(g.src(atom, 0));
    if (!bound && out.size() + 1 < terms.size()) return {};
    if (bound) reach += static_cast<__int128>(weight) * std::max<int64_t>(0, *bound - 1);
    out.push_back(atom);
  }
  return out;
}

}  // namespace uop
