// The first walk of rangeify: who wants what where, and what becomes memory.
#include <algorithm>

#include "ir/functions.h"
#include "passes/rangeify.h"

namespace uop {
namespace {

constexpr int64_t kUnknownBound = int64_t{1} << 20;
constexpr size_t kMaxDemands = 64;  // a free value wanted at more places than this gets memory after all

}  // namespace

uint32_t Rangeifier::freshRanges(std::span<const Dim> shape, Kind kind) {
  std::vector<NodeId> out;
  for (Dim d : shape) out.push_back(d == 1 ? g_.index(0) : g_.range(d, nextRange_++, kind));
  return listOf(out);
}

uint32_t Rangeifier::joined(std::span<const NodeId> front, uint32_t back) {
  std::vector<NodeId> all(front.begin(), front.end());
  all.insert(all.end(), at(back).begin(), at(back).end());
  return listOf(all);
}

uint32_t Rangeifier::enterLoops(uint32_t outer, std::span<const NodeId> inner, size_t keep) {
  auto list = g_.listById(outer);
  std::vector<int64_t> loops(list.begin(), list.begin() + static_cast<long>(std::min(keep, list.size())));
  for (NodeId r : inner)
    if (g_.op(r) == Op::Range) loops.push_back(r);
  return static_cast<uint32_t>(g_.list(loops));
}

// Reductions over the same axes in the same loops share their RANGEs, so that they can share a loop; not where one may
// depend on the other, which then lies deeper.
uint32_t Rangeifier::reduceRanges(NodeId n, const Demand& d) {
  auto bounds = g_.shape(g_.src(n, 0)).first(static_cast<size_t>(g_.attr(n, AttrKey::N)));
  auto [it, fresh] = reduceRanges_.try_emplace({enterLoops(d.loops, {}, loopsNeeded(n, d)), g_.list(bounds), depth_[n]});
  if (fresh) it->second = freshRanges(bounds, Kind::Reduce);
  return it->second;
}

// How many of the loops around it, from the outside, its index depends on; the others are inside of it or need no
// more than one evaluation.
size_t Rangeifier::loopsNeeded(NodeId n, const Demand& d) const {
  auto loops = g_.listById(d.loops);
  size_t needed = 0;
  for (size_t i = 0; i < loops.size(); ++i) {
    auto r = static_cast<NodeId>(loops[i]);
    bool used = g_.isOpen(n, r) || (d.gate != kNoNode && g_.isOpen(d.gate, r));
    for (NodeId x : at(d.index)) used |= g_.isOpen(x, r);
    if (used) needed = i + 1;
  }
  return needed;
}

bool Rangeifier::wantedTooOften(NodeId n, const Demand& d) const {
  auto loops = g_.listById(d.loops).first(loopsNeeded(n, d));
  int64_t times = 1, elements = g_.elements(n);
  for (int64_t r : loops) {
    if (g_.isOpen(n, static_cast<NodeId>(r))) continue;
    int64_t bound = g_.constInt(g_.src(static_cast<NodeId>(r), 0)).value_or(kUnknownBound);
    if (__builtin_mul_overflow(times, bound, &times)) return true;
  }
  return times > elements;
}

// What each node is, bottom-up: a scalar that needs no memory (uniform), something to compute again rather than keep
// (cheap: constants, places and movement of these), a place whose chain of views holds nothing to demand (plain).
void Rangeifier::classify() {
  for (NodeId n : order_) {
    Op op = g_.op(n);
    auto srcs = g_.srcs(n);
    auto all = [&](const std::vector<bool>& table) { return std::ranges::all_of(srcs, [&](NodeId s) { return table[s]; }); };
    bool leafScalar = op == Op::Const || op == Op::Range || (op == Op::Param && !isPlace(n));
    uniform_[n] = leafScalar || (hasTrait(op, trait::Elementwise) && g_.rank(n) == 0 && all(uniform_));
    bool passes = (hasTrait(op, trait::Movement) || op == Op::Detach || op == Op::After) && isValue(g_.dtype(n));
    cheap_[n] = isPlace(n) || uniform_[n] || (passes && cheap_[srcs[0]]);
    for (NodeId x : srcs) depth_[n] = std::max(depth_[n], depth_[x] + (op == Op::Reduce));
    bool closedAfter = op == Op::After && g_.open(n).empty();
    plain_[n] = isPlace(n) && (srcs.empty() || (op == Op::Stage ? g_.open(n).empty() : plain_[srcs[0]] && (srcs.size() == 1 || closedAfter)));
  }
}

const char* Rangeifier::whyStage(NodeId n) const {
  const State& s = state_[n];
  if (isPlace(n) || !isValue(g_.dtype(n)) || g_.op(n) == Op::Range || s.wanted.empty()) return nullptr;
  if (result_[n]) return "a result";
  bool pure = hasTrait(g_.op(n), trait::Movement) && g_.op(n) != Op::Pad;
  bool inLoop = !g_.open(n).empty();
  if (g_.rank(n) == 0 && inLoop) return nullptr;  // evaluated once an iteration wherever it is used
  if (cheap_[n] || pure) return s.wanted.size() > kMaxDemands ? "moved in too many ways" : nullptr;
  if (options_.materialize && g_.op(n) != Op::Detach) return "every value is materialised";
  if (s.wanted.size() > 1) return g_.op(n) == Op::Reduce ? "a reduction used in several loops" : "used at several indices or in several kernels";
  if (wantedTooOften(n, s.wanted[0].demand)) return "would be computed more often than it has elements";
  if (!inLoop && regionSize_[s.wanted[0].demand.region] >= options_.maxKernelNodes) return "the kernel would grow too large";
  return nullptr;
}

bool Rangeifier::isWanted(NodeId n, const Demand& d) {
  const auto& wanted = state_[n].wanted;
  bool closed = g_.open(n).empty();
  if (isPlace(n) && closed) return !placesWanted_.insert(uint64_t{n} << 32 | d.region).second;
  // With so many it gets memory, whatever else wants it.
  if (closed && wanted.size() > kMaxDemands) return true;
  // Where it is free to compute again, or inside one loop nest anyway, it does not matter who wants it.
  bool anyone = (cheap_[n] && !isPlace(n)) || !closed;
  return std::ranges::any_of(wanted, [&](const Wanted& o) { return o.demand.index == d.index && o.demand.gate == d.gate && (o.demand.region == d.region || anyone); });
}

void Rangeifier::want(NodeId n, Demand d) {
  if (plain_[n] || g_[n].srcCount == 0 || isNever(d.gate)) return;
  if (isPlace(n) || g_.rank(n) == 0) d.index = 0, d.gate = kNoNode;
  if (!isWanted(n, d)) state_[n].wanted.push_back({d});
}

void Rangeifier::demandScalar(NodeId n, const Demand& context) { want(n, {0, kNoNode, context.region, context.loops}); }

// Whether a STAGE or REDUCE writes memory in its loops: then it stands for these effects.
bool Rangeifier::runsEffects(NodeId closer) const {
  std::vector<NodeId> todo{g_.src(closer, 0)};
  std::unordered_set<NodeId> seen;
  while (!todo.empty()) {
    NodeId n = todo.back();
    todo.pop_back();
    if (g_.open(n).empty() || !seen.insert(n).second) continue;
    if (hasTrait(g_.op(n), trait::Effect)) return true;
    todo.insert(todo.end(), g_.srcs(n).begin(), g_.srcs(n).end());
  }
  return false;
}

// What an AFTER waits for. A value outside of loops stands for the effects before it.
std::vector<NodeId> Rangeifier::orderOf(NodeId dep) {
  bool whole = (hasTrait(g_.op(dep), trait::Effect) && g_.op(dep) != Op::Sink) || g_.op(dep) == Op::Range;
  if (whole || !g_.open(dep).empty()) return {dep};
  std::vector<NodeId> found, todo{dep};
  std::unordered_set<NodeId> seen{dep};
  while (!todo.empty()) {
    NodeId n = todo.back();
    todo.pop_back();
    bool effect = hasTrait(g_.op(n), trait::Effect) && g_.op(n) != Op::Sink;
    if (effect || (hasTrait(g_.op(n), trait::ClosesRanges) && runsEffects(n))) {
      found.push_back(n);
      continue;
    }
    for (NodeId s : g_.srcs(n))
      if (seen.insert(s).second) todo.push_back(s);
  }
  std::ranges::sort(found);
  return found;
}

void Rangeifier::demandDeps(NodeId after, const Demand& context) {
  for (NodeId dep : g_.srcs(after).subspan(1))
    for (NodeId s : orderOf(dep)) demandScalar(s, context);
}

// The scalars and effects along a chain of views, down to the storage.
void Rangeifier::demandPlace(NodeId place, const Demand& context) {
  demandScalar(g_.src(place, 0), context);
  if (g_.op(place) == Op::After) return demandDeps(place, context);
  for (NodeId s : g_.srcs(place).subspan(1)) demandScalar(s, context);
}

void Rangeifier::openStage(NodeId n, const char* reason) {
  State& s = state_[n];
  s.why = reason;
  s.ranges = freshRanges(g_.shape(n), Kind::Loop);
  bool inLoop = !g_.open(n).empty() && !s.wanted.empty();
  uint32_t region = inLoop ? s.wanted[0].demand.region : n;
  uint32_t outer = inLoop ? s.wanted[0].demand.loops : 0;
  s.wanted.assign(1, {{s.ranges, kNoNode, region, enterLoops(outer, at(s.ranges))}});
}

void Rangeifier::wantStored(NodeId n, const Demand& context) {
  State& s = state_[n];
  s.ranges = freshRanges(g_.shape(g_.src(n, 0)), Kind::Loop);
  Demand inner{s.ranges, kNoNode, context.region, enterLoops(context.loops, at(s.ranges))};
  demandScalar(g_.src(n, 0), context);
  for (NodeId x : g_.srcs(n).subspan(1)) want(x, inner);
}

void Rangeifier::demandSources(NodeId n, const Demand& d) {
  Op op = g_.op(n);
  auto srcs = g_.srcs(n);
  if (isPlace(n)) {
    if (op == Op::Stage) {
      uint32_t loops = enterLoops(d.loops, srcs.subspan(1));
      State& s = state_[n];
      if (s.ranges == 0) s.ranges = freshRanges(g_.shape(srcs[0]), Kind::Loop);
      bool boundary = g_.open(n).empty();
      Demand inner{s.ranges, kNoNode, boundary ? n : d.region, 0};
      inner.loops = enterLoops(loops, at(s.ranges));
      want(srcs[0], inner);
      for (NodeId r : srcs.subspan(1)) demandScalar(r, d);
      return;
    }
    return demandPlace(n, d);
  }
  if (hasTrait(op, trait::Elementwise)) {
    for (NodeId s : srcs) want(s, d);
    return;
  }
  if (hasTrait(op, trait::Movement)) {
    want(srcs[0], through(n, d));
    for (NodeId s : srcs.subspan(1)) demandScalar(s, d);
    return;
  }
  switch (op) {
    case Op::Reduce: {
      State& s = state_[n];
      if (s.reduced == 0) s.reduced = reduceRanges(n, d);
      Demand inner = d;
      inner.index = joined(at(s.reduced), d.index);
      inner.loops = enterLoops(enterLoops(d.loops, at(s.reduced), loopsNeeded(n, d)), srcs.subspan(1));
      want(srcs[0], inner);
      for (NodeId r : srcs.subspan(1)) demandScalar(r, d);
      return;
    }
    case Op::Load:
      demandScalar(srcs[0], d);
      for (NodeId s : srcs.subspan(1)) want(s, d);
      return;
    case Op::After:
      want(srcs[0], d);
      return demandDeps(n, d);
    case Op::Store: return wantStored(n, d);
    case Op::End: {
      Demand inner = d;
      inner.loops = enterLoops(d.loops, srcs.subspan(1));
      demandScalar(srcs[0], inner);
      for (NodeId r : srcs.subspan(1)) demandScalar(r, d);
      return;
    }
    case Op::Sink:
      if (g_.open(n).empty()) {
        for (NodeId s : orderOf(n)) demandScalar(s, d);
        return;
      }
      [[fallthrough]];
    default:
      for (NodeId s : ownSources(g_, n)) demandScalar(s, d);
  }
}

void Rangeifier::demandOf(NodeId n) {
  State& s = state_[n];
  // Effects and boundaries at function level are wanted for themselves.
  if ((hasTrait(g_.op(n), trait::Effect) || g_.op(n) == Op::Stage) && g_.open(n).empty()) s.wanted.assign(1, {{0, kNoNode, n, 0}});
  if (isPlace(n) && g_.op(n) == Op::Stage && s.wanted.size() > 1) s.wanted.resize(1);
  if (const char* reason = whyStage(n)) openStage(n, reason);
  if (s.wanted.size() == 1) ++regionSize_[s.wanted[0].demand.region];
  for (const Wanted& w : s.wanted) demandSources(n, w.demand);
}

void Rangeifier::demandAll() {
  for (const ResultDef& r : p_.results) {
    result_[r.node] = isValue(g_.dtype(r.node)) && !isPlace(r.node);
    if (g_[r.node].srcCount > 0) state_[r.node].wanted.push_back({{0, kNoNode, r.node, 0}});
  }
  for (auto it = order_.rbegin(); it != order_.rend(); ++it) demandOf(*it);
}

}  // namespace uop
