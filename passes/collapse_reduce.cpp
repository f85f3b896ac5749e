#include "passes/collapse_reduce.h"

#include "ir/eval.h"
#include "passes/each_function.h"
#include "passes/stage_reason.h"

namespace uop {
namespace {

constexpr int kMaxRounds = 4;            // of looking behind STAGEs
constexpr size_t kMaxExpandNodes = 32;   // of what is seen there
constexpr size_t kMaxTermNodes = 4096;

NodeId identity(Graph& g, NodeId like, ReduceOp op) { return g.constant(g.dtype(like), identityOf(op, g.dtype(like))); }

// The largest n such that all integers up to n are values of a float dtype, or of what sums of it are kept in.
int64_t exactIntegers(DType d) { return d == DType::F64 ? int64_t{1} << 53 : int64_t{1} << 24; }

}  // namespace

// A value that nothing but loop variables, constants and scalar arguments decide, by few operations.
bool Collapser::isTable(NodeId stage) {
  auto [known, fresh] = tables_.try_emplace(stage, false);
  if (!fresh) return known->second;
  if (g_.elements(stage) == 0) return false;
  std::vector<NodeId> todo{g_.src(stage, 0)};
  std::unordered_set<NodeId> seen;
  int64_t operations = 0;
  while (!todo.empty()) {
    NodeId n = todo.back();
    todo.pop_back();
    if (!seen.insert(n).second) continue;
    Op op = g_.op(n);
    bool leaf = op == Op::Const || op == Op::Range || (op == Op::Param && !g_[n].place);
    if (leaf) continue;
    if (!hasTrait(op, trait::Elementwise) || hasTrait(op, trait::Transcendental)) return false;
    operations += g_.dtype(n) != DType::Index;
    if (operations > options_.tableOps) return false;
    todo.insert(todo.end(), g_.srcs(n).begin(), g_.srcs(n).end());
  }
  return tables_[stage] = true;
}

NodeId Collapser::table(NodeId load) {
  NodeId stage = stageRead(g_, load);
  if (stage == kNoNode || !isTable(stage)) return load;
  Substitution to = stageIndices(g_, load);
  NodeId value = substituted(g_, g_.src(stage, 0), g_.srcs(stage).subspan(1), to);
  return g_[load].srcCount == 3 ? g_.where(g_.src(load, 2), value, g_.src(load, 1)) : value;
}

std::vector<TermLimit> Collapser::limitsOf(NodeId x, NodeId r, ReduceOp op) {
  std::vector<TermLimit> out;
  for (const TermGuard& guard : guards_.find(x, op)) {
    bool sameMaximum = guard.maximum == kNoNode || !g_.isOpen(guard.maximum, r);
    if (!g_.isOpen(guard.condition, r) || !sameMaximum) continue;
    if (auto limit = affine_.solve(guard.condition, guard.when, r)) out.push_back({r, guard, *limit});
  }
  return out;
}

// Whether what is inside of the RANGEs can be made again with others in their place.
bool Collapser::canReplace(NodeId x, std::span<const NodeId> ranges) const {
  std::vector<NodeId> todo{x};
  std::unordered_set<NodeId> seen;
  while (!todo.empty()) {
    NodeId n = todo.back();
    todo.pop_back();
    if (std::ranges::none_of(ranges, [&](NodeId r) { return g_.isOpen(n, r); }) || !seen.insert(n).second) continue;
    Op op = g_.op(n);
    bool own = std::ranges::find(ranges, n) != ranges.end();
    bool plain = hasTrait(op, trait::Elementwise) || op == Op::Load || op == Op::Index || op == Op::Reduce;
    if ((!own && !plain) || seen.size() > kMaxTermNodes) return false;
    if (!own) todo.insert(todo.end(), g_.srcs(n).begin(), g_.srcs(n).end());
  }
  return true;
}

// Puts the value of the STAGE that `load` reads in its place, if that is little.
bool Collapser::expand(NodeId& x, NodeId load, std::span<const NodeId> keys) {
  NodeId stage = stageRead(g_, load);
  auto ranges = g_.srcs(stage).subspan(1);
  std::vector<NodeId> todo{g_.src(stage, 0)};
  std::unordered_set<NodeId> seen;
  while (!todo.empty()) {
    NodeId n = todo.back();
    todo.pop_back();
    if (std::ranges::none_of(ranges, [&](NodeId r) { return g_.isOpen(n, r); }) || !seen.insert(n).second) continue;
    bool plain = (hasTrait(g_.op(n), trait::Elementwise) && !hasTrait(g_.op(n), trait::Transcendental)) || g_.op(n) == Op::Load || g_.op(n) == Op::Index || g_.op(n) == Op::Range;
    if (!plain || seen.size() > kMaxExpandNodes) return false;
    todo.insert(todo.end(), g_.srcs(n).begin(), g_.srcs(n).end());
  }
  Substitution inner = stageIndices(g_, load);
  bool gated = g_[load].srcCount == 3;
  NodeId value = substituted(g_, g_.src(stage, 0), ranges, inner, gated ? g_.src(load, 2) : kNoNode);
  Substitution to{{load, gated ? g_.where(g_.src(load, 2), value, g_.src(load, 1)) : value}};
  x = substituted(g_, x, keys, to);
  return true;
}

// The one term that is left.
NodeId Collapser::gathered(NodeId x, const TermLimit& at, ReduceOp op) {
  NodeId gate = affine_.inside(at.limit, bound(at.range)), keys[] = {at.range};
  if (gate != kNoNode && g_.constInt(gate) == 0) return identity(g_, x, op);
  Substitution to{{at.range, affine_.at(at.limit)}, {at.guard.condition, g_.boolean(at.guard.when)}};
  NodeId term = substituted(g_, x, keys, to, gate);
  return gate == kNoNode ? term : g_.where(gate, term, identity(g_, x, op));
}

// The iterations that all the limits let through, cut off at 0 and n.
Collapser::Trips Collapser::tripsOf(const std::vector<TermLimit>& limits, int64_t n) {
  NodeId first = g_.index(0), end = g_.index(n);
  for (const TermLimit& l : limits) {
    NodeId at = affine_.clamped(l.limit, n);
    if (l.limit.kind == Limit::AtLeast) first = g_.constInt(first) == 0 ? at : g_.binary(Op::Max, first, at);
    else end = g_.constInt(end) == n ? at : g_.where(g_.binary(Op::CmpLt, at, end), at, end);
  }
  if (g_.constInt(first) == 0) return {first, end};
  NodeId count = math_.add(end, math_.mul(first, -1));
  if (facts_.get(end).lo < facts_.get(first).hi) count = g_.binary(Op::Max, count, g_.index(0));
  // Where there is no iteration, what does not need one may be evaluated all the same.
  if (facts_.get(first).hi >= n) first = g_.where(g_.binary(Op::CmpLt, first, g_.index(n - 1)), first, g_.index(n - 1));
  return {first, count};
}

// A term that is the same in `trips` iterations, at most n; kNoNode where the total would round otherwise.
NodeId Collapser::counted(NodeId x, NodeId trips, int64_t n, ReduceOp op) {
  DType d = g_.dtype(x);
  if (op == ReduceOp::Max) return g_.where(g_.binary(Op::CmpLt, g_.index(0), trips), x, identity(g_, x, op));
  if (op != ReduceOp::Add) return kNoNode;
  auto times = g_.constInt(trips), each = g_.constInt(x);
  if (!isFloat(d) && each == 1) return times ? g_.constInt(d, wrapTo(*times, d)) : g_.cast(trips, d);
  if (!isFloat(d)) return times && each ? g_.constInt(d, wrapTo(static_cast<int64_t>(static_cast<uint64_t>(*times) * static_cast<uint64_t>(*each)), d)) : g_.binary(Op::Mul, g_.cast(trips, d), x);
  double value = g_.isConst(x) ? g_.constValue(x).asDouble() : NAN;
  bool exact = value == std::trunc(value) && std::fabs(value) * static_cast<double>(n) <= static_cast<double>(exactIntegers(d));
  if (!exact) return kNoNode;
  NodeId total = math_.mul(trips, static_cast<int64_t>(value));
  return times ? g_.constant(d, evalOp(Op::Cast, DType::Index, d, std::array{g_.constValue(total)})) : g_.cast(total, d);
}

// The term at r = `by`, where the limits hold as soon as `some` does (kNoNode: always).
NodeId Collapser::withoutGuards(NodeId x, NodeId r, NodeId by, const std::vector<TermLimit>& limits, NodeId some) {
  NodeId keys[] = {r}, none = some == kNoNode ? kNoNode : g_.binary(Op::CmpNe, some, g_.boolean(true));
  Substitution to{{r, by}};
  for (const TermLimit& l : limits)
    if (l.guard.via == kNoNode) to[l.guard.condition] = some == kNoNode ? g_.boolean(l.guard.when) : l.guard.when ? some : none;
  return substituted(g_, x, keys, to);
}

// Whether the term at one r alone is left, which x then is; else `limits` are those that remain to be used.
bool Collapser::gather(NodeId& x, NodeId r, ReduceOp op, std::vector<TermLimit>& limits) {
  NodeId keys[] = {r};
  for (int round = 0; round < kMaxRounds; ++round) {
    auto equal = std::ranges::find(limits, Limit::Equal, [](const TermLimit& l) { return l.limit.kind; });
    if (equal == limits.end()) return false;
    if (equal->guard.via == kNoNode && equal->guard.maximum == kNoNode) {
      x = gathered(x, *equal, op);
      return true;
    }
    if (equal->guard.via == kNoNode || !expand(x, equal->guard.via, keys)) limits.erase(equal);
    else limits = limitsOf(x, r, op);
  }
  return false;
}

// The iterations of the i-th RANGE that the limits leave; limits that do not hold there are dropped.
Collapser::Trips Collapser::tripsLeft(std::span<const NodeId> ranges, size_t i, std::vector<TermLimit>& limits) {
  // A loop may depend on those outside of it alone.
  auto inner = ranges.subspan(i + 1);
  std::erase_if(limits, [&](const TermLimit& l) {
    return l.limit.kind == Limit::Equal || (l.limit.value != kNoNode && std::ranges::any_of(inner, [&](NodeId loop) { return g_.isOpen(l.limit.value, loop); }));
  });
  auto conditional = [](const TermLimit& l) { return l.guard.maximum != kNoNode; };
  Trips trips = tripsOf(limits, bound(ranges[i]));
  bool perhapsEmpty = std::ranges::any_of(limits, conditional) && facts_.get(trips.count).lo < 1;
  if (!perhapsEmpty) return trips;
  std::erase_if(limits, conditional);
  return tripsOf(limits, bound(ranges[i]));
}

Collapser::Outcome Collapser::shorten(NodeId& x, std::vector<NodeId>& ranges, size_t i, ReduceOp op) {
  NodeId r = ranges[i], keys[] = {r};
  int64_t n = bound(r);
  if (!canReplace(x, keys)) return Outcome::Same;
  std::vector<TermLimit> limits = limitsOf(x, r, op);
  if (gather(x, r, op, limits)) return Outcome::Gone;
  Trips trips = tripsLeft(ranges, i, limits);
  NodeId still = withoutGuards(x, r, r, limits, kNoNode);
  if (!g_.isOpen(still, r))
    if (NodeId total = counted(still, trips.count, n, op); total != kNoNode) {
      x = total;
      return Outcome::Gone;
    }
  if (limits.empty() || n < options_.minIterations || g_.constInt(trips.count) == n) return Outcome::Same;
  auto [shorter, fresh] = bounded_.try_emplace({r, trips.count}, kNoNode);
  if (fresh) shorter->second = g_.range(trips.count, fresh_.range++, g_.kind(r));
  ranges[i] = shorter->second;
  // A LOAD that no longer depends on the loop would be evaluated without its gate even where the loop is empty.
  NodeId some = facts_.get(trips.count).lo >= 1 ? kNoNode : g_.binary(Op::CmpLt, g_.index(0), trips.count);
  x = withoutGuards(x, r, math_.add(shorter->second, trips.first), limits, some);
  return Outcome::Bounded;
}

NodeId Collapser::collapse(NodeId reduce) {
  NodeId x = g_.src(reduce, 0);
  std::vector<NodeId> ranges(g_.srcs(reduce).begin() + 1, g_.srcs(reduce).end());
  ReduceOp op = g_.reduceOp(reduce);
  bool changed = false;
  for (size_t i = ranges.size(); i-- > 0;) {
    NodeId r = ranges[i];
    bool serial = g_.kind(r) == Kind::Reduce || g_.kind(r) == Kind::Loop;
    bool leads = std::ranges::any_of(ranges, [&](NodeId other) { return other != r && g_.isOpen(g_.src(other, 0), r); });
    if (!serial || leads || bound(r) < 2) continue;
    Outcome outcome = shorten(x, ranges, i, op);
    if (outcome == Outcome::Gone) ranges.erase(ranges.begin() + static_cast<long>(i));
    changed |= outcome != Outcome::Same;
  }
  if (!changed) return reduce;
  if (!ranges.empty()) return g_.reduce(x, ranges, op);
  // A sum begins with +0, so that it is never −0.
  bool zero = options_.strict && isFloat(g_.dtype(x)) && op == ReduceOp::Add;
  return zero ? g_.binary(Op::Add, x, identity(g_, x, op)) : x;
}

NodeId Collapser::visit(NodeId old, std::span<const NodeId> sources) {
  NodeId n = g_.remake(g_, old, sources);
  if (g_.op(n) == Op::Load) return table(n);
  if (g_.op(n) == Op::Reduce && g_[n].srcCount > 1) return collapse(n);
  return g_.op(n) == Op::Stage ? scatter(n) : n;
}

void Collapser::run() {
  retarget(p_, rebuildNodes(g_, p_.roots(), [&](NodeId old, std::span<const NodeId> sources, const auto&) { return visit(old, sources); }));
}

static Result<Program> collapseFunction(Program p, PassContext& ctx) {
  CollapseOptions options{ctx.options.integer("table-ops"), ctx.options.integer("min-iterations"), ctx.fp == FpMode::Strict};
  Collapser(p, options).run();
  return p;
}

Result<Program> runCollapseReduce(Program p, PassContext& ctx) { return runOnFunctions(std::move(p), ctx, collapseFunction); }

}  // namespace uop
