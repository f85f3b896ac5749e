#include "cmd/check/random_function.h"

#include <algorithm>

namespace uop {

struct FunctionWriter::Row {
  Step step;
  unsigned weight;
};
const FunctionWriter::Row FunctionWriter::kSteps[] = {
    {&FunctionWriter::store, 10},     {&FunctionWriter::later, 2},     {&FunctionWriter::call, 6},      {&FunctionWriter::mapLoop, 2},  {&FunctionWriter::updateLoop, 2},
    {&FunctionWriter::reduceLoop, 2}, {&FunctionWriter::stageLoop, 2}, {&FunctionWriter::tileLoop, 1},  {&FunctionWriter::scanLoop, 2}, {&FunctionWriter::pairLoop, 1},
    {&FunctionWriter::rowLoop, 1}};
constexpr unsigned kPoolWeight = 90;

void FunctionWriter::steps(size_t count) {
  unsigned all = kPoolWeight;
  for (const Row& row : kSteps) all += row.weight;
  for (size_t i = 0; i < count && g_.size() < shared_.options.maxNodes; ++i) {
    auto at = static_cast<unsigned>(rng_.below(all));
    const Row* chosen = nullptr;
    for (const Row& row : kSteps) {
      if (at < row.weight) chosen = &row;
      if (chosen) break;
      at -= row.weight;
    }
    if (chosen) (this->*chosen->step)();
    else pool_.step();
  }
}

NodeId FunctionWriter::param(DType d, std::span<const Dim> shape, bool named) {
  Attrs a;
  a.set(AttrKey::Slot, slots_++).set(AttrKey::DTypeKey, static_cast<int64_t>(d)).set(AttrKey::Shape, g_.list(shape));
  if (named && rng_.chance(50)) a.set(AttrKey::Name, g_.string(fmt::format("x{}", slots_)));
  return g_.make(Op::Param, {}, a);
}

NodeId FunctionWriter::scalarParam() {
  DType d = pool_.randomType();
  if (!isInteger(d) || rng_.chance(30)) return param(d, {});
  int64_t least = rng_.between(isUnsigned(d) ? 0 : -3, 2);
  Attrs a;
  a.set(AttrKey::Slot, slots_++).set(AttrKey::DTypeKey, static_cast<int64_t>(d)).set(AttrKey::Shape, g_.list({}));
  a.set(AttrKey::Min, least).set(AttrKey::Max, least + rng_.between(0, 6));
  return g_.make(Op::Param, {}, a);
}

void FunctionWriter::leaves() {
  for (uint64_t i = 1 + rng_.below(3); i > 0; --i) {
    std::vector<Dim> shape = pool_.randomShape();
    if (shape.empty()) shape = {3};
    pool_.leaf(param(pool_.randomType(), shape));
  }
  for (uint64_t i = rng_.below(3); i > 0; --i) pool_.leaf(scalarParam());
  for (uint64_t i = rng_.below(3); i > 0; --i) {
    NodeId place = newPlace();
    places_.push_back({pool_.add(place, heldBy(place))});  // what an earlier run left may be there
  }
}

// The last value, others, what each place holds in the end, or the write itself.
void FunctionWriter::chooseResults(std::vector<ResultDef>& results) {
  std::vector<NodeId> chosen;
  auto take = [&](NodeId n) {
    if (std::ranges::find(chosen, n) == chosen.end()) chosen.push_back(n);
  };
  take(pool_.values().back());
  for (uint64_t i = rng_.below(4); i > 0; --i) take(pool_.any());
  for (uint64_t i = rng_.below(3); i > 0 && !pool_.ends().empty(); --i) take(rng_.pick(pool_.ends()));
  for (const Place& p : places_)
    if (p.effect != kNoNode) take(rng_.chance(80) || g_.dtype(p.effect) != DType::Void ? p.now : p.effect);
  for (size_t i = 0; i < chosen.size(); ++i) results.push_back({fmt::format("y{}", i), chosen[i]});
}

std::vector<ResultDef> FunctionWriter::writeProgram() {
  leaves();
  steps(2 + rng_.below(shared_.options.steps));
  std::vector<ResultDef> results;
  chooseResults(results);
  return results;
}

RandomProgram::Body FunctionWriter::writeBody(std::span<const NodeId> args, std::span<const Trust> trust, const std::vector<bool>& written) {
  RandomProgram::Body body;
  body.trust.assign(trust.begin(), trust.end());
  for (size_t i = 0; i < args.size(); ++i) {
    body.params.push_back(param(g_.dtype(args[i]), g_.shape(args[i]), false));
    pool_.add(body.params[i], trust[i]);
    if (written[i]) places_.push_back({body.params[i], kNoNode, static_cast<int64_t>(i)});
  }
  for (size_t i = 0; i < 3 && !places_.empty() && places_[0].effect == kNoNode; ++i) store();
  steps(1 + rng_.below(5));
  body.written.assign(args.size(), false);
  std::vector<NodeId> effects;
  for (const Place& p : places_)
    if (p.effect != kNoNode) body.written[static_cast<size_t>(p.slot)] = true, effects.push_back(p.effect);
  std::vector<NodeId> items{pool_.values().back()};
  if (rng_.chance(30)) items.push_back(pool_.any());
  for (NodeId n : items) body.results.push_back(pool_.trust(n));
  bool tensors = std::ranges::any_of(effects, [&](NodeId n) { return g_.dtype(n) != DType::Void; });
  if (!effects.empty() && rng_.chance(40)) {
    body.results.clear();
    body.root = effects.size() == 1 && !tensors ? effects[0] : g_.make(Op::Sink, effects);
    return body;
  }
  if (!effects.empty()) items[0] = g_.after(items[0], effects);
  body.root = items.size() > 1 ? g_.make(Op::Tuple, items) : items[0];
  return body;
}

}  // namespace uop
