#include "passes/reduce_groups.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

namespace uop {
namespace {

constexpr size_t kMaxReductions = 256;  // more in one kernel stay apart: each is compared with all

// Renames RANGEs so that equal loops are the same.
class Aligner {
 public:
  Aligner(Graph& g, NodeId body) : g_(g) {
    NodeId roots[] = {body};
    order_ = cone(g, roots);
  }
  NodeId run();

 private:
  // Bounds and kinds of the loops, the loops around them, how many reductions are on the longest way below.
  using Key = std::tuple<std::vector<std::pair<NodeId, Kind>>, std::vector<NodeId>, uint32_t>;
  struct Closed {
    uint32_t depth = 0;  // of the REDUCEs that close a RANGE
    bool known = false, mixed = false;
  };

  void findClosers();
  Key keyOf(NodeId reduce) const;
  void align(NodeId reduce);
  NodeId renamed(NodeId range) const {
    auto it = name_.find(range);
    return it == name_.end() ? range : it->second;
  }

  Graph& g_;
  std::vector<NodeId> order_;
  std::unordered_map<NodeId, uint32_t> depth_;
  std::unordered_map<NodeId, Closed> closed_;     // by RANGE
  std::map<Key, std::vector<NodeId>> loops_;
  std::unordered_map<NodeId, NodeId> name_;
};

void Aligner::findClosers() {
  for (NodeId n : order_) {
    uint32_t& depth = depth_[n];
    for (NodeId s : g_.srcs(n)) depth = std::max(depth, depth_.at(s));
    if (!hasTrait(g_.op(n), trait::ClosesRanges)) continue;
    depth += g_.op(n) == Op::Reduce;
    for (NodeId r : g_.srcs(n).subspan(1)) {
      Closed& c = closed_[r];
      c.mixed |= g_.op(n) != Op::Reduce || (c.known && c.depth != depth);
      c.depth = depth, c.known = true;
    }
  }
}

Aligner::Key Aligner::keyOf(NodeId reduce) const {
  Key out;
  for (NodeId r : g_.srcs(reduce).subspan(1)) std::get<0>(out).emplace_back(g_.src(r, 0), g_.kind(r));
  for (NodeId r : g_.open(reduce)) std::get<1>(out).push_back(renamed(r));
  std::ranges::sort(std::get<1>(out));
  std::get<2>(out) = depth_.at(reduce);
  return out;
}

// Where every reduction over a RANGE is as deep, none is inside of another.
void Aligner::align(NodeId reduce) {
  auto ranges = g_.srcs(reduce).subspan(1);
  if (std::ranges::any_of(ranges, [&](NodeId r) { return closed_.at(r).mixed || name_.contains(r); })) return;
  auto [loops, fresh] = loops_.try_emplace(keyOf(reduce), ranges.begin(), ranges.end());
  for (size_t i = 0; i < ranges.size(); ++i) name_[ranges[i]] = loops->second[i];
}

NodeId Aligner::run() {
  findClosers();
  for (auto it = order_.rbegin(); it != order_.rend(); ++it)
    if (g_.op(*it) == Op::Reduce) align(*it);
  std::unordered_map<NodeId, NodeId> now;
  std::vector<NodeId> sources;
  for (NodeId n : order_) {
    sources.clear();
    for (NodeId s : g_.srcs(n)) sources.push_back(now.at(s));
    now[n] = g_.op(n) == Op::Range ? renamed(n) : g_.remake(g_, n, sources);
  }
  return now.at(order_.back());
}

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

NodeId alignReductions(Graph& g, NodeId body) { return Aligner(g, body).run(); }

std::vector<std::vector<NodeId>> reduceGroups(const Graph& g, NodeId body) { return Grouper(g, body).run(); }

}  // namespace uop
