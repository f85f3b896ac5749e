// lower-kernels: what a kernel body still says in one op becomes storage and loops. A REDUCE becomes an accumulator, a
// STAGE inside a kernel a local ALLOC that a loop fills. Afterwards END is the only op that closes a RANGE, and closes it
// alone. Long float sums are cut into blocks, so that their error grows with the block and not with the length.
#include <unordered_map>

#include "ir/eval.h"
#include "passes/passes.h"
#include "passes/rebuild.h"

namespace uop {
namespace {

bool isAccumulatedWide(DType d, ReduceOp op) { return op != ReduceOp::Max && (d == DType::F16 || d == DType::BF16); }

class Lowerer {
 public:
  Lowerer(Graph& g, NodeId body, int64_t block) : g_(g), body_(body), block_(block) {
    NodeId roots[] = {body};
    fresh_ = freshIds(g, roots);
  }
  NodeId run();

 private:
  NodeId visit(NodeId n, std::span<const NodeId> sources);
  NodeId reduce(NodeId n, std::span<const NodeId> sources);
  NodeId blocked(NodeId x, std::span<const NodeId> ranges, ReduceOp op);
  NodeId splitLoop(NodeId x, NodeId range, ReduceOp op);
  NodeId accumulate(NodeId x, std::span<const NodeId> ranges, ReduceOp op);
  NodeId stage(NodeId n, std::span<const NodeId> sources);
  std::vector<NodeId> ownLoops(NodeId& x, std::span<const NodeId> ranges);
  NodeId instantiate(NodeId x, const std::unordered_map<NodeId, NodeId>& swap);
  NodeId freshRange(NodeId bound, Kind kind) { return g_.range(bound, fresh_.range++, kind); }
  NodeId freshAlloc(DType d, std::span<const Dim> shape, Space space, NodeId scope);

