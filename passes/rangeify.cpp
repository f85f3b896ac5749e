#include "passes/rangeify.h"

#include "passes/rebuild.h"

namespace uop {

Rangeifier::Rangeifier(Program& p, RangeifyOptions options) : p_(p), g_(p.graph), math_(g_), options_(options) {
  nextRange_ = freshIds(g_, p.roots()).range;
  // What is no loop nest of its own but is returned (a view, a constant, a scalar argument) is copied to where results lie.
  for (ResultDef& r : p_.results) {
    Op op = g_.op(r.node);
    bool whole = g_[r.node].place && (op == Op::After || op == Op::Stage || g_[r.node].srcCount == 0);
    bool view = g_[r.node].place ? !whole || g_.rank(r.node) != g_.rank(g_[r.node].base) : hasTrait(op, trait::Movement) || op == Op::Detach;
    for (NodeId n = r.node; whole && g_.op(n) == Op::After; n = g_.src(n, 0)) view |= g_[g_.src(n, 0)].srcCount > 0 && g_.op(g_.src(n, 0)) != Op::After && g_.op(g_.src(n, 0)) != Op::Stage;
    if (isValue(g_.dtype(r.node)) && (view || (!g_[r.node].place && g_[r.node].srcCount == 0))) r.node = g_.stage(r.node, {}, Space::Global);
  }
  order_ = cone(g_, p_.roots());
  size_t count = order_.empty() ? 0 : order_.back() + 1;
  state_.resize(count);
  base_.assign(count, kNoNode);
  uniform_.resize(count);
  cheap_.resize(count);
  plain_.resize(count);
  result_.resize(count);
}

void Rangeifier::run() {
  classify();
  demandAll();
  buildAll();
  settle();
}

Result<Program> runRangeify(Program p, PassContext& ctx) {
  Rangeifier pass(p, {ctx.options.boolean("materialize"), ctx.options.integer("max-kernel-nodes")});
  pass.run();
  for (const auto& [reason, count] : pass.reasons()) ctx.remarks.push_back(fmt::format("staged {}: {}", count, reason));
  return p;
}

}  // namespace uop
