// Loops: order of iterations, storage of their own.
#include <numeric>

#include "ir/interp_frame.h"

namespace uop::interp {
namespace {

constexpr int64_t kShuffled = int64_t{1} << 20;  // longer independent loops run in order
constexpr size_t kMaxWatched = 64;               // nested loops that are watched for races

}  // namespace

void Frame::runLoops(NodeId closer, const std::function<void()>& body) {
  ++depth_;
  runLevel(plan_->loops.at(closer), 0, body);
  --depth_;
}

// Looks for races on what the loop writes, its private storage aside.
void Frame::watch(const LoopPlan& plan, size_t level, bool on) {
  uint64_t bit = uint64_t{1} << (m_.loops.size() - 1);
  for (NodeId base : plan.written) {
    if (std::ranges::binary_search(plan.fresh[level], base)) continue;
    Storage* s = storageOf(base);
    s->watched = on ? s->watched | bit : s->watched & ~bit;
    if (!s->touched.empty() || !on) continue;
    m_.charge(static_cast<int64_t>(3 * s->now->size()));
    s->touched.resize(s->now->size());
  }
}

void Frame::iterate(const LoopPlan& plan, size_t level, int64_t i, const std::function<void()>& body) {
  NodeId range = plan.ranges[level];
  const auto& nodes = plan.levels[level];
  m_.spend(1 + nodes.size(), range);
  scalars_[range] = static_cast<uint64_t>(i);
  m_.began[range] = ++m_.clock;
  for (NodeId alloc : plan.fresh[level]) poison(storageOf(alloc));
  for (NodeId n : nodes) evaluate(n);
  runLevel(plan, level + 1, body);
}

void Frame::runLevel(const LoopPlan& plan, size_t level, const std::function<void()>& body) {
  if (level == plan.ranges.size()) return body();
  NodeId range = plan.ranges[level];
  auto bound = static_cast<int64_t>(scalar(g_.src(range, 0)));
  bool independent = !isSequential(g_.kind(range));
  std::vector<int64_t> order;
  if (independent && bound <= kShuffled && bound > 1) {
    order.resize(static_cast<size_t>(bound));
    std::iota(order.begin(), order.end(), int64_t{0});
    std::shuffle(order.begin(), order.end(), m_.shuffle);
  }
  bool watched = independent && m_.options.checkRaces && m_.loops.size() < kMaxWatched;
  if (watched) {
    m_.loops.push_back({++m_.clock, 0});
    watch(plan, level, true);
  }
  size_t depth = m_.loops.size();
  for (int64_t i = 0; i < bound; ++i) {
    if (watched) m_.loops[depth - 1].iteration = m_.clock + 1;  // when iterate() begins it
    iterate(plan, level, order.empty() ? i : order[static_cast<size_t>(i)], body);
  }
  if (!watched) return;
  watch(plan, level, false);
  m_.loops.pop_back();
}

}  // namespace uop::interp
