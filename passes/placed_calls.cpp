// CALLs on places alone: values that a CALL is given are staged, values that it gives are stored to an ALLOC.
#include "passes/call_sites.h"
#include "passes/stage_reason.h"

namespace uop {
namespace {

// A PARAM of rank 0 is a value: what is stored there has shape [1].
std::vector<Dim> storedShape(const Graph& g, NodeId value) {
  std::vector<Dim> out(g.shape(value).begin(), g.shape(value).end());
  if (out.empty()) out = {1};
  return out;
}

struct PlacedBody {
  NodeId body = kNoNode;
  std::vector<NodeId> results;  // of the old body; each that is no effect has a PARAM after the arguments
};

class Placer {
 public:
  Placer(Program& p, Inliner& inliner, const std::unordered_map<NodeId, NodeId>& leaves) : p_(p), g_(p.graph), inliner_(inliner), leaves_(leaves), sites_(p, leaves) {}
  void run();

 private:
  void choose();
  const PlacedBody& placedBody(NodeId call);
  NodeId visit(NodeId old, std::span<const NodeId> sources);
  NodeId call(NodeId old, std::span<const NodeId> sources);
  NodeId get(NodeId old);
  NodeId valueIn(NodeId place, std::span<const Dim> shape);
  std::vector<NodeId> effectsAmong(NodeId old, std::span<const NodeId> sources) const;

