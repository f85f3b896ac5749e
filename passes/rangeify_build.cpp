// The second walk of rangeify: each value becomes a scalar expression of the index it is wanted at.
#include "ir/rebuild.h"
#include "passes/rangeify.h"
#include "passes/stage_reason.h"

namespace uop {
namespace {

std::vector<NodeId> loopsAmong(const Graph& g, std::span<const NodeId> index) {
  std::vector<NodeId> out;
  for (NodeId i : index)
    if (g.op(i) == Op::Range) out.push_back(i);
  return out;
}

std::vector<NodeId> concat(std::span<const NodeId> a, std::span<const NodeId> b) {
  std::vector<NodeId> out(a.begin(), a.end());
  out.insert(out.end(), b.begin(), b.end());
  return out;
}

}  // namespace

NodeId Rangeifier::gated(NodeId place, DType dtype, NodeId gate, NodeId alt) {
  if (gate == kNoNode) return g_.load(place);
  return g_.make(Op::Load, {place, alt == kNoNode ? g_.constant(dtype, zeroOf(dtype)) : alt, gate});
}

// The element of a view at `index`, as an INDEX into its storage.
NodeId Rangeifier::access(NodeId place, uint32_t index) {
  NodeId base = base_[place];
  Demand d{index};
  for (NodeId p = place; g_[p].srcCount > 0 && g_.op(p) != Op::Stage; p = g_.src(p, 0)) {
    if (g_.op(p) == Op::After) continue;
    if (g_.op(p) != Op::Index) {
      d = through(p, d);
      continue;
    }
    std::vector<NodeId> front;
    for (NodeId i : g_.srcs(p).subspan(1)) front.push_back(math_.asIndex(i));
    d.index = joined(front, d.index);
  }
  return g_.indexInto(base, at(d.index));
}

NodeId Rangeifier::read(NodeId n, const Demand& wanted) {
  // An index may well be out of bounds there.
  if (isNever(wanted.gate)) return g_.constant(g_.dtype(n), zeroOf(g_.dtype(n)));
  Demand d = wanted;
  if (g_.rank(n) == 0) d.index = 0;
  if (isPlace(n)) return gated(access(n, d.index), g_.dtype(n), d.gate);
  if (g_.rank(n) == 0) d.gate = kNoNode;
  if (state_[n].why) return gated(g_.indexInto(state_[n].stage, at(d.index)), g_.dtype(n), d.gate);
  if (g_[n].srcCount == 0 || g_.op(n) == Op::Range) return n;
  const auto& forms = state_[n].wanted;
  auto it = std::ranges::find_if(forms, [&](const Wanted& w) { return w.form != kNoNode && w.demand.index == d.index && w.demand.gate == d.gate; });
  if (it == forms.end()) internalError("rangeify: a value was not demanded where it is read: " + std::string(name(g_.op(n))));
  return it->form;
}

NodeId Rangeifier::buildPad(NodeId n, const Demand& d) {
  Demand inner = through(n, d);
  NodeId x = g_.src(n, 0), value = read(x, inner);
  if (inner.gate == kNoNode || inner.gate == d.gate) return value;
  // A gated load gives the zero by itself.
  if (g_.op(value) == Op::Load && g_[value].srcCount == 3 && g_.src(value, 2) == inner.gate) return value;
  return g_.where(inner.gate, value, g_.constant(g_.dtype(n), zeroOf(g_.dtype(n))));
}

NodeId Rangeifier::buildLoad(NodeId n, const Demand& d) {
  NodeId place = access(g_.src(n, 0), d.index);
  if (g_[n].srcCount == 1) return gated(place, g_.dtype(n), d.gate);
  return gated(place, g_.dtype(n), math_.both(read(g_.src(n, 2), d), d.gate), read(g_.src(n, 1), d));
}

NodeId Rangeifier::buildReduce(NodeId n, const Demand& d) {
  const State& s = state_[n];
  Demand inner = d;
  inner.index = joined(at(s.reduced), d.index);
  NodeId x = read(g_.src(n, 0), inner);
  auto loops = concat(loopsAmong(g_, at(s.reduced)), g_.srcs(n).subspan(1));
  return loops.empty() ? x : g_.reduce(x, loops, g_.reduceOp(n));
}

NodeId Rangeifier::build(NodeId n, const Demand& d) {
  Op op = g_.op(n);
  if (hasTrait(op, trait::Elementwise)) {
    if (op == Op::Detach) return read(g_.src(n, 0), d);
    std::vector<NodeId> srcs;
    for (NodeId s : g_.srcs(n)) srcs.push_back(read(s, d));
    return g_.remake(g_, n, srcs);
  }
  if (op == Op::Pad) return buildPad(n, d);
  if (hasTrait(op, trait::Movement)) return read(g_.src(n, 0), through(n, d));
  switch (op) {
    case Op::Reduce: return buildReduce(n, d);
    case Op::Load: return buildLoad(n, d);
    case Op::After: {
      std::vector<NodeId> deps;
      for (NodeId dep : g_.srcs(n).subspan(1))
        for (NodeId s : orderOf(dep)) deps.push_back(s);
      return g_.after(read(g_.src(n, 0), d), deps);
    }
    default: return n;
  }
}

// A STAGE has an axis for each axis of its value: those of one element get a loop of bound 1.
NodeId Rangeifier::buildStage(NodeId n, NodeId value, std::span<const NodeId> closed, Space space) {
  std::vector<NodeId> loops(closed.begin(), closed.end());
  for (NodeId i : at(state_[n].ranges)) loops.push_back(g_.op(i) == Op::Range ? i : g_.range(int64_t{1}, nextRange_++, Kind::Loop));
  // One that the program has keeps its own attributes; one of ours says why it is there.
  NodeId out = state_[n].why ? stageBecause(g_, value, loops, space, state_[n].why) : stageLike(g_, n, value, loops);
  if (out >= made_.size()) made_.resize(out + 1);
  made_[out] = true;
  return out;
}

NodeId Rangeifier::buildStore(NodeId n) {
  const State& s = state_[n];
  auto srcs = g_.srcs(n);
  Demand inner{s.ranges};
  std::vector<NodeId> parts{access(srcs[0], s.ranges), read(srcs[1], inner)};
  if (srcs.size() == 3) parts.push_back(read(srcs[2], inner));
  return g_.end(g_.make(Op::Store, parts, g_.attrsOf(n)), loopsAmong(g_, at(s.ranges)));
}

void Rangeifier::buildPlace(NodeId n) {
  auto srcs = g_.srcs(n);
  if (srcs.empty()) {
    base_[n] = n;
  } else if (g_.op(n) == Op::Stage) {
    base_[n] = state_[n].wanted.empty() ? n : buildStage(n, read(srcs[0], {state_[n].ranges}), srcs.subspan(1), g_.space(n));
    settled_[n] = base_[n];
  } else if (g_.op(n) == Op::After) {
    std::vector<NodeId> deps;
    for (NodeId dep : srcs.subspan(1))
      for (NodeId s : orderOf(dep)) deps.push_back(s);
    base_[n] = g_.after(base_[srcs[0]], deps);
    settled_[n] = base_[n];
  } else {
    base_[n] = base_[srcs[0]];
  }
}

void Rangeifier::buildAll() {
  for (NodeId n : order_) {
    if (isPlace(n)) {
      buildPlace(n);
      continue;
    }
    State& s = state_[n];
    if (g_.op(n) == Op::Store && !s.wanted.empty()) settled_[n] = buildStore(n);
    if (g_.op(n) == Op::Sink && g_.open(n).empty()) settled_[n] = g_.make(Op::Sink, orderOf(n));
    if (!isValue(g_.dtype(n)) || g_[n].srcCount == 0 || g_.op(n) == Op::Range) continue;
    for (Wanted& w : s.wanted) w.form = build(n, w.demand);
    if (s.why) s.stage = buildStage(n, s.wanted[0].form, {}, g_.open(n).empty() ? Space::Global : Space::Local);
    if (g_.rank(n) == 0 && !s.wanted.empty()) settled_[n] = read(n, {});
  }
}

NodeId Rangeifier::settledForm(NodeId n) const { return n < settled_.size() && settled_[n] != kNoNode ? settled_[n] : n; }

// Index expressions and AFTERs were built over old scalars and effects; now each of these has its new form. What a STAGE
// of ours keeps is a form already, even where it looks like the old node that the STAGE replaces.
void Rangeifier::settle() {
  struct Item {
    NodeId node;
    bool final;
  };
  made_.resize(g_.size());
  std::array<std::vector<NodeId>, 2> tables{std::vector<NodeId>(g_.size(), kNoNode), std::vector<NodeId>(g_.size(), kNoNode)};
  auto now = [&](Item item) -> NodeId& { return tables[item.final][item.node]; };
  std::vector<Item> todo;
  auto resultItem = [&](NodeId n) { return result_[n] ? Item{state_[n].stage, true} : Item{n, false}; };
  for (const ResultDef& r : p_.results) todo.push_back(resultItem(r.node));
  std::vector<NodeId> sources;
  while (!todo.empty()) {
    Item item = todo.back();
    NodeId form = item.final ? item.node : settledForm(item.node);
    if (now(item) != kNoNode) {
      todo.pop_back();
      continue;
    }
    auto sourceItem = [&](size_t i) { return Item{g_.src(form, i), i == 0 && made_[form]}; };
    const size_t first = g_.op(form) == Op::Call;  // a body is another function
    size_t before = todo.size();
    for (size_t i = first; i < g_[form].srcCount; ++i)
      if (now(sourceItem(i)) == kNoNode) todo.push_back(sourceItem(i));
    if (todo.size() != before) continue;
    sources.assign(g_.srcs(form).begin(), g_.srcs(form).begin() + static_cast<long>(first));
    for (size_t i = first; i < g_[form].srcCount; ++i) sources.push_back(now(sourceItem(i)));
    now(item) = g_.remake(g_, form, sources);
    todo.pop_back();
  }
  for (ResultDef& r : p_.results) r.node = now(resultItem(r.node));
  std::vector<NodeId> moved(g_.size(), kNoNode);
  for (NodeId n : order_) {
    if (!p_.hasTag(n)) continue;
    moved[n] = now(result_[n] ? resultItem(n) : Item{state_[n].why ? state_[n].stage : n, false});
  }
  keepBodies(g_, order_, moved);
  p_.moveTags(moved);
  p_.lines.clear();
}

}  // namespace uop