  Graph& g_;
  NodeId body_;
  int64_t block_;
  FreshIds fresh_;
  std::vector<bool> closed_;  // RANGEs that some END closes already
};

// The storage as the loops around `scope` see it: one copy an iteration.
NodeId Lowerer::freshAlloc(DType d, std::span<const Dim> shape, Space space, NodeId scope) {
  NodeId alloc = g_.alloc(fresh_.slot++, d, shape, space);
  return g_.after(alloc, g_.open(scope));
}

// A copy of x in which RANGEs are swapped; whatever the copy runs again (loops, accumulators) gets ids of its own.
NodeId Lowerer::instantiate(NodeId x, const std::unordered_map<NodeId, NodeId>& swap) {
  NodeId roots[] = {x};
  std::vector<NodeId> order = cone(g_, roots);
  std::unordered_map<NodeId, NodeId> now(swap.begin(), swap.end());
  std::unordered_map<NodeId, bool> inside;  // evaluated once an iteration of a swapped loop
  for (NodeId n : order) {
    bool in = swap.contains(n);
    for (NodeId s : g_.srcs(n)) in |= inside[s];
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
  return now.at(x);
}

// The loops of one closer: a RANGE that an END closes already is replaced by a fresh one.
std::vector<NodeId> Lowerer::ownLoops(NodeId& x, std::span<const NodeId> ranges) {
  std::unordered_map<NodeId, NodeId> swap;
  std::vector<NodeId> out;
  for (NodeId r : ranges) {
    if (r >= closed_.size()) closed_.resize(r + 1);
    NodeId bound = g_.src(r, 0);
    for (const auto& [from, to] : swap)
      if (g_.isOpen(bound, from)) bound = instantiate(bound, swap);
    if (closed_[r] || bound != g_.src(r, 0)) out.push_back(swap[r] = freshRange(bound, g_.kind(r)));
    else out.push_back(r);
    if (out.back() >= closed_.size()) closed_.resize(out.back() + 1);
    closed_[out.back()] = true;
  }
  if (!swap.empty()) x = instantiate(x, swap);
  return out;
}

NodeId Lowerer::accumulate(NodeId x, std::span<const NodeId> ranges, ReduceOp op) {
  std::vector<NodeId> loops = ownLoops(x, ranges);
  DType d = g_.dtype(x);
  // The reduction's own scope: x without its loops.
  NodeId scope = g_.reduce(x, loops, op);
  NodeId here = freshAlloc(d, {}, Space::Reg, scope);
  NodeId init = g_.store(here, g_.constant(d, identityOf(op, d)));
  std::vector<NodeId> deps{init};
  deps.insert(deps.end(), loops.begin(), loops.end());
  NodeId in = g_.after(here, deps);
  NodeId update = g_.store(in, g_.binary(opOf(op), g_.load(in), x));
  NodeId end[] = {g_.end(update, loops)};
  return g_.load(g_.after(here, end));
}

// Σ over one long loop as Σ over blocks of Σ within: the last block may be shorter.
NodeId Lowerer::splitLoop(NodeId x, NodeId range, ReduceOp op) {
  int64_t n = *g_.constInt(g_.src(range, 0));
  int64_t blocks = (n + block_ - 1) / block_;
  NodeId outer = freshRange(g_.index(blocks), g_.kind(range));
  NodeId begin = g_.binary(Op::Mul, outer, g_.index(block_));
  NodeId bound = g_.index(block_);
  if (n % block_ != 0) {
    NodeId left = g_.binary(Op::Add, g_.index(n), g_.unary(Op::Neg, begin));
    bound = g_.where(g_.binary(Op::CmpLt, left, bound), left, bound);
  }
  NodeId inner = freshRange(bound, g_.kind(range));
  NodeId y = instantiate(x, {{range, g_.binary(Op::Add, begin, inner)}});
  NodeId in[] = {inner}, out[] = {outer};
  return blocked(accumulate(y, in, op), out, op);
}

NodeId Lowerer::blocked(NodeId x, std::span<const NodeId> ranges, ReduceOp op) {
  bool rounds = isFloat(g_.dtype(x)) && op == ReduceOp::Add && block_ > 0;
  if (!rounds) return accumulate(x, ranges, op);
  // Innermost loops first, as many as fit in one block.
  size_t first = ranges.size();
  int64_t terms = 1;
  while (first > 0) {
    int64_t bound = g_.constInt(g_.src(ranges[first - 1], 0)).value_or(1);
    if (__builtin_mul_overflow(terms, bound, &terms) || terms > block_) break;
    --first;
  }
  if (first == 0) return accumulate(x, ranges, op);
  if (first < ranges.size()) return blocked(accumulate(x, ranges.subspan(first), op), ranges.first(first), op);
  NodeId part = splitLoop(x, ranges.back(), op);
  return ranges.size() == 1 ? part : blocked(part, ranges.first(ranges.size() - 1), op);
}

NodeId Lowerer::reduce(NodeId n, std::span<const NodeId> sources) {
  ReduceOp op = g_.reduceOp(n);
  DType d = g_.dtype(n);
  bool wide = isAccumulatedWide(d, op);
  NodeId x = wide ? g_.cast(sources[0], DType::F32) : sources[0];
  NodeId sum = blocked(x, sources.subspan(1), op);
  return wide ? g_.cast(sum, d) : sum;
}

NodeId Lowerer::stage(NodeId n, std::span<const NodeId> sources) {
  NodeId x = sources[0];
  std::vector<NodeId> loops = ownLoops(x, sources.subspan(1));
  NodeId here = freshAlloc(g_.dtype(n), g_.shape(n), g_.space(n) == Space::Reg ? Space::Reg : Space::Local, g_.stage(x, loops, g_.space(n)));
  std::vector<NodeId> index(loops.begin(), loops.end());
  NodeId end[] = {g_.end(g_.store(g_.indexInto(here, index), x), loops)};
  return g_.after(here, end);
}

NodeId Lowerer::visit(NodeId n, std::span<const NodeId> sources) {
  switch (g_.op(n)) {
    case Op::Reduce: return reduce(n, sources);
    case Op::Stage: return stage(n, sources);
    case Op::End: {
      std::vector<NodeId> srcs(sources.begin(), sources.end());
      for (NodeId r : sources.subspan(1)) {
        if (r >= closed_.size()) closed_.resize(r + 1);
        if (closed_[r]) {
          NodeId x = srcs[0];
          std::vector<NodeId> loops = ownLoops(x, sources.subspan(1));
          return g_.end(x, loops);
        }
      }
      for (NodeId r : sources.subspan(1)) closed_[r] = true;
      return g_.remake(g_, n, srcs);
    }
    default: return g_.remake(g_, n, sources);
  }
}

NodeId Lowerer::run() {
  NodeId roots[] = {body_};
  std::vector<NodeId> order = cone(g_, roots);
  std::unordered_map<NodeId, NodeId> now;
  std::vector<NodeId> sources;
  for (NodeId n : order) {
    sources.clear();
    for (NodeId s : g_.srcs(n)) sources.push_back(now.at(s));
    now[n] = visit(n, sources);
  }
  return now.at(body_);
}

}  // namespace

Result<Program> runLowerKernels(Program p, PassContext& ctx) {
  Graph& g = p.graph;
  int64_t block = ctx.fp == FpMode::Strict ? 0 : ctx.options.integer("block");
  std::unordered_map<NodeId, NodeId> lowered;
  auto roots = p.roots();
  for (NodeId n : cone(g, roots))
    if (g.op(n) == Op::Call && !lowered.contains(g.src(n, 0))) lowered[g.src(n, 0)] = Lowerer(g, g.src(n, 0), block).run();
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
