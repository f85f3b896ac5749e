#include "ir/interp_plan.h"

#include <algorithm>

#include "ir/functions.h"

namespace uop::interp {
namespace {

constexpr size_t kMaxExtras = size_t{1} << 26;

bool closes(const Graph& g, NodeId n) { return hasTrait(g.op(n), trait::ClosesRanges) && g[n].srcCount > 1; }
bool isEffect(const Graph& g, NodeId n) { return hasTrait(g.op(n), trait::Effect); }
bool isView(const Graph& g, NodeId n) { return g[n].place && g.op(n) != Op::Stage && g.op(n) != Op::After; }

}  // namespace

void EffectSet::unite(const EffectSet& other) {
  prefix = std::max(prefix, other.prefix);
  extras.insert(extras.end(), other.extras.begin(), other.extras.end());
}

void EffectSet::normalize() {
  if (extras.empty()) return;
  std::ranges::sort(extras);
  auto from = extras.begin();
  for (; from != extras.end() && *from <= prefix + 1; ++from) prefix = std::max(prefix, *from);
  extras.erase(extras.begin(), from);
  extras.erase(std::unique(extras.begin(), extras.end()), extras.end());
}

std::set<NodeId> Planner::writesOf(NodeId n, const FunctionPlan& plan) {
  if (g_.op(n) == Op::Store) return {g_[g_.src(n, 0)].base};
  if (g_.op(n) == Op::Call) {
    const FunctionInfo& body = functions_.body(g_.src(n, 0));
    std::set<NodeId> out(body.buffersWritten.begin(), body.buffersWritten.end());
    for (int64_t slot : body.written) out.insert(g_[g_.src(n, 1 + static_cast<size_t>(slot))].base);
    return out;
  }
  auto it = plan.loops.find(n);
  return it == plan.loops.end() ? std::set<NodeId>{} : it->second.written;
}

// Bases that evaluating n reads as an iteration finds them: through AFTERs inside of loops.
std::set<NodeId> Planner::readsOf(NodeId n, const FunctionPlan& plan) const {
  if (auto it = plan.loops.find(n); it != plan.loops.end()) return it->second.read;
  std::set<NodeId> out;
  Op op = g_.op(n);
  if (fetch_[n]) out.insert(g_[n].base);
  if (op == Op::After || op == Op::Sink || g_[n].place) return out;
  // A STORE's target is not read, nor what somebody has read already.
  for (size_t i = op == Op::Store || op == Op::Call ? 1 : 0; i < g_[n].srcCount; ++i)
    if (NodeId s = g_.src(n, i); livePlace(s) && !fetch_[s]) out.insert(g_[s].base);
  return out;
}

NodeId Planner::state(NodeId place) {
  NodeId& s = states_[place];
  if (s != kNoNode) return s;
  for (s = place; g_.op(s) != Op::After; s = g_.src(s, 0)) {
  }
  return s;
}

void Planner::findData() {
  data_.resize(g_.size());
  std::vector<bool> gate(g_.size());  // an index, or a bool made of these
  for (NodeId n = 0; n < g_.size(); ++n) {
    Op op = g_.op(n);
    auto srcs = g_.srcs(n);
    bool bare = srcs.empty() && op == Op::Const;
    bool made = hasTrait(op, trait::Elementwise) && std::ranges::all_of(srcs, [&](NodeId s) { return gate[s]; });
    gate[n] = g_.dtype(n) == DType::Index || (g_.dtype(n) == DType::Bool && (bare || made));
    data_[n] = hasTrait(op, trait::Elementwise) && !gate[n] && !(op == Op::Where && gate[srcs[0]]) && g_.dtype(srcs.back()) != DType::Index;
  }
}

void Planner::findFetched(FunctionPlan& plan) {
  for (NodeId n : plan.all) {
    if (isEffect(g_, n) && !closes(g_, n) && !g_.open(n).empty()) plan.inLoops.merge(writesOf(n, plan));
  }
  for (NodeId n : plan.all) {
    Op op = g_.op(n);
    if (op == Op::Load || op == Op::After || op == Op::Call || op == Op::Sink || isView(g_, n)) continue;
    for (size_t i = op == Op::Store ? 1 : 0; i < g_[n].srcCount; ++i) {
      NodeId s = g_.src(n, i);
      if (!livePlace(s) || !plan.inLoops.contains(g_[s].base)) continue;
      NodeId at = s;
      while (isView(g_, at) && g_[at].srcCount) at = g_.src(at, 0);
      if (g_.op(at) == Op::After && !g_.open(at).empty()) fetch_[s] = true;
    }
  }
}

// AFTERs stand right behind what they wait for, so that the contents they denote are those of the moment.
void Planner::functionOrder(FunctionPlan& plan) {
  std::unordered_map<NodeId, NodeId> key;
  auto keyOf = [&](NodeId n) {
    auto it = key.find(n);
    return it == key.end() ? n : it->second;
  };
  for (NodeId n : plan.nodes) {
    if (g_.op(n) != Op::After || !g_[n].place) continue;
    NodeId k = 0;
    for (NodeId s : g_.srcs(n)) k = std::max(k, keyOf(s));
    key[n] = k;
  }
  std::ranges::stable_sort(plan.nodes, [&](NodeId a, NodeId b) { return std::pair(keyOf(a), a) < std::pair(keyOf(b), b); });
}

// Which places' contents somebody reads: users before sources, views pass on.
void Planner::contents(FunctionPlan& plan, std::span<const NodeId> roots) {
  auto& read = plan.contentRead;
  read.insert(roots.begin(), roots.end());
  for (size_t i = plan.all.size(); i-- > 0;) {
    NodeId n = plan.all[i];
    if (g_.op(n) == Op::After && g_[n].place) continue;
    if (isView(g_, n) && !read.contains(n)) continue;
    auto srcs = ownSources(g_, n);
    for (size_t k = g_.op(n) == Op::Store ? 1 : 0; k < srcs.size(); ++k)
      if (g_[srcs[k]].place) read.insert(srcs[k]);
  }
}

// For each AFTER of a place, the effects on its base that it waits for; the contents then are those of memory at that
// moment if just these effects have run.
void Planner::versions(FunctionPlan& plan) {
  std::map<NodeId, std::vector<NodeId>> effects, afters;  // by base, in the order in which they run
  std::unordered_map<NodeId, uint32_t> ran;                // AFTER → effects on its base that have run by then
  for (NodeId n : plan.nodes) {
    if (auto w = plan.writes.find(n); w != plan.writes.end())
      for (NodeId b : w->second) effects[b].push_back(n);
    if (g_.op(n) != Op::After || !g_[n].place || g_.op(g_[n].base) == Op::Stage) continue;
    NodeId base = g_[n].base;
    afters[base].push_back(n);
    ran[n] = static_cast<uint32_t>(effects[base].size());
  }
  std::vector<uint32_t> prefix(plan.all.size());
  for (auto& [base, list] : afters) {
    const auto& writers = effects[base];
    if (writers.empty()) continue;
    auto from = std::ranges::lower_bound(plan.all, *std::ranges::min_element(writers)), to = std::ranges::upper_bound(plan.all, *std::ranges::max_element(list));
    std::unordered_map<NodeId, uint32_t> number;
    for (uint32_t i = 0; i < writers.size(); ++i) number[writers[i]] = i + 1;
    std::unordered_map<NodeId, EffectSet> odd;  // nodes whose set has extras
    size_t extras = 0;
    for (auto it = from; it < to; ++it) {
      auto i = static_cast<size_t>(it - plan.all.begin());
      EffectSet set;
      for (NodeId s : ownSources(g_, *it)) {
        if (s < *from) continue;
        set.prefix = std::max(set.prefix, prefix[static_cast<size_t>(std::ranges::lower_bound(from, it, s) - plan.all.begin())]);
        if (!odd.empty())
          if (auto o = odd.find(s); o != odd.end()) set.unite(o->second);
      }
      if (auto w = number.find(*it); w != number.end()) set.extras.push_back(w->second);
      set.normalize();
      prefix[i] = set.prefix;
      if (auto r = ran.find(*it); r != ran.end() && g_[*it].base == base) {
        // As many effects as have run are those that have run.
        if (set.size() != r->second) plan.logged.insert(base), plan.rebuilt.insert(*it);
        plan.waits[*it] = set;
      }
      extras += set.extras.size();
      if (extras > kMaxExtras) throw std::bad_alloc();
      if (!set.extras.empty()) odd[*it] = std::move(set);
    }
  }
}

void Planner::lifetimes(FunctionPlan& plan, std::span<const NodeId> roots) {
  std::unordered_map<NodeId, NodeId> last;
  for (NodeId n : plan.nodes) {
    for (NodeId s : ownSources(g_, n)) last[s] = n;
    if (auto it = plan.loops.find(n); it != plan.loops.end())
      for (NodeId s : it->second.outside) last[s] = n;
  }
  for (NodeId r : roots) last.erase(r);
  for (NodeId n : plan.nodes)
    if (auto it = last.find(n); it != last.end()) plan.last[it->second].push_back(n);
}

Result<const FunctionPlan*> Planner::plan(std::span<const NodeId> roots) {
  std::vector<NodeId> key(roots.begin(), roots.end());
  if (auto it = plans_.find(key); it != plans_.end()) return &it->second;
  FunctionPlan plan;
  plan.all = cone(g_, roots);
  findFetched(plan);
  for (NodeId n : plan.all) {
    if (closes(g_, n)) plan.loops[n] = planLoops(n, plan);
    if (g_.open(n).empty()) {
      plan.nodes.push_back(n);
      if (isEffect(g_, n))
        if (auto w = writesOf(n, plan); !w.empty()) plan.writes[n] = std::move(w);
    }
    if (g_[n].place && g_[n].base == n && g_.op(n) != Op::Stage) plan.bases.insert(n);
    if (g_.op(n) == Op::Call)
      for (NodeId b : functions_.body(g_.src(n, 0)).buffersWritten) plan.bases.insert(b);
  }
  functionOrder(plan);
  contents(plan, roots);
  versions(plan);
  lifetimes(plan, roots);
  return &plans_.emplace(std::move(key), std::move(plan)).first->second;
}

}  // namespace uop::interp
