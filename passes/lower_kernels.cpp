// lower-kernels: what a kernel body still says in one op becomes storage and loops. A REDUCE becomes an accumulator, a
// STAGE inside a kernel a local ALLOC that a loop fills. Afterwards END is the only op that closes a RANGE, and closes it
// alone. Long float sums are cut into blocks, so that their error grows with the block and not with the length.
#include <algorithm>
#include <functional>
#include <unordered_map>
#include <unordered_set>

#include "ir/eval.h"
#include "ir/rebuild.h"
#include "passes/passes.h"
#include "passes/reduce_groups.h"
#include "rewrite/ranges.h"

namespace uop {
namespace {

bool isAccumulatedWide(DType d, ReduceOp op) { return op != ReduceOp::Max && (d == DType::F16 || d == DType::BF16); }

// One reduction of a loop that may serve several.
struct Term {
  NodeId x;
  ReduceOp op;
};
using Terms = std::vector<Term>;

struct Storage {
  NodeId place = kNoNode;
  std::vector<NodeId> lanes;  // RANGEs that are its first indices
};

// Format, section 5: a `local` or `reg` ALLOC has one copy an iteration of these.
bool hasOwnCopy(Space space, Kind kind) {
  return kind == Kind::Thread || kind == Kind::Global || (space == Space::Reg && (kind == Kind::Local || kind == Kind::Warp));
}

class Lowerer {
 public:
  Lowerer(Graph& g, ValueRanges& facts, NodeId body, int64_t block) : g_(g), facts_(facts), body_(alignReductions(g, body)), block_(block) {
    NodeId roots[] = {body_};
    fresh_ = freshIds(g, roots);
  }
  NodeId run();

 private:
  NodeId visit(NodeId n);
  void reduce(const std::vector<NodeId>& group);
  void blocked(Terms& terms, std::span<const NodeId> ranges);
  void splitLoop(Terms& terms, NodeId range);
  void accumulate(Terms& terms, std::span<const NodeId> ranges);
  NodeId stage(NodeId n);
  std::vector<NodeId> ownLoops(Terms& terms, std::span<const NodeId> ranges, bool ordered = false);
  std::vector<NodeId> reach(const Terms& terms, const std::function<bool(NodeId)>& ends) const;
  void instantiate(Terms& terms, const std::unordered_map<NodeId, NodeId>& swap);
  NodeId freshRange(NodeId bound, Kind kind) { return g_.range(bound, fresh_.range++, kind); }
  Storage freshStorage(DType d, std::span<const Dim> shape, Space space, NodeId scope);
  NodeId element(NodeId place, const std::vector<NodeId>& lanes, std::span<const NodeId> index = {});
  std::vector<NodeId> sourcesOf(NodeId n) const {
    std::vector<NodeId> out;
    for (NodeId s : g_.srcs(n)) out.push_back(now_.at(s));
    return out;
  }

  int64_t mostIterations(NodeId range) { return static_cast<int64_t>(std::clamp<Wide>(facts_.get(g_.src(range, 0)).hi, 0, INT64_MAX)); }

