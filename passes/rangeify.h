// rangeify turns tensors into loops. Two walks over the graph, neither recursive:
//
//   demand   from users to sources: each value learns at which index expressions it is wanted. A value that is wanted
//            at one place only, and there no more often than it has elements, becomes part of its user's loop; any
//            other gets a STAGE over loops of its own, which says why (stage_reason.h): fuse decides what becomes of it.
//            Movement ops rewrite the index, PAD adds a gate.
//   build    from sources to users: each value becomes a scalar expression of the index it is wanted at.
//
// After tinygrad's rangeify (schedule/indexing.py) for the mechanism; the rule for staging is a count of evaluations.
#pragma once
#include <map>
#include <tuple>
#include <unordered_set>
#include <vector>

#include "passes/index_math.h"
#include "passes/passes.h"

namespace uop {

// A value is wanted at `index` (one scalar an axis), where `gate` holds (kNoNode: everywhere), inside `loops`.
struct Demand {
  uint32_t index = 0;         // interned (Rangeifier::at)
  NodeId gate = kNoNode;
  uint32_t region = 0;        // the loop nest at function level that wants it
  uint32_t loops = 0;         // interned list of RANGEs, outermost first
};

struct RangeifyOptions {
  bool materialize = false;
  int64_t maxKernelNodes = 2000;
};

class Rangeifier {
 public:
  Rangeifier(Program& p, RangeifyOptions options);
  void run();

 private:
  // demand (rangeify_demand.cpp)
  void demandAll();
  void demandOf(NodeId n);
  void demandSources(NodeId n, const Demand& d);
  void demandPlace(NodeId place, const Demand& context);
  void demandScalar(NodeId n, const Demand& context);
  void want(NodeId n, Demand d);
  bool isWanted(NodeId n, const Demand& d);
  void wantStored(NodeId store, const Demand& context);
  void openStage(NodeId n, const char* reason);
  const char* whyStage(NodeId n) const;
  void classify();
  void demandDeps(NodeId after, const Demand& context);
  bool wantedTooOften(NodeId n, const Demand& d) const;
  size_t loopsNeeded(NodeId n, const Demand& d) const;
  uint32_t enterLoops(uint32_t outer, std::span<const NodeId> inner, size_t keep = kMaxOpenRanges);
  uint32_t reduceRanges(NodeId n, const Demand& d);
  uint32_t freshRanges(std::span<const Dim> shape, Kind);

  // index (rangeify_index.cpp): what `movement` wants of its source when it is wanted as `d` says
  Demand through(NodeId movement, const Demand& d);

  // build (rangeify_build.cpp)
  void buildAll();
  NodeId build(NodeId n, const Demand& d);
  NodeId buildStage(NodeId n, NodeId value, std::span<const NodeId> closed, Space);
  void buildPlace(NodeId n);
  NodeId buildReduce(NodeId n, const Demand& d);
  NodeId gated(NodeId place, DType, NodeId gate, NodeId alt = kNoNode);
  NodeId read(NodeId n, const Demand& d);
  NodeId access(NodeId place, uint32_t index);
  NodeId buildPad(NodeId n, const Demand& d);
  NodeId buildLoad(NodeId n, const Demand& d);
  NodeId buildStore(NodeId n);
  std::vector<NodeId> orderOf(NodeId dep);
  bool runsEffects(NodeId closer) const;
  // Lists of nodes by id, 0 the empty one.
  std::span<const NodeId> at(uint32_t index) const { return lists_[index]; }
  uint32_t listOf(std::span<const NodeId> index) { return lists_.intern(index); }
  uint32_t joined(std::span<const NodeId> front, uint32_t back);
  bool isView(NodeId place) const;
  void placeResults();
  bool isNever(NodeId gate) const { return gate != kNoNode && g_.constInt(gate) == 0; }
  NodeId settledForm(NodeId n) const;
  void settle();

  bool isPlace(NodeId n) const { return g_[n].place; }

  struct Wanted {
    Demand demand;
    NodeId form = kNoNode;       // filled in by build
  };
  struct State {
    std::vector<Wanted> wanted;
    uint32_t ranges = 0;         // one an axis of its STAGE or STORE
    uint32_t reduced = 0;        // one an axis that a REDUCE removes
    NodeId stage = kNoNode;      // filled in by build
    const char* why = nullptr;   // it gets a STAGE of its own for this reason
  };

  Program& p_;
  Graph& g_;
  IndexMath math_;
  RangeifyOptions options_;
  std::vector<NodeId> order_;
  std::vector<State> state_;
  std::vector<bool> uniform_, cheap_, plain_;  // see classify()
  std::vector<bool> result_;               // values that the program returns
  std::vector<NodeId> base_;               // of a place: its storage behind the AFTERs of the chain
  std::vector<int64_t> regionSize_;        // by the node that names it
  std::unordered_set<uint64_t> placesWanted_;  // (place, region)
  std::vector<NodeId> settled_;            // of scalars, effects and places: the new form
  std::vector<bool> made_;                 // STAGEs whose value is in its final form
  std::vector<uint32_t> depth_;            // REDUCEs on the longest path below
  std::map<std::tuple<uint32_t, int64_t, uint32_t>, uint32_t> reduceRanges_;  // (loops, bounds, depth) → RANGEs
  Interner<NodeId> lists_;
  int64_t nextRange_ = 0;
};

}  // namespace uop
