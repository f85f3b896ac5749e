// Loops of the interpreter's plan: what runs in which iteration, and in what order.
#include <algorithm>
#include <queue>

#include "ir/interp_plan.h"

namespace uop::interp {
namespace {

constexpr size_t kSearches = size_t{1} << 25;  // nodes that the search for an order may look at, for one level

bool accesses(const Graph& g, NodeId n) { return g[n].place || g.op(n) == Op::Load || g.op(n) == Op::Store; }

// Items of one level, ready ones first; an effect only when nothing else can run.
class LevelOrder {
 public:
  struct Item {
    NodeId node = kNoNode;
    std::set<NodeId> reads, writes;
    std::vector<uint32_t> users;
    uint32_t waiting = 0;
    bool effect = false, done = false;
  };
  explicit LevelOrder(std::vector<Item> items) : items_(std::move(items)), seen_(items_.size()) {}
  std::vector<NodeId> run();

 private:
  void place(uint32_t i);
  void queue(uint32_t i);
  bool mayRun(uint32_t effect);
  uint32_t choose();

  std::vector<Item> items_;
  std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>> values_;
  std::set<uint32_t> effects_;                        // ready
  std::map<NodeId, std::set<uint32_t>> readers_;      // base → items that have not run
  std::vector<uint32_t> seen_;
  uint32_t stamp_ = 0;
  size_t searched_ = 0;
  std::vector<NodeId> out_;
};

void LevelOrder::queue(uint32_t i) {
  if (items_[i].effect) effects_.insert(i);
  else values_.push(i);
}

void LevelOrder::place(uint32_t i) {
  Item& item = items_[i];
  item.done = true;
  out_.push_back(item.node);
  for (NodeId b : item.reads) readers_[b].erase(i);
  for (uint32_t u : item.users)
    if (--items_[u].waiting == 0) queue(u);
}

// Whether every read of what the effect overwrites, that has not happened, depends on the effect.
bool LevelOrder::mayRun(uint32_t effect) {
  bool readers = false;
  for (NodeId b : items_[effect].writes) {
    auto it = readers_.find(b);
    readers |= it != readers_.end() && !it->second.empty() && (it->second.size() > 1 || !it->second.contains(effect));
  }
  if (!readers) return true;
  ++stamp_;
  std::vector<uint32_t> todo{effect};
  seen_[effect] = stamp_;
  while (!todo.empty()) {
    uint32_t at = todo.back();
    todo.pop_back();
    ++searched_;
    for (uint32_t u : items_[at].users)
      if (seen_[u] != stamp_) seen_[u] = stamp_, todo.push_back(u);
  }
  for (NodeId b : items_[effect].writes)
    for (uint32_t r : readers_[b])
      if (seen_[r] != stamp_) return false;
  return true;
}

// Where no effect may run the first does: whether its iteration has no order then depends on the addresses, and a read
// that comes too late is a fault.
uint32_t LevelOrder::choose() {
  if (effects_.size() > 1)
    for (uint32_t e : effects_) {
      if (searched_ > kSearches) break;
      if (mayRun(e)) return e;
    }
  return *effects_.begin();
}

std::vector<NodeId> LevelOrder::run() {
  for (uint32_t i = 0; i < items_.size(); ++i)
    for (NodeId b : items_[i].reads) readers_[b].insert(i);
  for (uint32_t i = 0; i < items_.size(); ++i)
    if (items_[i].waiting == 0) queue(i);
  for (;;) {
    if (!values_.empty()) {
      uint32_t i = values_.top();
      values_.pop();
      place(i);
    } else if (!effects_.empty()) {
      uint32_t i = choose();
      effects_.erase(i);
      place(i);
    } else {
      return std::move(out_);
    }
  }
}

}  // namespace

// What must be there before n is evaluated.
std::span<const NodeId> Planner::needsOf(NodeId n, const FunctionPlan& plan) const {
  auto loops = plan.loops.find(n);
  if (loops != plan.loops.end()) return loops->second.outside;
  return g_.op(n) == Op::Call ? g_.srcs(n).subspan(1) : g_.srcs(n);
}

std::vector<NodeId> Planner::orderLevel(std::vector<NodeId> nodes, const FunctionPlan& plan) {
  std::ranges::sort(nodes);
  std::vector<LevelOrder::Item> items(nodes.size());
  bool effects = false;
  for (size_t i = 0; i < nodes.size(); ++i) {
    items[i].node = nodes[i];
    items[i].writes = writesOf(nodes[i], plan);
    items[i].effect = !items[i].writes.empty();
    effects |= items[i].effect;
  }
  if (!effects) return nodes;
  for (uint32_t i = 0; i < nodes.size(); ++i) {
    items[i].reads = readsOf(nodes[i], plan);
    for (NodeId s : needsOf(nodes[i], plan)) {
      auto at = std::ranges::lower_bound(nodes, s);
      if (at == nodes.end() || *at != s) continue;
      items[static_cast<size_t>(at - nodes.begin())].users.push_back(i);
      ++items[i].waiting;
    }
  }
  return LevelOrder(std::move(items)).run();
}

void Planner::privateStorage(NodeId closer, LoopPlan& out) {
  out.fresh.resize(out.ranges.size());
  for (size_t k = 0; k < out.ranges.size(); ++k) {
    Kind kind = g_.kind(out.ranges[k]);
    bool task = kind == Kind::Thread || kind == Kind::Global, lane = kind == Kind::Local || kind == Kind::Warp;
    if (!task && !lane) continue;
    std::set<NodeId> found;
    for (NodeId m : cone(g_, std::span(&closer, 1))) {
      if (!accesses(g_, m) || !g_.isOpen(m, out.ranges[k])) continue;
      NodeId base = g_[m].place ? g_[m].base : g_[g_.src(m, 0)].base;
      if (g_.op(base) == Op::Alloc && (g_.space(base) == Space::Reg || (g_.space(base) == Space::Local && task))) found.insert(base);
    }
    out.fresh[k].assign(found.begin(), found.end());
  }
}

LoopPlan Planner::planLoops(NodeId closer, const FunctionPlan& plan) {
  LoopPlan out;
  auto ranges = g_.srcs(closer).subspan(1);
  out.ranges.assign(ranges.begin(), ranges.end());
  out.levels.resize(ranges.size());
  std::set<NodeId> seen, outside;
  std::vector<NodeId> todo;
  auto visit = [&](NodeId n) {
    if (std::ranges::find(ranges, n) != ranges.end()) return;
    size_t depth = 0;  // levels that it is inside of
    for (size_t i = 0; i < ranges.size(); ++i)
      if (g_.isOpen(n, ranges[i])) depth = i + 1;
    if (depth == 0) outside.insert(n);
    else if (seen.insert(n).second) out.levels[depth - 1].push_back(n), todo.push_back(n);
  };
  visit(g_.src(closer, 0));
  for (NodeId r : ranges) visit(g_.src(r, 0));
  while (!todo.empty()) {
    NodeId n = todo.back();
    todo.pop_back();
    for (NodeId s : needsOf(n, plan)) visit(s);
  }
  out.outside.assign(outside.begin(), outside.end());
  for (const auto& level : out.levels)
    for (NodeId n : level) {
      out.written.merge(writesOf(n, plan));
      out.read.merge(readsOf(n, plan));
    }
  for (auto& level : out.levels) level = orderLevel(std::move(level), plan);
  privateStorage(closer, out);
  return out;
}

}  // namespace uop::interp
