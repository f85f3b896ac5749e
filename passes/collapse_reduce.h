// collapse-reduce makes reductions short whose terms are mostly known, once loops exist:
//
//   table    a value of loop variables alone (an arange, a causal mask) is arithmetic wherever it is read, no memory
//   count    a sum of one value over the iterations that a comparison lets through is a product: so a prefix sum of ones is an
//            arange again
//   gather   a sum in which all terms but the one at r = v are 0 is that term: x[v], gated
//   bound    where all terms from r = v on, or before it, are the identity, the loop ends, or begins, there
//   scatter  a sum that is wanted for every v, of terms that are 0 unless v = e(t), is a loop over t that updates element e(t)
//
// What makes a term the identity is found by guards.h; affine.h solves it for a RANGE. The forms are those of tinygrad's
// reduce_collapse and reduce_load_collapse; scatter is the loop interchange that makes one of them for an output axis.
#pragma once
#include <map>

#include "ir/rebuild.h"
#include "passes/affine.h"
#include "passes/guards.h"

namespace uop {

struct CollapseOptions {
  int64_t tableOps = 0;       // operations of a value of loops alone that is never kept
  int64_t minIterations = 0;  // a loop of fewer keeps its constant bound
  bool strict = false;
};

// A guard solved for a RANGE.
struct TermLimit {
  NodeId range;
  TermGuard guard;
  Limit limit;
};

class Collapser {
 public:
  Collapser(Program& p, const CollapseOptions& options)
      : p_(p), g_(p.graph), options_(options), facts_(g_), math_(g_), affine_(g_, facts_), guards_(g_, options.strict), fresh_(freshIds(g_, p.roots())) {}
  void run();

 private:
  NodeId visit(NodeId old, std::span<const NodeId> sources);
  bool isTable(NodeId stage);
  NodeId table(NodeId load);

  // Reductions that get shorter (collapse_reduce.cpp). `x` is the term, r one of the RANGEs.
  NodeId collapse(NodeId reduce);
  enum class Outcome { Same, Bounded, Gone };
  Outcome shorten(NodeId& x, std::vector<NodeId>& ranges, size_t i, ReduceOp op);
  std::vector<TermLimit> limitsOf(NodeId x, NodeId r, ReduceOp op);
  bool canReplace(NodeId x, std::span<const NodeId> ranges) const;
  bool expand(NodeId& x, NodeId load, std::span<const NodeId> keys);
  bool gather(NodeId& x, NodeId r, ReduceOp op, std::vector<TermLimit>& limits);
  NodeId gathered(NodeId x, const TermLimit& at, ReduceOp op);
  NodeId counted(NodeId x, NodeId trips, int64_t n, ReduceOp op);
  NodeId withoutGuards(NodeId x, NodeId r, NodeId by, const std::vector<TermLimit>&, NodeId some);
  struct Trips {
    NodeId first, count;
  };
  Trips tripsLeft(std::span<const NodeId> ranges, size_t i, std::vector<TermLimit>& limits);
  Trips tripsOf(const std::vector<TermLimit>&, int64_t n);
  int64_t bound(NodeId range) const { return g_.constInt(g_.src(range, 0)).value_or(-1); }

  // Sums that become updates (collapse_scatter.cpp).
  NodeId scatter(NodeId stage);
  std::vector<TermLimit> ownersOf(NodeId& x, NodeId reduce, std::span<const NodeId> loops);
  struct Update {
    std::vector<NodeId> loops, element;
    NodeId gate = kNoNode, term = kNoNode;
  };
  Update updateOf(NodeId reduce, NodeId x, std::span<const NodeId> loops, const std::vector<TermLimit>& owners);
  int64_t termsOf(NodeId reduce) const;
  struct Scatter {
    NodeId reduce, x;
    std::vector<TermLimit> owners;
  };
  std::vector<Scatter> scattersOf(NodeId value, std::span<const NodeId> loops);
  NodeId scattered(std::span<const Scatter> sums, std::span<const NodeId> rest, std::span<const NodeId> loops);
  std::vector<NodeId> addends(NodeId value) const;
  NodeId freshLoop(NodeId bound) { return g_.range(bound, fresh_.range++, Kind::Loop); }
  NodeId sweep(NodeId place, std::span<const Dim> shape, auto value);

  Program& p_;
  Graph& g_;
  const CollapseOptions& options_;
  ValueRanges facts_;
  IndexMath math_;
  Affine affine_;
  GuardFinder guards_;
  FreshIds fresh_;
  std::unordered_map<NodeId, bool> tables_;
  std::map<std::pair<NodeId, NodeId>, NodeId> bounded_;  // (RANGE, iterations) → the shorter RANGE
};

}  // namespace uop