  Program& p_;
  Graph& g_;
  Inliner& inliner_;
  const std::unordered_map<NodeId, NodeId>& leaves_;
  CallSites sites_;
  std::unordered_set<NodeId> kept_, staged_;                 // CALLs, and values that they are given
  std::unordered_map<NodeId, PlacedBody> bodies_;
  std::unordered_map<NodeId, NodeId> made_;                  // kept CALL → its new form
  std::unordered_map<NodeId, std::vector<NodeId>> results_;  // kept CALL → a place for each result, an effect for each that is one
  std::unordered_map<NodeId, NodeId> place_;                 // value → the place that holds it
};

void Placer::choose() {
  std::vector<NodeId> calls;
  for (NodeId n : cone(g_, p_.roots()))
    if (g_.op(n) == Op::Call && sites_.canPlace(n)) calls.push_back(n);
  kept_.insert(calls.begin(), calls.end());
  for (NodeId n : sites_.sharing(calls)) kept_.erase(n);
  for (NodeId n : kept_)
    for (NodeId a : sites_.given(n))
      if (g_.rank(a) > 0 && sites_.wholePlace(a) == kNoNode && !kept_.contains(a)) staged_.insert(a);
  std::erase_if(staged_, [&](NodeId a) { return g_.op(a) == Op::Get && kept_.contains(g_.src(a, 0)); });
}

const PlacedBody& Placer::placedBody(NodeId call) {
  NodeId body = leaves_.at(g_.src(call, 0));
  auto [it, fresh] = bodies_.try_emplace(body);
  PlacedBody& out = it->second;
  if (!fresh) return out;
  const BodyArguments& args = sites_.arguments(call);
  std::unordered_map<NodeId, int64_t> slots;
  for (NodeId n : args.params) slots.emplace(n, static_cast<int64_t>(slots.size()));
  for (NodeId n : args.buffers) slots.emplace(n, static_cast<int64_t>(slots.size()));
  auto now = rebuildNodes(g_, std::span(&body, 1), [&](NodeId old, std::span<const NodeId> sources, const auto&) {
    if (g_.op(old) == Op::Param) return g_.make(Op::Param, {}, g_.attrsOf(old).set(AttrKey::Slot, slots.at(old)));
    return g_.op(old) == Op::Buffer ? g_.param(slots.at(old), g_.dtype(old), g_.shape(old)) : g_.remake(g_, old, sources);
  });
  NodeId root = now[body];
  std::vector<NodeId> deps, effects;
  for (; g_.dtype(root) == DType::Tuple && g_.op(root) == Op::After; root = g_.src(root, 0)) deps.insert(deps.end(), g_.srcs(root).begin() + 1, g_.srcs(root).end());
  if (g_.op(root) == Op::Tuple) out.results.assign(g_.srcs(root).begin(), g_.srcs(root).end());
  else out.results = {root};
  auto slot = static_cast<int64_t>(slots.size());
  for (NodeId r : out.results) {
    if (g_.dtype(r) == DType::Void) {
      effects.push_back(r);
      continue;
    }
    std::vector<Dim> shape = storedShape(g_, r);
    NodeId value = g_.reshape(asValue(g_, r), shape);
    effects.push_back(g_.store(g_.param(slot++, g_.dtype(r), shape), g_.after(value, deps)));
  }
  out.body = effects.size() == 1 ? effects[0] : g_.make(Op::Sink, effects);
  return out;
}

NodeId Placer::valueIn(NodeId place, std::span<const Dim> shape) { return g_.reshape(g_.load(place), shape); }

NodeId Placer::call(NodeId old, std::span<const NodeId> sources) {
  const PlacedBody& placed = placedBody(old);
  std::vector<NodeId> parts{placed.body}, allocs;
  std::unordered_map<NodeId, NodeId> now;
  for (size_t i = 1; i < sources.size(); ++i) now.emplace(g_.src(old, i), sources[i]);
  for (NodeId a : sites_.given(old)) {
    if (auto it = place_.find(a); it != place_.end()) parts.push_back(it->second);
    else if (!now.contains(a)) parts.push_back(a);  // a BUFFER of the body
    else parts.push_back(!g_[now.at(a)].place && g_.op(now.at(a)) == Op::Load ? g_.src(now.at(a), 0) : now.at(a));
  }
  for (NodeId r : placed.results)
    if (g_.dtype(r) != DType::Void) allocs.push_back(inliner_.freshAlloc(g_.dtype(r), storedShape(g_, r)));
  parts.insert(parts.end(), allocs.begin(), allocs.end());
  NodeId made = made_[old] = g_.make(Op::Call, parts, g_.attrsOf(old));
  auto& results = results_[old];
  size_t next = 0;
  for (NodeId r : placed.results) results.push_back(g_.dtype(r) == DType::Void ? made : g_.after(allocs[next++], std::span(&made, 1)));
  if (!isValue(g_.dtype(old))) return made;
  if (g_.rank(old) > 0) place_[old] = results[0];
  return valueIn(results[0], g_.shape(old));
}

NodeId Placer::get(NodeId old) {
  NodeId result = results_.at(g_.src(old, 0))[static_cast<size_t>(g_.attr(old, AttrKey::IndexKey))];
  if (!g_[result].place) return result;
  if (g_.rank(old) > 0) place_[old] = result;
  return valueIn(result, g_.shape(old));
}

// What waits for a CALL waits for all of it, not for a result alone.
std::vector<NodeId> Placer::effectsAmong(NodeId old, std::span<const NodeId> sources) const {
  std::vector<NodeId> out(sources.begin(), sources.end());
  for (size_t i = g_.op(old) == Op::After ? 1 : 0; i < out.size(); ++i)
    if (auto it = made_.find(g_.src(old, i)); it != made_.end()) out[i] = it->second;
  return out;
}

NodeId Placer::visit(NodeId old, std::span<const NodeId> sources) {
  Op op = g_.op(old);
  if (kept_.contains(old)) return call(old, sources);
  if (op == Op::Get && kept_.contains(g_.src(old, 0))) return get(old);
  if (op == Op::Call) return inliner_.instantiate(leaves_.at(g_.src(old, 0)), sources.subspan(1));
  return op == Op::After || op == Op::Sink ? inliner_.remake(old, effectsAmong(old, sources)) : inliner_.remake(old, sources);
}

void Placer::run() {
  choose();
  auto now = rebuildNodes(g_, p_.roots(), [&](NodeId old, std::span<const NodeId> sources, const auto&) {
    NodeId made = visit(old, sources);
    if (!staged_.contains(old)) return made;
    NodeId stage = place_[old] = stageBecause(g_, asValue(g_, made), {}, Space::Global, "an argument of a CALL");
    return g_.load(stage);
  });
  for (const ResultDef& r : p_.results)
    if (auto it = place_.find(r.node); it != place_.end()) now[r.node] = it->second;
  retarget(p_, now);
}

}  // namespace

void placeCalls(Program& p, Inliner& inliner, const std::unordered_map<NodeId, NodeId>& leaves) { Placer(p, inliner, leaves).run(); }

}  // namespace uop
