// Loops: order of iterations, races between independent ones, storage of their own.
#include <numeric>

#include "ir/interp_frame.h"

namespace uop::interp {
namespace {

constexpr int64_t kShuffled = int64_t{1} << 20;  // longer independent loops run in order

}  // namespace

void Frame::noteAccess(Storage* s, int64_t at, bool write, NodeId n) {
  for (Race& r : races_) {
    if (!s || !r.plan->written.contains(s->base) || std::ranges::find(r.plan->privateAllocs, s->base) != r.plan->privateAllocs.end()) continue;
    auto [it, fresh] = r.touched.try_emplace({s, at}, r.iteration, write);
    if (fresh) continue;
    auto& [iteration, wrote] = it->second;
    if (iteration != r.iteration && (wrote || write)) fault(g_, n, "a race: two iterations of an independent loop touch one element, and one of them writes it");
    iteration = r.iteration;
    wrote |= write;
  }
}

void Frame::runLoops(NodeId closer, const LoopPlan& plan, size_t level, const std::function<void()>& body) {
  if (level == plan.ranges.size()) return body();
  NodeId range = plan.ranges[level];
  auto bound = static_cast<int64_t>(scalar(g_.src(range, 0)));
  bool independent = !isSequential(g_.kind(range));
  std::vector<int64_t> order;
  if (independent && bound <= kShuffled && bound > 0) {
    order.resize(static_cast<size_t>(bound));
    std::iota(order.begin(), order.end(), int64_t{0});
    std::shuffle(order.begin(), order.end(), m_.shuffle);
  }
  size_t race = races_.size();
  bool watched = independent && m_.options.checkRaces;
  if (watched) races_.push_back({&plan, 0, {}});
  for (int64_t i = 0; i < bound; ++i) {
    int64_t at = order.empty() ? i : order[static_cast<size_t>(i)];
    m_.spend(1, range);
    scalars_[range] = static_cast<uint64_t>(at);
    if (watched) races_[race].iteration = at;
    if (independent)
      for (NodeId alloc : plan.privateAllocs) poison(alloc);
    for (NodeId n : plan.levels[level]) evaluate(n);
    runLoops(closer, plan, level + 1, body);
  }
  if (watched) races_.resize(race);
}

}  // namespace uop::interp
