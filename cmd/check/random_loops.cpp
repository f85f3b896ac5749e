// Explicit loops: RANGEs of every kind, closed by END, REDUCE and STAGE, with accumulators and updates in place.
#include <algorithm>

#include "cmd/check/random_function.h"

namespace uop {
namespace {

constexpr Kind kSequential[] = {Kind::Loop, Kind::Loop, Kind::Reduce, Kind::Unroll};
constexpr Kind kAll[] = {Kind::Loop, Kind::Loop, Kind::Thread, Kind::Global, Kind::Local, Kind::Warp, Kind::Reduce, Kind::Group, Kind::Upcast, Kind::Unroll};

}  // namespace

FunctionWriter::Nest FunctionWriter::nest(size_t most, bool sequential, Dim mostBound) {
  Nest out;
  for (uint64_t i = 1 + rng_.below(most); i > 0; --i) {
    Dim bound = rng_.chance(3) ? 0 : rng_.between(1, mostBound);
    out.bounds.push_back(bound);
    out.ranges.push_back(g_.range(bound, ranges_++, sequential ? rng_.pick(kSequential) : rng_.pick(kAll)));
  }
  return out;
}

// Anything from 0 to n − 1.
NodeId FunctionWriter::indexFor(const Nest& nest, Dim n) {
  if (rng_.chance(15)) return pool_.wholeNumber(n);
  size_t k = rng_.below(nest.ranges.size());
  NodeId i = nest.ranges[k];
  if (nest.bounds[k] <= n && rng_.chance(70)) {
    if (rng_.chance(70)) return i;
    return g_.binary(Op::Add, g_.binary(Op::Mul, i, g_.index(-1)), g_.index(std::max<Dim>(nest.bounds[k], 1) - 1));
  }
  NodeId scaled = g_.binary(Op::Mul, i, g_.index(rng_.between(1, 3)));
  scaled = g_.binary(Op::Add, scaled, g_.index(rng_.between(0, 4)));
  if (rng_.chance(30)) scaled = g_.binary(Op::FloorDiv, scaled, g_.index(2));
  return g_.binary(Op::FloorMod, scaled, g_.index(n));
}

NodeId FunctionWriter::element(NodeId source, const Nest& nest) {
  std::vector<NodeId> at;
  for (Dim n : std::vector<Dim>(g_.shape(source).begin(), g_.shape(source).end())) at.push_back(indexFor(nest, n));
  return g_.indexInto(source, at);
}

void FunctionWriter::readInto(ValuePool& inner, const Nest& nest) {
  for (uint64_t i = 1 + rng_.below(2); i > 0; --i) {
    NodeId x = pool_.any();
    if (g_.elements(x) == 0) continue;
    if (g_.rank(x) == 0) {
      inner.add(x, pool_.trust(x));
      continue;
    }
    NodeId at = element(g_[x].place ? x : g_.stage(x, {}, Space::Global), nest);
    inner.add(rng_.chance(60) ? g_.load(at) : at, pool_.trust(x));
  }
  for (NodeId r : nest.ranges)
    if (rng_.chance(40) || inner.values().empty()) inner.add(g_.cast(r, DType::I32), {INFINITY});
}

// A scalar of one iteration, made from elements, loop variables and `more`.
FunctionWriter::Scalar FunctionWriter::scalarIn(const Nest& nest, std::span<const Scalar> more) {
  ValuePool inner(g_, rng_, shared_.options, true);
  readInto(inner, nest);
  for (const Scalar& s : more) inner.add(s.node, s.trust);
  for (uint64_t i = rng_.below(4); i > 0; --i) inner.step();
  NodeId n = inner.values().back();
  return {n, inner.trust(n)};
}

// out[i, j] = f(i, j), the loops in any order.
void FunctionWriter::mapLoop() {
  Nest loops = nest(3, false);
  Scalar x = scalarIn(loops);
  DType d = g_.dtype(x.node);
  NodeId out = g_.alloc(allocs_++, d, loops.bounds, Space::Global);
  NodeId effect = g_.store(g_.indexInto(out, loops.ranges), x.node);
  std::vector<NodeId> order = loops.ranges;
  if (rng_.chance(50)) std::ranges::reverse(order);
  NodeId end[] = {g_.end(effect, order)};
  pool_.add(g_.after(out, end), x.trust);
}

// p[i, j] = f(p[i, j], …): each iteration touches its own element.
void FunctionWriter::updateLoop() {
  if (places_.empty()) return;
  Place& p = places_[rng_.below(places_.size())];
  DType d = g_.dtype(p.now);
  if (g_.rank(p.now) == 0 || g_.elements(p.now) == 0) return;
  Nest loops;
  for (Dim n : g_.shape(p.now)) {
    loops.bounds.push_back(rng_.between(1, n));
    loops.ranges.push_back(g_.range(loops.bounds.back(), ranges_++, rng_.pick(kAll)));
  }
  NodeId inside = g_.after(p.now, loops.ranges), cell = g_.indexInto(inside, loops.ranges);
  ValuePool inner(g_, rng_, shared_.options, true);
  readInto(inner, loops);
  inner.add(g_.load(cell), heldBy(p.now));
  for (uint64_t i = 1 + rng_.below(3); i > 0; --i) inner.step();
  std::vector<NodeId> parts{cell, inner.tame(inner.values().back(), d, {}, kPlaceMost)};
  if (rng_.chance(30)) parts.push_back(inner.asType(inner.exactValue(), DType::Bool));
  wrote(p, g_.end(g_.make(Op::Store, parts), loops.ranges));
}

// A sum or another reduction over loops, as a value or in a STAGE over further loops.
void FunctionWriter::reduceLoop() {
  Nest loops = nest(3, false);
  size_t outer = rng_.below(loops.ranges.size());
  Scalar x = scalarIn(loops);
  DType d = g_.dtype(x.node);
  if (x.trust.rounded > 0) return;
  double terms = 1;
  for (size_t i = outer; i < loops.bounds.size(); ++i) terms *= static_cast<double>(std::max<Dim>(loops.bounds[i], 1));
  bool sums = d != DType::Bool && !x.trust.special && x.trust.most * terms <= exactLimit(d);
  auto op = !isFloat(d) && rng_.chance(30) ? ReduceOp::Mul : sums && rng_.chance(70) ? ReduceOp::Add : ReduceOp::Max;
  Trust t = x.trust;
  if (isFloat(d)) t.most = op == ReduceOp::Add ? t.most * terms : t.most, t.signless = true, t.special |= op == ReduceOp::Max;
  NodeId y = g_.reduce(x.node, std::span(loops.ranges).subspan(outer), op);
  if (outer > 0) y = g_.stage(y, std::span(loops.ranges).first(outer), Space::Global);
  pool_.add(y, t);
}

void FunctionWriter::stageLoop() {
  Nest loops = nest(3, false);
  Scalar x = scalarIn(loops);
  pool_.add(g_.stage(x.node, loops.ranges, rng_.chance(80) ? Space::Global : Space::Local), x.trust);
}

// In each iteration of an outer loop a tile is filled, then read more than once.
void FunctionWriter::tileLoop() {
  Nest outer = nest(1, false), inner = nest(1, false), both = outer;
  both.ranges.push_back(inner.ranges[0]), both.bounds.push_back(inner.bounds[0]);
  Scalar x = scalarIn(both);
  DType d = g_.dtype(x.node);
  if (x.trust.rounded > 0 || inner.bounds[0] == 0) return;
  NodeId tile = g_.stage(x.node, inner.ranges, rng_.chance(60) ? Space::Reg : Space::Local);
  Nest again = nest(1, false, inner.bounds[0]);
  NodeId at[] = {again.ranges[0]}, k[] = {again.ranges[0]};
  NodeId top = g_.reduce(g_.indexInto(tile, at), k, ReduceOp::Max);
  NodeId other = g_.load(g_.indexInto(tile, std::array{indexFor(outer, inner.bounds[0])}));
  NodeId y = g_.binary(Op::Max, top, other);
  Trust t = x.trust;
  t.signless = true, t.special |= isFloat(d);
  pool_.add(g_.stage(y, outer.ranges, Space::Global), t);
}

// An accumulator carried by a loop, in the iterations of another or alone; what it holds on the way may be kept.
void FunctionWriter::scanLoop() {
  Nest outer = rng_.chance(50) ? nest(1, false) : Nest{}, carried = nest(1, true), both = outer;
  both.ranges.push_back(carried.ranges[0]), both.bounds.push_back(carried.bounds[0]);
  Scalar x = scalarIn(both);
  DType d = g_.dtype(x.node);
  double terms = static_cast<double>(carried.bounds[0]) + 1;
  if (isFloat(d) && (x.trust.rounded > 0 || x.trust.special || x.trust.most * terms > exactLimit(d))) return;
  NodeId k = carried.ranges[0];
  NodeId acc = g_.alloc(allocs_++, d, {}, rng_.chance(70) ? Space::Reg : Space::Local);
  std::vector<NodeId> start = outer.ranges;
  NodeId init = g_.store(g_.after(acc, start), d == DType::Bool ? g_.boolean(false) : g_.constInt(d, 1));
  NodeId deps[] = {init, k};
  NodeId in = g_.after(acc, deps);
  NodeId next = g_.binary(d == DType::Bool ? Op::Xor : !isFloat(d) && rng_.chance(30) ? Op::Mul : Op::Add, g_.load(in), x.node);
  std::vector<NodeId> effects{g_.store(in, next)};
  NodeId out = g_.alloc(allocs_++, d, both.bounds, Space::Global);
  bool keeps = rng_.chance(40);
  if (keeps) effects.push_back(g_.store(g_.indexInto(out, both.ranges), next));
  NodeId end = g_.end(effects.size() > 1 ? g_.make(Op::Sink, effects) : effects[0], carried.ranges), done[] = {end};
  Trust t{isFloat(d) ? x.trust.most * terms + 1 : INFINITY, 0, false, true};
  if (keeps) {
    NodeId all[] = {g_.end(end, outer.ranges)};
    return void(pool_.add(g_.after(out, all), t));
  }
  NodeId last = g_.load(g_.after(acc, done));
  pool_.add(outer.ranges.empty() ? last : g_.stage(last, outer.ranges, Space::Global), t);
}

// Two accumulators, each of which reads what both held before: (a, b) ← (b, a + b + x).
void FunctionWriter::pairLoop() {
  Nest loops = nest(1, true);
  Scalar x = scalarIn(loops);
  DType d = g_.dtype(x.node);
  if (!isInteger(d)) return;
  Dim both[] = {2};
  bool one = rng_.chance(30);  // place, of two elements
  NodeId a = g_.alloc(allocs_++, d, one ? std::span<const Dim>(both) : std::span<const Dim>{}, Space::Reg), b = one ? a : g_.alloc(allocs_++, d, {}, Space::Reg);
  auto cell = [&](NodeId place, int64_t i) { return one ? g_.indexInto(place, std::array{g_.index(i)}) : place; };
  NodeId init[] = {g_.store(cell(a, 0), g_.constInt(d, 1)), g_.store(cell(b, 1), g_.constInt(d, 2))};
  NodeId deps[] = {g_.make(Op::Sink, init), loops.ranges[0]};
  NodeId inA = g_.after(a, deps), inB = g_.after(b, deps);
  NodeId oldA = g_.load(cell(inA, 0)), oldB = g_.load(cell(inB, 1));
  NodeId sum = g_.binary(Op::Add, g_.binary(Op::Add, oldA, oldB), x.node);
  NodeId updates[] = {g_.store(cell(inA, 0), oldB), g_.store(cell(inB, 1), sum)};
  NodeId end[] = {g_.end(g_.make(Op::Sink, updates), loops.ranges)};
  NodeId last = g_.binary(Op::Xor, g_.load(cell(g_.after(a, end), 0)), g_.load(cell(g_.after(b, end), 1)));
  pool_.add(last, {INFINITY});
}

// Tensor ops inside of a loop: a row of a place is reduced, or rewritten, in each iteration.
void FunctionWriter::rowLoop() {
  std::vector<NodeId> tables;
  for (NodeId n : pool_.values())
    if (g_[n].place && g_.rank(n) >= 2 && g_.elements(n) > 0) tables.push_back(n);
  if (tables.empty()) return;
  NodeId table = rng_.pick(tables);
  NodeId r = g_.range(g_.shape(table)[0], ranges_++, rng_.pick(kAll)), at[] = {r}, row = g_.indexInto(table, at);
  ValuePool inner(g_, rng_, shared_.options);
  inner.add(row, pool_.trust(table));
  for (uint64_t i = 1 + rng_.below(3); i > 0; --i) inner.step();
  NodeId x = inner.values().back();
  if (!g_.isOpen(x, r)) return;
  pool_.add(g_.stage(x, at, Space::Global), inner.trust(x));
}

}  // namespace uop
