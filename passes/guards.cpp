#include "passes/guards.h"

#include "ir/eval.h"
#include "passes/stage_reason.h"

namespace uop {
namespace {

constexpr size_t kMaxSteps = 64;  // of one term

}  // namespace

NodeId stageRead(const Graph& g, NodeId load) {
  NodeId at = g.src(load, 0);
  NodeId stage = g.op(at) == Op::Index ? g.src(at, 0) : at;
  bool ours = g.op(stage) == Op::Stage && g.space(stage) == Space::Global && g.open(stage).empty() && !stageReason(g, stage).empty();
  return ours && g.rank(at) == 0 ? stage : kNoNode;
}

Substitution stageIndices(const Graph& g, NodeId load) {
  Substitution to;
  NodeId at = g.src(load, 0);
  if (g.op(at) != Op::Index) return to;
  auto ranges = g.srcs(g.src(at, 0)).subspan(1), index = g.srcs(at).subspan(1);
  for (size_t i = 0; i < ranges.size(); ++i) to[ranges[i]] = index[i];
  return to;
}

// What `n`, inside of a STAGE, is to the term; where the gate is false, anything, but no LOAD that is not there.
NodeId GuardFinder::seen(NodeId n, const Substitution* under, NodeId gate) {
  if (!under) return n;
  std::vector<NodeId> keys;
  for (auto [range, at] : *under) keys.push_back(range);
  Substitution to = *under;
  return substituted(g_, n, keys, to, gate);
}

// The comparisons of which `n` is the conjunction, or, unless `when`, its negation the disjunction.
void GuardFinder::condition(NodeId n, bool when, const Site& s) {
  struct Part {
    NodeId node;
    bool when;
    const Substitution* under;
    NodeId via;
  };
  std::vector<Part> todo{{n, when, s.under, s.via}};
  for (size_t steps = 0; !todo.empty() && steps < kMaxSteps; ++steps) {
    auto [c, holds, under, via] = todo.back();
    todo.pop_back();
    Op op = g_.op(c);
    bool both = holds ? op == Op::And || op == Op::Mul : op == Op::Or || op == Op::Max;
    if (both) {
      for (NodeId part : g_.srcs(c)) todo.push_back({part, holds, under, via});
    } else if ((op == Op::CmpNe || op == Op::Xor) && g_.dtype(g_.src(c, 0)) == DType::Bool) {
      for (size_t i : {size_t{0}, size_t{1}})
        if (auto flip = g_.constInt(g_.src(c, i))) todo.push_back({g_.src(c, 1 - i), holds != (*flip == 1), under, via});
    } else if (op == Op::CmpLt || op == Op::CmpNe) {
      found_.push_back({seen(c, under, s.gate), holds, via, s.maximum});
    } else if (op == Op::Load && g_[c].srcCount == 1 && stageRead(g_, c) != kNoNode) {
      todo.push_back({g_.src(stageRead(g_, c), 0), holds, enter(c, under), via == kNoNode ? c : via});
    }
  }
}

// The indices of a STAGE that `load` reads, as the term sees them.
const Substitution* GuardFinder::enter(NodeId load, const Substitution* under) {
  Substitution in = stageIndices(g_, load);
  for (auto& [range, at] : in) at = seen(at, under);
  return &substitutions_.emplace_back(std::move(in));
}

void GuardFinder::load(const Site& s) {
  NodeId n = s.node, stage = stageRead(g_, n);
  if (g_[n].srcCount == 3) {
    if (!isGoal(g_.src(n, 1), s)) return;
    if (!s.factor || s.exponent) condition(g_.src(n, 2), true, s);
  }
  if (stage == kNoNode) return;
  Site inner = s;
  inner.node = g_.src(stage, 0);
  inner.under = enter(n, s.under);
  if (s.via == kNoNode) inner.via = n;
  if (g_[n].srcCount == 3) {
    NodeId gate = seen(g_.src(n, 2), s.under, s.gate);
    inner.gate = s.gate == kNoNode ? gate : g_.binary(Op::And, s.gate, gate);
  }
  todo_.push_back(inner);
}

// The maximum, over some RANGEs, of a value that `x` is an element of, if `negated` is −it; else kNoNode.
NodeId GuardFinder::maximumOf(NodeId negated, NodeId x, const Substitution* under) {
  if (g_.op(negated) != Op::Neg || g_.op(x) != Op::Load) return kNoNode;
  NodeId max = seen(g_.src(negated, 0), under), element = seen(x, under);
  if (g_.op(max) == Op::Load && g_[max].srcCount == 1 && stageRead(g_, max) != kNoNode) max = seen(g_.src(stageRead(g_, max), 0), enter(max, nullptr));
  if (g_.op(max) != Op::Reduce || g_.reduceOp(max) != ReduceOp::Max || g_.op(g_.src(max, 0)) != Op::Load) return kNoNode;
  NodeId of = g_.src(g_.src(max, 0), 0), at = g_.src(element, 0);
  if (g_.op(of) != Op::Index || g_.op(at) != Op::Index || g_.src(of, 0) != g_.src(at, 0)) return kNoNode;
  auto over = g_.srcs(max).subspan(1), all = g_.srcs(of), one = g_.srcs(at);
  for (size_t i = 0; i < all.size(); ++i)
    if (all[i] != one[i] && std::ranges::find(over, all[i]) == over.end()) return kNoNode;
  return max;
}

// Parts of an exponent that make it −inf.
void GuardFinder::exponent(const Site& s) {
  auto srcs = g_.srcs(s.node);
  for (size_t i : {size_t{0}, size_t{1}}) {
    Site part = s;
    part.node = srcs[i];
    NodeId other = srcs[1 - i];
    double c = g_.isConst(other) ? g_.constValue(other).asDouble() : NAN;
    bool keeps = std::isfinite(c) && (g_.op(s.node) == Op::Add || c > 0);
    if (!keeps && g_.op(s.node) == Op::Add && s.maximum == kNoNode) part.maximum = maximumOf(other, part.node, s.under);
    if (keeps || part.maximum != s.maximum) todo_.push_back(part);
  }
}

void GuardFinder::step(const Site& s) {
  NodeId n = s.node, x = g_[n].srcCount > 0 ? g_.src(n, 0) : kNoNode;
  Op op = g_.op(n);
  DType d = g_.dtype(n);
  auto go = [&](NodeId source, auto change) {
    Site next = s;
    next.node = source;
    change(next);
    todo_.push_back(next);
  };
  auto same = [](Site&) {};
  if (op == Op::Load) return load(s);
  // A factor that is no false bool may meet an infinity: no licence covers that.
  if (op == Op::Where && (!s.factor || s.exponent)) {
    bool first = isGoal(g_.src(n, 1), s), second = isGoal(g_.src(n, 2), s);
    if (first == second) return;
    condition(x, second, s);
    return go(g_.src(n, second ? 1 : 2), same);
  }
  if (s.exponent) {
    if (op == Op::Mul || op == Op::Add) exponent(s);
    return;
  }
  if (s.goal != zeroOf(d)) return;
  if (d == DType::Bool) return condition(n, true, s);
  if (op == Op::Cast && g_.dtype(x) == DType::Bool) return condition(x, true, s);
  if (op == Op::Cast) go(x, [&](Site& to) { to.goal = zeroOf(g_.dtype(x)); });
  if (op == Op::Neg) go(x, same);
  if (op == Op::Mul && !(strict_ && isFloat(d)))
    for (NodeId part : g_.srcs(n)) go(part, [&](Site& to) { to.factor |= isFloat(d); });
  if (op == Op::Exp2 && !strict_) go(x, [](Site& to) { to.goal = Scalar::ofDouble(-INFINITY), to.exponent = true; });
}

std::vector<TermGuard> GuardFinder::find(NodeId term, ReduceOp op) {
  found_.clear();
  substitutions_.clear();
  todo_.assign(1, {term, nullptr, identityOf(op, g_.dtype(term)), false, false, kNoNode, kNoNode, kNoNode});
  for (size_t steps = 0; !todo_.empty() && steps < kMaxSteps; ++steps) {
    Site s = todo_.back();
    todo_.pop_back();
    step(s);
  }
  return found_;
}

}  // namespace uop