  Graph& g_;
  ValueRanges& facts_;
  NodeId body_;
  int64_t block_;
  FreshIds fresh_;
  std::vector<bool> closed_;  // RANGEs that some END closes already
  std::unordered_map<NodeId, NodeId> now_;
  std::unordered_map<NodeId, std::vector<NodeId>> lanes_;  // of a STAGE's storage
};

// Storage for what `scope` gives. Kinds of RANGE whose iterations share storage, and may run at once, get an axis each.
Storage Lowerer::freshStorage(DType d, std::span<const Dim> shape, Space space, NodeId scope) {
  Storage out;
  std::vector<Dim> dims;
  for (NodeId r : g_.open(scope)) {
    auto bound = g_.constInt(g_.src(r, 0));
    if (!bound || isSequential(g_.kind(r)) || hasOwnCopy(space, g_.kind(r))) continue;
    out.lanes.push_back(r);
    dims.push_back(*bound);
  }
  dims.insert(dims.end(), shape.begin(), shape.end());
  // As the loops around see it: one copy an iteration.
  out.place = g_.after(g_.alloc(fresh_.slot++, d, dims, space), g_.open(scope));
  return out;
}

NodeId Lowerer::element(NodeId place, const std::vector<NodeId>& lanes, std::span<const NodeId> index) {
  std::vector<NodeId> all = lanes;
  all.insert(all.end(), index.begin(), index.end());
  return all.empty() ? place : g_.indexInto(place, all);
}

// What the terms reach, ascending, but for what is behind `ends`.
std::vector<NodeId> Lowerer::reach(const Terms& terms, const std::function<bool(NodeId)>& ends) const {
  std::unordered_set<NodeId> seen;
  std::vector<NodeId> todo, out;
  auto push = [&](NodeId n) {
    if (seen.insert(n).second) todo.push_back(n);
  };
  for (const Term& t : terms) push(t.x);
  while (!todo.empty()) {
    NodeId n = todo.back();
    todo.pop_back();
    out.push_back(n);
    if (!ends(n)) std::ranges::for_each(g_.srcs(n), push);
  }
  std::ranges::sort(out);
  return out;
}

// Copies of the terms in which RANGEs are swapped; whatever a copy runs again (loops, accumulators) gets ids of its own.
void Lowerer::instantiate(Terms& terms, const std::unordered_map<NodeId, NodeId>& swap) {
  // A loop over a swapped RANGE that ends within a term is another than the one around the term.
  auto apart = [&](NodeId n) { return g_.op(n) == Op::End && std::ranges::any_of(g_.srcs(n).subspan(1), [&](NodeId r) { return swap.contains(r); }); };
  std::vector<NodeId> order = reach(terms, apart);
  std::unordered_map<NodeId, NodeId> now(swap.begin(), swap.end());
  std::unordered_map<NodeId, bool> inside;  // evaluated once an iteration of a swapped loop
  for (NodeId n : order) {
    bool in = swap.contains(n);
    if (apart(n)) now[n] = n;
    else for (NodeId s : g_.srcs(n)) in |= inside[s];
    inside[n] = in;
  }
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    if (!inside[*it]) continue;
    if (g_.op(*it) == Op::End)
      for (NodeId r : g_.srcs(*it).subspan(1)) inside[r] = true;
    if (g_.op(*it) == Op::After && g_.op(g_.src(*it, 0)) == Op::Alloc) inside[g_.src(*it, 0)] = true;
  }
  std::vector<NodeId> srcs;
  for (NodeId n : order) {
    if (now.contains(n)) continue;
    srcs.clear();
    bool changed = false;
    for (NodeId s : g_.srcs(n)) srcs.push_back(now.at(s)), changed |= now.at(s) != s;
    if (inside[n] && g_.op(n) == Op::Range) now[n] = freshRange(srcs[0], g_.kind(n));
    else if (inside[n] && g_.op(n) == Op::Alloc) now[n] = g_.make(Op::Alloc, srcs, g_.attrsOf(n).set(AttrKey::Slot, fresh_.slot++));
    else now[n] = changed ? g_.remake(g_, n, srcs) : n;
  }
  for (Term& t : terms) t.x = now.at(t.x);
}

// The loops of one closer: a RANGE that an END closes already is replaced by a fresh one; `ordered`: so is one whose
// iterations may run at once, as those that share an accumulator may not.
std::vector<NodeId> Lowerer::ownLoops(Terms& terms, std::span<const NodeId> ranges, bool ordered) {
  std::unordered_map<NodeId, NodeId> swap;
  std::vector<NodeId> out;
  for (NodeId r : ranges) {
    if (r >= closed_.size()) closed_.resize(r + 1);
    Terms bound{{g_.src(r, 0), ReduceOp::Add}};
    if (std::ranges::any_of(swap, [&](const auto& s) { return g_.isOpen(bound[0].x, s.first); })) instantiate(bound, swap);
    bool turn = ordered && !isSequential(g_.kind(r));
    if (turn || closed_[r] || bound[0].x != g_.src(r, 0)) out.push_back(swap[r] = freshRange(bound[0].x, turn ? Kind::Reduce : g_.kind(r)));
    else out.push_back(r);
    if (out.back() >= closed_.size()) closed_.resize(out.back() + 1);
    closed_[out.back()] = true;
  }
  if (!swap.empty()) instantiate(terms, swap);
  return out;
}

// One loop nest for all the terms, each of which becomes its total.
void Lowerer::accumulate(Terms& terms, std::span<const NodeId> ranges) {
  std::vector<NodeId> loops = ownLoops(terms, ranges, true), updates;
  std::vector<Storage> accumulators;
  for (const Term& t : terms) {
    DType d = g_.dtype(t.x);
    // The reduction's own scope: x without its loops.
    Storage here = freshStorage(d, {}, Space::Reg, g_.reduce(t.x, loops, t.op));
    std::vector<NodeId> deps{g_.store(element(here.place, here.lanes), g_.constant(d, identityOf(t.op, d)))};
    deps.insert(deps.end(), loops.begin(), loops.end());
    NodeId in = element(g_.after(here.place, deps), here.lanes);
    accumulators.push_back(std::move(here));
    updates.push_back(g_.store(in, g_.binary(opOf(t.op), g_.load(in), t.x)));
  }
  NodeId end[] = {g_.end(updates.size() == 1 ? updates[0] : g_.make(Op::Sink, updates), loops)};
  for (size_t i = 0; i < terms.size(); ++i) terms[i].x = g_.load(element(g_.after(accumulators[i].place, end), accumulators[i].lanes));
}

// Σ over one loop that may be long as Σ over blocks of Σ within: the last block may be shorter.
void Lowerer::splitLoop(Terms& terms, NodeId range) {
  NodeId count = g_.src(range, 0);
  auto n = g_.constInt(count);
  NodeId blocks = n ? g_.index((*n + block_ - 1) / block_) : g_.binary(Op::FloorDiv, g_.binary(Op::Add, count, g_.index(block_ - 1)), g_.index(block_));
  NodeId outer = freshRange(blocks, g_.kind(range));
  NodeId begin = g_.binary(Op::Mul, outer, g_.index(block_));
  NodeId bound = g_.index(block_);
  if (!n || *n % block_ != 0) {
    NodeId left = g_.binary(Op::Add, count, g_.unary(Op::Neg, begin));
    bound = g_.where(g_.binary(Op::CmpLt, left, bound), left, bound);
  }
  NodeId inner = freshRange(bound, g_.kind(range));
  instantiate(terms, {{range, g_.binary(Op::Add, begin, inner)}});
  NodeId in[] = {inner}, out[] = {outer};
  accumulate(terms, in);
  blocked(terms, out);
}

void Lowerer::blocked(Terms& terms, std::span<const NodeId> ranges) {
  bool rounds = block_ > 0 && std::ranges::any_of(terms, [&](const Term& t) { return isFloat(g_.dtype(t.x)) && t.op == ReduceOp::Add; });
  if (!rounds) return accumulate(terms, ranges);
  // Innermost loops first, as many as fit in one block.
  size_t first = ranges.size();
  int64_t count = 1;
  while (first > 0) {
    if (__builtin_mul_overflow(count, mostIterations(ranges[first - 1]), &count) || count > block_) break;
    --first;
  }
  if (first == 0) return accumulate(terms, ranges);
  if (first < ranges.size()) {
    accumulate(terms, ranges.subspan(first));
    return blocked(terms, ranges.first(first));
  }
  splitLoop(terms, ranges.back());
  if (ranges.size() > 1) blocked(terms, ranges.first(ranges.size() - 1));
}

void Lowerer::reduce(const std::vector<NodeId>& group) {
  Terms terms;
  for (NodeId n : group) {
    NodeId x = now_.at(g_.src(n, 0));
    bool wide = isAccumulatedWide(g_.dtype(n), g_.reduceOp(n));
    terms.push_back({wide ? g_.cast(x, DType::F32) : x, g_.reduceOp(n)});
  }
  std::vector<NodeId> sources = sourcesOf(group[0]);
  blocked(terms, std::span(sources).subspan(1));
  for (size_t i = 0; i < group.size(); ++i) now_[group[i]] = g_.dtype(terms[i].x) == g_.dtype(group[i]) ? terms[i].x : g_.cast(terms[i].x, g_.dtype(group[i]));
}

NodeId Lowerer::stage(NodeId n) {
  std::vector<NodeId> sources = sourcesOf(n);
  Terms x{{sources[0], ReduceOp::Add}};
  Space space = g_.space(n) == Space::Reg ? Space::Reg : Space::Local;
  // What each iteration has a copy of of its own, nobody reads after the loop.
  bool apart = std::ranges::any_of(g_.srcs(n).subspan(1), [&](NodeId r) { return hasOwnCopy(space, g_.kind(r)); });
  std::vector<NodeId> loops = ownLoops(x, std::span(sources).subspan(1), apart);
  Storage here = freshStorage(g_.dtype(n), g_.shape(n), space, g_.stage(x[0].x, loops, g_.space(n)));
  NodeId end[] = {g_.end(g_.store(element(here.place, here.lanes, loops), x[0].x), loops)};
  if (!here.lanes.empty()) lanes_[n] = std::move(here.lanes);
  return g_.after(here.place, end);
}

NodeId Lowerer::visit(NodeId n) {
  std::vector<NodeId> sources = sourcesOf(n);
  if (g_.op(n) == Op::Stage) return stage(n);
  if (auto lanes = lanes_.find(g_[n].srcCount > 0 ? g_.src(n, 0) : kNoNode); lanes != lanes_.end()) {
    bool index = g_.op(n) == Op::Index;
    sources[0] = element(sources[0], lanes->second, index ? std::span(sources).subspan(1) : std::span<const NodeId>{});
    if (index) return sources[0];
  }
  if (g_.op(n) != Op::End) return g_.remake(g_, n, sources);
  Terms body{{sources[0], ReduceOp::Add}};
  std::vector<NodeId> parts = ownLoops(body, std::span(sources).subspan(1));
  parts.insert(parts.begin(), body[0].x);
  return g_.remake(g_, n, parts);
}

NodeId Lowerer::run() {
  for (const std::vector<NodeId>& step : reduceGroups(g_, body_)) {
    if (g_.op(step[0]) == Op::Reduce) reduce(step);
    else now_[step[0]] = visit(step[0]);
  }
  return now_.at(body_);
}

}  // namespace

Result<Program> runLowerKernels(Program p, PassContext& ctx) {
  Graph& g = p.graph;
  int64_t block = ctx.fp == FpMode::Strict ? 0 : ctx.options.integer("block");
  std::unordered_map<NodeId, NodeId> lowered;
  ValueRanges facts(g);
  auto roots = p.roots();
  for (NodeId n : cone(g, roots))
    if (g.op(n) == Op::Call && !lowered.contains(g.src(n, 0))) lowered[g.src(n, 0)] = Lowerer(g, facts, g.src(n, 0), block).run();
  std::vector<NodeId> order = cone(g, roots);
  std::vector<NodeId> now(order.empty() ? 0 : order.back() + 1, kNoNode), sources;
  for (NodeId n : order) {
    sources.clear();
    for (size_t i = 0; i < g.srcs(n).size(); ++i) sources.push_back(g.op(n) == Op::Call && i == 0 ? lowered.at(g.src(n, 0)) : now[g.src(n, i)]);
    now[n] = g.remake(g, n, sources);
  }
  retarget(p, now);
  return p;
}

}  // namespace uop
