#include "ir/eval.h"
#include "passes/collapse_reduce.h"
#include "passes/stage_reason.h"

namespace uop {
namespace {

constexpr int64_t kMinElements = 4;  // of the axes that a sum is scattered over
constexpr size_t kMaxAddends = 64;
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

// Storage over `loops` that holds the sums: filled with what else is added, or the identity, then updated term by term. One
// outer loop of one iteration holds all, so that they are one kernel. kNoNode where there is nothing to add.
NodeId Collapser::scattered(std::span<const Scatter> sums, std::span<const NodeId> rest, std::span<const NodeId> loops) {
  ReduceOp op = g_.reduceOp(sums[0].reduce);
  DType d = g_.dtype(sums[0].reduce), wide = d;
  std::vector<Dim> shape;
  for (NodeId r : loops) shape.push_back(bound(r));
  std::vector<Update> updates;
  for (const Scatter& s : sums) {
    updates.push_back(updateOf(s.reduce, s.x, loops, s.owners));
    if (updates.back().gate != kNoNode && g_.constInt(updates.back().gate) == 0) updates.pop_back();
    else wide = std::max(wide, sumType(d, op, termsOf(s.reduce), options_.strict));
  }
  if (updates.empty() && rest.empty()) return kNoNode;
  NodeId whole[] = {freshLoop(g_.index(1))};
  NodeId place = g_.alloc(fresh_.slot++, wide, shape, Space::Global), nothing = g_.constant(wide, identityOf(op, wide));
  auto first = [&](std::span<const NodeId> index) {
    NodeId out = kNoNode;
    for (NodeId part : rest) {
      Substitution to;
      for (size_t i = 0; i < loops.size(); ++i) to[loops[i]] = index[i];
      NodeId value = g_.cast(substituted(g_, part, loops, to), wide);
      out = out == kNoNode ? value : g_.binary(opOf(op), out, value);
    }
    return out == kNoNode ? nothing : out;
  };
  NodeId done = sweep(g_.after(place, whole), shape, first);
  for (Update& u : updates) {
    std::vector<NodeId> deps{done};
    deps.insert(deps.end(), u.loops.begin(), u.loops.end());
    NodeId at = g_.indexInto(g_.after(place, deps), u.element);
    NodeId before = u.gate == kNoNode ? g_.load(at) : g_.make(Op::Load, {at, nothing, u.gate});
    std::vector<NodeId> store{at, g_.binary(opOf(op), before, g_.cast(u.term, wide))};
    if (u.gate != kNoNode) store.push_back(u.gate);
    done = g_.end(g_.make(Op::Store, store), u.loops);
  }
  if (wide != d) {
    NodeId full[] = {done}, sum = place;
    place = g_.alloc(fresh_.slot++, d, shape, Space::Global);
    done = sweep(g_.after(place, whole), shape, [&](const auto& index) { return g_.cast(g_.load(g_.indexInto(g_.after(sum, full), index)), d); });
  }
  NodeId end[] = {g_.end(done, whole)};
  return g_.after(place, end);
}

// The REDUCEs of an element-by-element value that can be scattered over its loops.
std::vector<Collapser::Scatter> Collapser::scattersOf(NodeId value, std::span<const NodeId> loops) {
  std::vector<NodeId> todo{value}, reduces;
  std::unordered_set<NodeId> seen;
  while (!todo.empty()) {
    NodeId n = todo.back();
    todo.pop_back();
    if (!seen.insert(n).second) continue;
    if (g_.op(n) == Op::Reduce) reduces.push_back(n);
    else if (hasTrait(g_.op(n), trait::Elementwise)) todo.insert(todo.end(), g_.srcs(n).begin(), g_.srcs(n).end());
  }
  std::vector<Scatter> out;
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
    if (elements >= kMinElements) out.push_back({reduce, x, std::move(owners)});
  }
  return out;
}

// What a value is the sum of, in any order; itself where the order counts.
std::vector<NodeId> Collapser::addends(NodeId value) const {
  if (options_.strict && isFloat(g_.dtype(value))) return {value};
  std::vector<NodeId> todo{value}, out;
  while (!todo.empty()) {
    NodeId n = todo.back();
    todo.pop_back();
    if (g_.op(n) == Op::Add && out.size() + todo.size() < kMaxAddends) todo.insert(todo.end(), {g_.src(n, 1), g_.src(n, 0)});
    else out.push_back(n);
  }
  return out;
}

// Replaces the REDUCEs of a STAGE's value that can be scattered over its loops: the STAGE becomes the sums where these are all
// that is scattered in it and nothing is done with them but to add.
NodeId Collapser::scatter(NodeId stage) {
  bool ours = !stageReason(g_, stage).empty() && g_.space(stage) == Space::Global && g_.open(stage).empty();
  auto loops = g_.srcs(stage).subspan(1);
  if (!ours || loops.empty() || std::ranges::any_of(loops, [&](NodeId r) { return bound(r) < 1; })) return stage;
  const NodeId value = g_.src(stage, 0);
  std::vector<Scatter> sums = scattersOf(value, loops);
  if (sums.empty()) return stage;
  std::vector<NodeId> rest = addends(value);
  auto isSum = [&](NodeId part) { return std::ranges::find(sums, part, &Scatter::reduce) != sums.end(); };
  const auto leaves = static_cast<size_t>(std::ranges::count_if(rest, isSum));
  bool added = rest.size() == 1 || std::ranges::all_of(sums, [&](const Scatter& s) { return g_.reduceOp(s.reduce) == ReduceOp::Add; });
  if (leaves == sums.size() && added) {
    std::erase_if(rest, isSum);
    if (NodeId place = scattered(sums, rest, loops); place != kNoNode) return place;
  }
  Substitution to;
  for (const Scatter& s : sums) {
    NodeId place = scattered(std::span(&s, 1), {}, loops);
    std::vector<NodeId> element;
    for (NodeId r : loops) element.push_back(bound(r) == 1 ? g_.index(0) : r);
    to[s.reduce] = place == kNoNode ? g_.constant(g_.dtype(s.reduce), identityOf(g_.reduceOp(s.reduce), g_.dtype(s.reduce))) : g_.load(g_.indexInto(place, element));
  }
  return stageLike(g_, stage, substituted(g_, value, loops, to), loops);
}

}  // namespace uop
