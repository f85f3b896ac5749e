#include "ir/eval.h"
#include "passes/collapse_reduce.h"
#include "passes/stage_reason.h"

namespace uop {
namespace {

constexpr int64_t kMinElements = 4;  // of the axes that a sum is scattered over
constexpr int64_t kExactSum = 4096;  // terms that a float of 32 bits may sum in a row

// What the terms of one element are summed in, there being up to n of them (-1: unknown).
DType sumType(DType d, ReduceOp op, int64_t n, bool strict) {
  if (op == ReduceOp::Max) return d;
  if (d == DType::F16 || d == DType::BF16) return DType::F32;
  return d == DType::F32 && op == ReduceOp::Add && !strict && (n < 0 || n > kExactSum) ? DType::F64 : d;
}

}  // namespace

// For each of the loops that the terms of `reduce` name by its index: which element a term is of.
std::vector<TermLimit> Collapser::ownersOf(NodeId& x, NodeId reduce, std::span<const NodeId> loops) {
  std::vector<TermLimit> out;
  for (NodeId v : loops) {
    NodeId keys[] = {v};
    for (bool more = true; more;) {
      more = false;
      for (const TermLimit& l : limitsOf(x, v, g_.reduceOp(reduce))) {
        if (l.limit.kind != Limit::Equal || l.limit.value == kNoNode || l.guard.maximum != kNoNode) continue;
        bool moves = std::ranges::any_of(g_.srcs(reduce).subspan(1), [&](NodeId t) { return g_.isOpen(l.limit.value, t); });
        bool apart = std::ranges::none_of(out, [&](const TermLimit& o) { return g_.isOpen(l.limit.value, o.range) || g_.isOpen(o.limit.value, v); });
        if (!moves || !apart) continue;
        if (l.guard.via != kNoNode) more = expand(x, l.guard.via, keys);
        else out.push_back(l);
        break;
      }
    }
  }
  return out;
}

// A loop over all elements of `place`: element = value(its indices).
NodeId Collapser::sweep(NodeId place, std::span<const Dim> shape, auto value) {
  std::vector<NodeId> index, loops;
  for (Dim d : shape) {
    index.push_back(d == 1 ? g_.index(0) : freshLoop(g_.index(d)));
    if (d != 1) loops.push_back(index.back());
  }
  return g_.end(g_.store(g_.indexInto(place, index), value(index)), loops);
}

// How one term updates its element: loops over the terms, which element that is, and where there is none.
Collapser::Update Collapser::updateOf(NodeId reduce, NodeId x, std::span<const NodeId> loops, const std::vector<TermLimit>& owners) {
  Update out;
  std::vector<NodeId> keys;
  Substitution to;
  auto swap = [&](NodeId r) {
    keys.push_back(r);
    if (bound(r) == 1) to[r] = g_.index(0);
    else out.loops.push_back(to[r] = freshLoop(g_.src(r, 0)));
  };
  auto terms = g_.srcs(reduce).subspan(1);
  std::ranges::for_each(terms, swap);
  for (NodeId r : loops)
    if (std::ranges::find(owners, r, &TermLimit::range) == owners.end()) swap(r);
  std::vector<std::pair<NodeId, NodeId>> at;
  for (const TermLimit& l : owners) {
    Limit moved = l.limit;
    Substitution own = to;
    moved.value = substituted(g_, moved.value, keys, own);
    out.gate = math_.both(out.gate, affine_.inside(moved, bound(l.range)));
    at.emplace_back(l.range, affine_.at(moved));
  }
  for (const TermLimit& l : owners) to[l.guard.condition] = g_.boolean(l.guard.when);
  for (auto [v, index] : at) keys.push_back(v), to[v] = index;
  for (NodeId r : loops) out.element.push_back(to.at(r));
  out.term = substituted(g_, x, keys, to, out.gate);
  return out;
}

// How many terms a REDUCE has, -1 where that is not constant.
int64_t Collapser::termsOf(NodeId reduce) const {
  int64_t terms = 1;
  for (NodeId t : g_.srcs(reduce).subspan(1))
    if (bound(t) < 0 || __builtin_mul_overflow(terms, bound(t), &terms)) return -1;
  return terms;
}

// Storage over `loops` that holds the sums: filled with the identity, then updated term by term. One outer loop of one
// iteration holds both, so that they are one kernel. kNoNode where no term has an element.
NodeId Collapser::scattered(NodeId reduce, NodeId x, std::span<const NodeId> loops, const std::vector<TermLimit>& owners) {
  ReduceOp op = g_.reduceOp(reduce);
  DType d = g_.dtype(reduce), wide = sumType(d, op, termsOf(reduce), options_.strict);
  std::vector<Dim> shape;
  for (NodeId r : loops) shape.push_back(bound(r));
  Update update = updateOf(reduce, x, loops, owners);
  if (update.gate != kNoNode && g_.constInt(update.gate) == 0) return kNoNode;
  NodeId whole[] = {freshLoop(g_.index(1))};
  NodeId sums = g_.alloc(fresh_.slot++, wide, shape, Space::Global), nothing = g_.constant(wide, identityOf(op, wide));
  std::vector<NodeId> deps{sweep(g_.after(sums, whole), shape, [&](const auto&) { return nothing; })};
  deps.insert(deps.end(), update.loops.begin(), update.loops.end());
  NodeId place = g_.indexInto(g_.after(sums, deps), update.element);
  NodeId before = update.gate == kNoNode ? g_.load(place) : g_.make(Op::Load, {place, nothing, update.gate});
  std::vector<NodeId> store{place, g_.binary(opOf(op), before, g_.cast(update.term, wide))};
  if (update.gate != kNoNode) store.push_back(update.gate);
  NodeId done = g_.end(g_.make(Op::Store, store), update.loops);
  if (wide != d) {
    NodeId full[] = {done};
    NodeId rounded = g_.alloc(fresh_.slot++, d, shape, Space::Global);
    done = sweep(g_.after(rounded, whole), shape, [&](const auto& index) { return g_.cast(g_.load(g_.indexInto(g_.after(sums, full), index)), d); });
    sums = rounded;
  }
  NodeId end[] = {g_.end(done, whole)};
  return g_.after(sums, end);
}

// Replaces the REDUCEs of a STAGE's value that can be scattered over its loops.
NodeId Collapser::scatter(NodeId stage) {
  bool ours = !stageReason(g_, stage).empty() && g_.space(stage) == Space::Global && g_.open(stage).empty();
  auto loops = g_.srcs(stage).subspan(1);
  if (!ours || loops.empty() || std::ranges::any_of(loops, [&](NodeId r) { return bound(r) < 1; })) return stage;
  std::vector<NodeId> todo{g_.src(stage, 0)}, reduces;
  std::unordered_set<NodeId> seen;
  while (!todo.empty()) {
    NodeId n = todo.back();
    todo.pop_back();
    if (!seen.insert(n).second) continue;
    if (g_.op(n) == Op::Reduce) reduces.push_back(n);
    else if (hasTrait(g_.op(n), trait::Elementwise)) todo.insert(todo.end(), g_.srcs(n).begin(), g_.srcs(n).end());
  }
  Substitution to;
  for (NodeId reduce : reduces) {
    auto summed = g_.srcs(reduce).subspan(1);
    std::vector<NodeId> all(loops.begin(), loops.end());
    all.insert(all.end(), summed.begin(), summed.end());
    NodeId x = g_.src(reduce, 0);
    bool free = std::ranges::none_of(summed, [&](NodeId t) { return !g_.open(g_.src(t, 0)).empty(); });
    if (!free || !canReplace(x, all)) continue;
    std::vector<TermLimit> owners = ownersOf(x, reduce, loops);
    int64_t elements = 1;
    for (const TermLimit& l : owners) elements = std::min<int64_t>(kMinElements, elements * bound(l.range));
    if (elements < kMinElements) continue;
    NodeId place = scattered(reduce, x, loops, owners);
    if (place == kNoNode) {
      to[reduce] = g_.constant(g_.dtype(reduce), identityOf(g_.reduceOp(reduce), g_.dtype(reduce)));
      continue;
    }
    if (reduce == g_.src(stage, 0)) return place;
    std::vector<NodeId> element;
    for (NodeId r : loops) element.push_back(bound(r) == 1 ? g_.index(0) : r);
    to[reduce] = g_.load(g_.indexInto(place, element));
  }
  if (to.empty()) return stage;
  NodeId value = substituted(g_, g_.src(stage, 0), loops, to);
  return stageLike(g_, stage, value, loops);
}

}  // namespace uop
