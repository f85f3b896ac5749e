// What the interpreter works out about a function before it runs: which nodes belong to which loop, in what order, and
// which contents each read sees.
#pragma once
#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "ir/functions.h"
#include "ir/program.h"

namespace uop::interp {

// One node that closes RANGEs (END, REDUCE, STAGE): level k holds what is evaluated once an iteration of its k-th range.
struct LoopPlan {
  std::vector<NodeId> ranges;
  std::vector<std::vector<NodeId>> levels;
  std::vector<NodeId> outside;             // what the loops use from outside, ascending
  std::vector<std::vector<NodeId>> fresh;  // by level: local and reg ALLOCs of which each iteration has its own
  std::set<NodeId> written;                // bases that effects inside write
  std::set<NodeId> read;                   // bases that are read inside through live AFTERs
};

// Effects on one base, numbered from 1 as they run: the first `prefix` of them and `extras`, ascending.
struct EffectSet {
  uint32_t prefix = 0;
  std::vector<uint32_t> extras;
  size_t size() const { return prefix + extras.size(); }
  bool contains(uint32_t effect) const { return effect <= prefix || std::ranges::binary_search(extras, effect); }
  void unite(const EffectSet&);
  void normalize();
};

struct FunctionPlan {
  std::vector<NodeId> all;                        // the function, ascending
  std::vector<NodeId> nodes;                      // evaluated once, in this order
  std::unordered_map<NodeId, LoopPlan> loops;     // by closer, of every depth
  std::unordered_map<NodeId, std::vector<NodeId>> last;   // node → values that nothing needs after it
  std::unordered_map<NodeId, std::set<NodeId>> writes;    // effect at function level → bases that it writes
  std::unordered_map<NodeId, EffectSet> waits;    // place AFTER at function level → effects on its base that it waits for
  std::unordered_set<NodeId> rebuilt;             // those that cannot be read from memory as it then is
  std::set<NodeId> logged;                        // their bases
  std::unordered_set<NodeId> contentRead;         // places whose contents some user reads
  std::set<NodeId> bases;                         // storage that the function touches
  std::set<NodeId> inLoops;                       // bases that loops write
};

class Planner {
 public:
  explicit Planner(const Graph& g) : g_(g), fetch_(g.size()), states_(g.size(), kNoNode), functions_(g) { findData(); }
  Result<const FunctionPlan*> plan(std::span<const NodeId> roots);

  // A place in a loop of which somebody reads the contents without a LOAD: it is read when it is evaluated.
  bool fetched(NodeId place) const { return fetch_[place]; }
  // The AFTER that says which contents a live place has.
  NodeId state(NodeId place);
  // Whether an element-wise op works on data: not on an index, nor on a gate (what indices alone decide), nor selects by one.
  bool isData(NodeId n) const { return data_[n]; }

 private:
  bool livePlace(NodeId n) const { return g_[n].place && !g_.open(n).empty() && g_.op(g_[n].base) != Op::Stage; }
  void findData();
  void findFetched(FunctionPlan&);
  LoopPlan planLoops(NodeId closer, const FunctionPlan&);
  void privateStorage(NodeId closer, LoopPlan&);
  std::vector<NodeId> orderLevel(std::vector<NodeId>, const FunctionPlan&);
  std::span<const NodeId> needsOf(NodeId n, const FunctionPlan&) const;
  std::set<NodeId> writesOf(NodeId effect, const FunctionPlan&);
  std::set<NodeId> readsOf(NodeId node, const FunctionPlan&) const;
  void functionOrder(FunctionPlan&);
  void contents(FunctionPlan&, std::span<const NodeId> roots);
  void versions(FunctionPlan&);
  void lifetimes(FunctionPlan&, std::span<const NodeId> roots);

  const Graph& g_;
  std::vector<bool> fetch_, data_;
  std::vector<NodeId> states_;
  Functions functions_;
  std::map<std::vector<NodeId>, FunctionPlan> plans_;
};

}  // namespace uop::interp
