#include "passes/rangeify.h"

#include "ir/rebuild.h"
#include "passes/each_function.h"
#include "passes/stage_reason.h"

namespace uop {

Rangeifier::Rangeifier(Program& p, RangeifyOptions options) : p_(p), g_(p.graph), math_(g_), options_(options) {
  nextRange_ = freshIds(g_, p.roots()).range;
  placeResults();
  order_ = cone(g_, p_.roots());
  size_t count = order_.empty() ? 0 : order_.back() + 1;
  state_.resize(count);
  base_.assign(count, kNoNode);
  uniform_.resize(count);
  cheap_.resize(count);
  plain_.resize(count);
  result_.resize(count);
  depth_.resize(count);
  regionSize_.resize(count);
  settled_.assign(count, kNoNode);
}

// What is no loop nest of its own but is returned (a view, a constant, a scalar argument) is copied to where results lie. The loops
// of what is reshaped are those before, where no index must be taken apart; where these are a result as well, both lie in one place.
void Rangeifier::placeResults() {
  std::unordered_map<NodeId, NodeId> reshaped;
  for (ResultDef& r : p_.results) {
    const Node& n = g_[r.node];
    bool copied = n.place ? isView(r.node) : n.srcCount == 0 || hasTrait(n.op, trait::Movement) || n.op == Op::Detach;
    if (!isValue(n.dtype) || !copied) continue;
    NodeId moved = r.node;
    while (g_.op(moved) == Op::Reshape && !g_[g_.src(moved, 0)].place) moved = g_.src(moved, 0);
    NodeId stage = stageBecause(g_, moved, {}, Space::Global, "a result that is no storage of its own");
    if (moved != r.node) reshaped[moved] = stage;
    r.node = moved == r.node ? stage : g_.reshape(stage, g_.shape(r.node));
  }
  for (ResultDef& r : p_.results)
    if (auto it = reshaped.find(r.node); it != reshaped.end()) r.node = it->second;
}

bool Rangeifier::isView(NodeId place) const {
  while (g_.op(place) == Op::After) place = g_.src(place, 0);
  return g_[place].srcCount > 0 && g_.op(place) != Op::Stage;
}

void Rangeifier::run() {
  classify();
  demandAll();
  buildAll();
  settle();
}

static Result<Program> rangeifyFunction(Program p, PassContext& ctx) {
  Rangeifier(p, {ctx.options.boolean("materialize"), ctx.options.integer("max-kernel-nodes")}).run();
  pinEffects(p);
  remarkStages(p, "staged", ctx);
  return p;
}

Result<Program> runRangeify(Program p, PassContext& ctx) { return runOnFunctions(std::move(p), ctx, rangeifyFunction); }

}  // namespace uop
