#include "cmd/check/random_program.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "cmd/check/random_values.h"
#include "support/hash.h"

namespace uop {
namespace {

constexpr DType kStored[] = {DType::F32, DType::F32, DType::I32, DType::U8, DType::F16, DType::I64, DType::Bool};

class Generator {
 public:
  Generator(uint64_t seed, const RandomOptions& options) : rng_(seed), options_(options), pool_(p_.graph, rng_, options) {}
  Program run();

 private:
  NodeId param(DType d, std::span<const Dim> shape, std::string_view name);
  NodeId buffer(DType d, std::span<const Dim> shape);
  void leaves();
  void store();
  NodeId viewOf(NodeId place);
  void window();
  void call();
  void effectCall();
  void loop();
  void chooseResults();
  NodeId body(std::span<const NodeId> args);

  Program p_;
  Graph& g_ = p_.graph;
  Rng rng_;
  const RandomOptions& options_;
  ValuePool pool_;
  std::vector<NodeId> now_;      // places that are written, as the last write left them
  std::vector<NodeId> bodies_;   // with their arguments' types
  int64_t slots_ = 0, buffers_ = 0, ranges_ = 0, allocs_ = 0;
};

NodeId Generator::param(DType d, std::span<const Dim> shape, std::string_view name) {
  Attrs a;
  a.set(AttrKey::Slot, slots_++).set(AttrKey::DTypeKey, static_cast<int64_t>(d)).set(AttrKey::Shape, g_.list(shape));
  a.set(AttrKey::Name, g_.string(fmt::format("{}{}", name, slots_)));
  return g_.make(Op::Param, {}, a);
}

NodeId Generator::buffer(DType d, std::span<const Dim> shape) {
  Attrs a;
  a.set(AttrKey::Slot, buffers_++).set(AttrKey::DTypeKey, static_cast<int64_t>(d)).set(AttrKey::Shape, g_.list(shape));
  return g_.make(Op::Buffer, {}, a);
}

void Generator::leaves() {
  for (uint64_t i = 2 + rng_.below(3); i > 0; --i) {
    std::vector<Dim> shape = pool_.randomShape();
    if (shape.empty()) shape = {3};
    pool_.leaf(param(pool_.randomType(), shape, "x"));
  }
  for (uint64_t i = rng_.below(3); i > 0; --i) {
    std::vector<Dim> shape{rng_.between(1, 4), rng_.between(1, 6)};
    bool fresh = rng_.chance(40);
    DType d = rng_.pick(kStored);
    NodeId place = fresh ? param(d, shape, "p") : buffer(d, shape);
    now_.push_back(place);
    pool_.leaf(place);  // as the program found it
  }
}

NodeId Generator::viewOf(NodeId place) {
  auto shape = g_.shape(place);
  if (rng_.chance(30)) return place;
  if (rng_.chance(30)) return g_.permute(place, std::array<int64_t, 2>{1, 0});
  if (rng_.chance(30)) return g_.make(Op::Flip, {place}, Attrs().set(AttrKey::Axes, g_.list({rng_.between(0, 1)})));
  int64_t a = rng_.between(0, shape[0] - 1), b = rng_.between(0, shape[1] - 1);
  return g_.make(Op::Shrink, {place}, Attrs().set(AttrKey::Bounds, g_.list({a, rng_.between(a + 1, shape[0]), b, rng_.between(b + 1, shape[1])})));
}

// A write to a view of a place, perhaps gated, perhaps of what the place held.
void Generator::store() {
  if (now_.empty()) return;
  NodeId& place = now_[rng_.below(now_.size())];
  NodeId at = viewOf(place);
  DType d = g_.dtype(place);
  NodeId from = pool_.any();
  if (isFloat(d) && !(pool_.trust(from).rounded == 0 && pool_.trust(from).most <= 64)) return;
  NodeId x = pool_.asType(pool_.fit(from, g_.shape(at)), d);
  if (isFloat(d) && !(pool_.trust(x).most <= 64)) return;
  std::vector<NodeId> parts{at, x};
  if (rng_.chance(30)) parts.push_back(pool_.asType(pool_.fit(pool_.any(), g_.shape(at)), DType::Bool));
  NodeId deps[] = {g_.make(Op::Store, parts)};
  place = g_.after(place, deps);
  pool_.add(place, {isFloat(d) ? 64.0 : INFINITY, 0});
}

// A SHRINK whose offset is an argument.
void Generator::window() {
  NodeId x = pool_.any();
  if (g_.rank(x) == 0 || g_.shape(x)[0] < 2) return;
  Dim n = g_.shape(x)[0], keep = rng_.between(1, n - 1);
  Attrs a;
  a.set(AttrKey::Slot, slots_++).set(AttrKey::DTypeKey, static_cast<int64_t>(DType::I32)).set(AttrKey::Shape, g_.list({}));
  a.set(AttrKey::Name, g_.string(fmt::format("at{}", slots_))).set(AttrKey::Min, 0).set(AttrKey::Max, n - keep);
  std::vector<NodeId> sources{x, g_.make(Op::Param, {}, a)};
  std::vector<int64_t> bounds{0, keep};
  for (size_t i = 1; i < g_.rank(x); ++i) {
    sources.push_back(g_.index(0));
    bounds.push_back(0), bounds.push_back(g_.shape(x)[i]);
  }
  pool_.add(g_.make(Op::Shrink, sources, Attrs().set(AttrKey::Bounds, g_.list(bounds))), pool_.trust(x));
}

// A function of PARAMs like the arguments, from a pool of its own.
NodeId Generator::body(std::span<const NodeId> args) {
  RandomOptions few = options_;
  ValuePool inner(g_, rng_, few);
  for (size_t i = 0; i < args.size(); ++i) {
    Attrs a;
    a.set(AttrKey::Slot, static_cast<int64_t>(i)).set(AttrKey::DTypeKey, static_cast<int64_t>(g_.dtype(args[i]))).set(AttrKey::Shape, g_.list(g_.shape(args[i])));
    NodeId slot = g_.make(Op::Param, {}, a);
    inner.add(slot, pool_.trust(args[i]));
  }
  for (uint64_t i = 1 + rng_.below(4); i > 0; --i) inner.step();
  if (rng_.chance(30)) {
    NodeId pair[] = {inner.values().back(), inner.any()};
    return g_.make(Op::Tuple, pair);
  }
  return inner.values().back();
}

void Generator::call() {
  std::vector<NodeId> args{pool_.any(), pool_.any()};
  NodeId f = body(args);
  // Sums in a body may round as often as it likes: its results are not computed with further.
  for (uint64_t times = 1 + rng_.below(2); times > 0; --times) {
    std::vector<NodeId> sources{f};
    sources.insert(sources.end(), args.begin(), args.end());
    NodeId made = g_.make(Op::Call, sources);
    Trust end{INFINITY, 9};
    if (g_.op(f) != Op::Tuple) pool_.add(made, end);
    else
      for (int64_t i = 0; i < 2; ++i) pool_.add(g_.make(Op::Get, {made}, Attrs().set(AttrKey::IndexKey, i)), end);
    for (NodeId& a : args) {
      NodeId other = pool_.any();
      if (g_.dtype(other) == g_.dtype(a) && std::ranges::equal(g_.shape(other), g_.shape(a)) && pool_.trust(other).rounded == 0 && pool_.trust(other).most <= pool_.trust(a).most) a = other;
    }
  }
}

// A call that adds its argument to a place.
void Generator::effectCall() {
  if (now_.empty()) return;
  NodeId& place = now_[rng_.below(now_.size())];
  DType d = g_.dtype(place);
  if (isFloat(d)) return;
  NodeId x = pool_.asType(pool_.fit(pool_.any(), g_.shape(place)), d);
  if (g_[x].place) x = g_.unary(Op::Detach, x);  // what is written overlaps no other argument
  auto slot = [&](int64_t i) {
    return g_.make(Op::Param, {}, Attrs().set(AttrKey::Slot, i).set(AttrKey::DTypeKey, static_cast<int64_t>(d)).set(AttrKey::Shape, g_.list(g_.shape(place))));
  };
  NodeId sum = g_.binary(d == DType::Bool ? Op::Max : Op::Add, slot(0), slot(1));
  NodeId deps[] = {g_.make(Op::Call, {g_.store(slot(0), sum), place, x})};
  place = g_.after(place, deps);
  pool_.add(place, {INFINITY, 0});
}

// out[i] = the sum of x[0…i], by a loop with an accumulator.
void Generator::loop() {
  Dim n = rng_.between(1, 9), line[] = {n};
  DType d = rng_.chance(50) ? DType::F32 : DType::I32;
  NodeId x = pool_.asType(pool_.fit(pool_.any(), line), d);
  if (!pool_.exact(x) || (isFloat(d) && pool_.trust(x).most > 1024)) return;
  NodeId held = g_.stage(x, {}, Space::Global);
  NodeId i = g_.range(n, ranges_++, Kind::Loop), at[] = {i};
  NodeId acc = g_.alloc(allocs_++, d, {}, Space::Reg), out = g_.alloc(allocs_++, d, line, Space::Global);
  NodeId init = g_.store(acc, g_.constInt(d, 0)), deps[] = {init, i};
  NodeId in = g_.after(acc, deps);
  NodeId sum = g_.binary(Op::Add, g_.load(in), g_.load(g_.indexInto(held, at)));
  NodeId both[] = {g_.store(in, sum), g_.store(g_.indexInto(out, at), sum)};
  NodeId end[] = {g_.end(g_.make(Op::Sink, both), at)};
  pool_.add(g_.after(out, end), {pool_.trust(x).most * static_cast<double>(n), 0});
}

void Generator::chooseResults() {
  std::vector<NodeId> chosen;
  auto take = [&](NodeId n) {
    if (std::ranges::find(chosen, n) == chosen.end()) chosen.push_back(n);
  };
  take(pool_.values().back());
  for (uint64_t i = rng_.below(4); i > 0; --i) take(pool_.any());
  for (NodeId place : now_)
    if (g_.op(place) == Op::After) take(place);
  for (size_t i = 0; i < chosen.size(); ++i) p_.results.push_back({fmt::format("y{}", i), chosen[i]});
}

Program Generator::run() {
  leaves();
  for (size_t i = 0; i < options_.steps; ++i) {
    uint64_t dice = rng_.below(100);
    if (dice < 8) store();
    else if (dice < 11) window();
    else if (dice < 15) call();
    else if (dice < 17) effectCall();
    else if (dice < 19) loop();
    else pool_.step();
  }
  chooseResults();
  return compacted(p_);
}

Scalar draw(const Graph& g, NodeId n, uint64_t random) {
  DType d = g.dtype(n);
  Rng rng(random);
  if (isFloat(d)) return Scalar::ofDouble(static_cast<double>(rng.between(-4, 4)));
  if (d == DType::Bool) return Scalar::ofInt(rng.between(0, 1));
  if (g.hasAttr(n, AttrKey::Min)) return Scalar::ofInt(rng.between(g.attr(n, AttrKey::Min), g.attr(n, AttrKey::Max)));
  if (rng.chance(80)) return Scalar::ofInt(wrapTo(rng.between(isUnsigned(d) ? 0 : -5, 9), d));
  return Scalar::ofInt(rng.chance(50) ? minValue(d) : static_cast<int64_t>(maxValue(d)));
}

}  // namespace

Program randomProgram(uint64_t seed, const RandomOptions& options) { return Generator(seed, options).run(); }

Arrays randomInputs(const Program& p, uint64_t seed) {
  Arrays out;
  for (NodeId n : cone(p.graph, p.roots())) {
    Op op = p.graph.op(n);
    if (op != Op::Param && op != Op::Buffer) continue;
    std::string name = bindingName(p.graph, n);
    Array a{p.graph.dtype(n), {p.graph.shape(n).begin(), p.graph.shape(n).end()}, {}};
    size_t size = byteSize(a.dtype);
    a.data.resize(static_cast<size_t>(p.graph.elements(n)) * size);
    for (size_t i = 0; i * size < a.data.size(); ++i) {
      uint64_t bits = toStorage(draw(p.graph, n, hashBytes(name.data(), name.size(), hashMix(seed, i))), a.dtype);
      std::memcpy(a.data.data() + i * size, &bits, size);
    }
    out.emplace(std::move(name), std::move(a));
  }
  return out;
}

}  // namespace uop
