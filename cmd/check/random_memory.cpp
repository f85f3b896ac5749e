// Places: writes through views, in order; calls, some of which write.
#include <algorithm>

#include "cmd/check/random_function.h"

namespace uop {

NodeId FunctionWriter::newPlace() {
  DType d = pool_.randomType();
  std::vector<Dim> shape = pool_.randomShape(3);
  if (rng_.chance(50) && !shape.empty()) return param(d, shape);
  return g_.make(Op::Buffer, {}, Attrs().set(AttrKey::Slot, shared_.buffers++).set(AttrKey::DTypeKey, static_cast<int64_t>(d)).set(AttrKey::Shape, g_.list(shape)));
}

NodeId FunctionWriter::viewOf(NodeId place) {
  NodeId at = place;
  for (uint64_t i = rng_.below(4); i > 0; --i) {
    bool empty = g_.rank(at) == 0 || g_.shape(at)[0] == 0;
    if (!empty && rng_.chance(20)) at = g_.make(Op::Index, {at, pool_.wholeNumber(g_.shape(at)[0])});
    else at = pool_.moved(at);
  }
  return at;
}

void FunctionWriter::wrote(Place& p, NodeId effect) {
  std::vector<NodeId> deps{effect};
  if (NodeId x = pool_.any(); rng_.chance(15)) deps.push_back(x);
  p.effect = effect;
  p.now = g_.after(p.now, deps);
  pool_.add(p.now, heldBy(p.now));
}

// A write to a view of a place, perhaps gated, perhaps of what the place holds elsewhere.
void FunctionWriter::store() {
  if (places_.empty()) return;
  Place& p = places_[rng_.below(places_.size())];
  NodeId at = viewOf(p.now), from = rng_.chance(30) ? p.now : pool_.any();
  NodeId x = pool_.tame(from, g_.dtype(at), g_.shape(at), kPlaceMost);
  std::vector<NodeId> parts{at, x};
  if (rng_.chance(30)) {
    NodeId gate = pool_.exactValue();
    parts.push_back(pool_.asType(pool_.fit(gate, rng_.chance(60) ? g_.shape(at) : std::span<const Dim>{}), DType::Bool));
  }
  wrote(p, g_.make(Op::Store, parts));
}

// A value, or another place, once a write has happened.
void FunctionWriter::later() {
  if (places_.empty()) return;
  const Place& p = rng_.pick(places_);
  NodeId x = pool_.any(), deps[] = {rng_.chance(50) && p.effect != kNoNode ? p.effect : p.now};
  if (g_[x].place && g_[x].base == g_[p.now].base) return;
  pool_.add(g_.after(x, deps), pool_.trust(x));
}

bool FunctionWriter::fits(NodeId arg, const RandomProgram::Body& body, size_t slot) {
  NodeId param = body.params[slot];
  Trust have = pool_.trust(arg), want = body.trust[slot];
  return g_.dtype(arg) == g_.dtype(param) && std::ranges::equal(g_.shape(arg), g_.shape(param)) && have.most <= want.most && have.rounded <= want.rounded &&
         have.special <= want.special && have.signless <= want.signless;
}

// A new body, or one that was called before.
void FunctionWriter::call() {
  if (depth_ > 2) return;
  Place* place = !places_.empty() && rng_.chance(40) ? &places_[rng_.below(places_.size())] : nullptr;
  if (!shared_.bodies.empty() && rng_.chance(40)) {
    const RandomProgram::Body body = shared_.bodies[rng_.below(shared_.bodies.size())];
    std::vector<NodeId> args;
    for (size_t slot = 0; slot < body.params.size(); ++slot) {
      NodeId found = kNoNode;
      for (int i = 0; i < 10 && found == kNoNode; ++i) {
        NodeId x = body.written[slot] ? (place ? place->now : kNoNode) : pool_.any();
        if (x != kNoNode && fits(x, body, slot)) found = x;
      }
      if (found == kNoNode) break;
      args.push_back(found);
    }
    if (args.size() == body.params.size()) return callBody(body, args, place);
  }
  std::vector<NodeId> args;
  for (uint64_t i = 1 + rng_.below(3); i > 0; --i) args.push_back(pool_.any());
  std::vector<bool> written(args.size());
  if (place) args[0] = place->now, written[0] = true;
  std::vector<Trust> trust;
  for (NodeId a : args) trust.push_back(pool_.trust(a));
  if (place) trust[0] = heldBy(args[0]);
  if (g_.rank(args[0]) == 0) written[0] = false;  // its PARAM is a value
  shared_.bodies.push_back(FunctionWriter(shared_, depth_ + 1).writeBody(args, trust, written));
  callBody(RandomProgram::Body(shared_.bodies.back()), args, place);
}

void FunctionWriter::callBody(const RandomProgram::Body& body, std::span<const NodeId> args, Place* place) {
  std::vector<NodeId> sources{body.root};
  bool writes = std::ranges::find(body.written, true) != body.written.end();
  for (size_t i = 0; i < args.size(); ++i) {
    bool overlaps = writes && !body.written[i] && g_[args[i]].place && g_[args[i]].base == g_[place->now].base;
    sources.push_back(overlaps ? g_.unary(Op::Detach, args[i]) : args[i]);
  }
  if (std::ranges::count(body.written, true) > 1) return;
  Attrs attrs;
  if (rng_.chance(30)) attrs.set(AttrKey::Name, g_.string("f"));
  NodeId made = g_.make(Op::Call, sources, attrs);
  if (writes) wrote(*place, made);
  if (body.results.size() == 1) pool_.add(made, body.results[0]);
  if (body.results.size() == 2)
    for (int64_t i = 0; i < 2; ++i) pool_.add(g_.make(Op::Get, {made}, Attrs().set(AttrKey::IndexKey, i)), body.results[static_cast<size_t>(i)]);
}

}  // namespace uop
