#include "passes/reduce_groups.h"

#include <map>
#include <unordered_map>
#include <unordered_set>

namespace uop {
namespace {

constexpr size_t kMaxReductions = 256;  // more in one kernel stay apart: each is compared with all

class Grouper {
 public:
  Grouper(const Graph& g, NodeId body) : g_(g) {
    NodeId roots[] = {body};
    order_ = cone(g, roots);
    for (NodeId n : order_) reductions_ += g.op(n) == Op::Reduce;
  }
  std::vector<std::vector<NodeId>> run();

 private:
  using Needs = std::vector<bool>;  // by group
  struct Group {
    std::vector<NodeId> members;
    Needs needs;
  };
  using Key = std::pair<std::vector<NodeId>, RangeSetId>;  // its loops, and those around it

  void place(NodeId n, Needs needs);
  void join(size_t group, NodeId n, const Needs& needs);
  void unite(Needs& a, const Needs& b) const {
    for (size_t i = 0; i < b.size(); ++i)
      if (b[i]) a[i] = true;
  }
  void collect();

  const Graph& g_;
  std::vector<NodeId> order_;
  size_t reductions_ = 0;
  std::vector<Group> groups_;
  std::unordered_map<NodeId, size_t> groupOf_;
  std::map<Key, std::vector<size_t>> byKey_;
};

// Groups that wait for this one wait for what it needs as well.
void Grouper::join(size_t group, NodeId n, const Needs& needs) {
  groups_[group].members.push_back(n);
  unite(groups_[group].needs, needs);
  for (Group& other : groups_)
    if (other.needs[group]) unite(other.needs, groups_[group].needs);
  groupOf_[n] = group;
}

void Grouper::place(NodeId n, Needs needs) {
  auto srcs = g_.srcs(n);
  auto& candidates = byKey_[{{srcs.begin() + 1, srcs.end()}, g_[n].open}];
  for (size_t i : candidates) {
    bool circle = needs[i];
    for (size_t j = 0; j < groups_.size(); ++j) circle |= needs[j] && groups_[j].needs[i];
    if (!circle) return join(i, n, needs);
  }
  candidates.push_back(groups_.size());
  groupOf_[n] = groups_.size();
  groups_.push_back({{n}, std::move(needs)});
}

void Grouper::collect() {
  std::unordered_map<NodeId, Needs> needs;
  for (NodeId n : order_) {
    Needs mine(reductions_);
    for (NodeId s : g_.srcs(n)) {
      unite(mine, needs.at(s));
      if (auto it = groupOf_.find(s); it != groupOf_.end()) mine[it->second] = true, unite(mine, groups_[it->second].needs);
    }
    needs[n] = mine;
    if (g_.op(n) == Op::Reduce) place(n, std::move(mine));
  }
}

std::vector<std::vector<NodeId>> Grouper::run() {
  if (reductions_ > 1 && reductions_ <= kMaxReductions) collect();
  std::vector<std::vector<NodeId>> out;
  std::unordered_set<NodeId> done;
  std::vector<NodeId> todo(order_.rbegin(), order_.rend());
  while (!todo.empty()) {
    NodeId n = todo.back();
    auto it = groupOf_.find(n);
    std::vector<NodeId> step = it == groupOf_.end() ? std::vector{n} : groups_[it->second].members;
    size_t before = todo.size();
    if (!done.contains(n))
      for (NodeId member : step)
        for (NodeId s : g_.srcs(member))
          if (!done.contains(s)) todo.push_back(s);
    if (todo.size() != before) continue;
    todo.pop_back();
    if (done.contains(n)) continue;
    done.insert(step.begin(), step.end());
    out.push_back(std::move(step));
  }
  return out;
}

}  // namespace

std::vector<std::vector<NodeId>> reduceGroups(const Graph& g, NodeId body) { return Grouper(g, body).run(); }

}  // namespace uop
