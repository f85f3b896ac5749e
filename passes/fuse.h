// fuse decides what becomes memory. rangeify left a STAGE wherever users disputed how a value is indexed; each that says
// why (stage_reason.h) is now
//   inlined     computed in each user: cheap arithmetic that moves fewer bytes so, its costly parts kept where these are smaller; or
//               slices, each used once, at whatever cost,
//   blocked     kept inside its one user's kernel, a block of rows and its margins at a time (a stencil's input),
//   local       kept inside its one user's kernel, for a block of the loops on which all reads agree (the row of a softmax),
//   merged      a further result of a kernel that runs over the same loops,
//   global      memory between kernels, with the reason for that.
// A STAGE without a reason is a boundary of the user's and stays.
//
// Decisions are made on the graph as it was, the graph is rebuilt once a step. The benefit counted is bytes moved, after
// XLA's priority fusion; the bound on what is computed twice keeps the work of the kernels that of the graph.
#pragma once
#include <algorithm>
#include <numeric>

#include "passes/split_kernels.h"

namespace uop {

struct FuseOptions {
  int64_t localBytes = 0;      // of one tile that stays inside a kernel
  int64_t inlineOps = 0;       // operations that may be computed again
  int64_t maxKernelNodes = 0;
  int64_t serialWork = 0;      // a kernel of no more iterations may run as one task
};

// `apart`: also what is cheap but for parts that are the same all along one of its loops. Whether anything was inlined.
bool fuseInline(Program&, const FuseOptions&, bool apart = false);
void fuseStencil(Program&, const FuseOptions&);
// Whether a value stays whose reductions are in fewer loops than it.
bool fuseLocal(Program&, const FuseOptions&);
// Whether some kernel is now the only one that reads a value, or fewer read a table.
bool fuseMerge(Program&, const FuseOptions&);

// Operations of one evaluation of a node; kCostly: not to be done again.
constexpr int64_t kCostly = int64_t{1} << 30;
int64_t costOf(const Graph&, NodeId);

// Few nodes, ascending.
class NodeSet {
 public:
  bool insert(NodeId n) {
    auto at = std::ranges::lower_bound(nodes_, n);
    if (at != nodes_.end() && *at == n) return false;
    nodes_.insert(at, n);
    return true;
  }
  bool contains(NodeId n) const { return std::ranges::binary_search(nodes_, n); }
  template <class Unwanted>
  void eraseIf(Unwanted unwanted) {
    std::erase_if(nodes_, unwanted);
  }
  size_t size() const { return nodes_.size(); }
  bool empty() const { return nodes_.empty(); }
  auto begin() const { return nodes_.begin(); }
  auto end() const { return nodes_.end(); }
  friend auto operator<=>(const NodeSet&, const NodeSet&) = default;

 private:
  std::vector<NodeId> nodes_;
};

// Sets of loops, each inside the next: what a loop order can hoist without computing anything twice.
class LoopChain {
 public:
  using Set = NodeSet;
  bool fits(const Set&) const;
  // The largest subset of `wanted` that fits.
  Set fitting(Set wanted) const;
  void add(const Set& s) { sets_.push_back(s); }
  const std::vector<Set>& sets() const { return sets_; }

 private:
  std::vector<Set> sets_;
};

// Kernels that have become one, each group going by one of them, and RANGEs that another stands for.
class Joined {
 public:
  explicit Joined(size_t kernels) : parent_(kernels) { std::iota(parent_.begin(), parent_.end(), 0u); }

  uint32_t find(uint32_t k) const {
    while (parent_[k] != k) k = parent_[k];
    return k;
  }
  // `group` goes by `other` from now on; both are what find() gives.
  void join(uint32_t group, uint32_t other) { parent_[group] = other; }

  NodeId resolve(NodeId range) const {
    for (auto it = range_.find(range); it != range_.end(); it = range_.find(range)) range = it->second;
    return range;
  }
  void replace(NodeId range, NodeId by) { range_[range] = by; }
  void restore(NodeId range) { range_.erase(range); }
  bool isReplaced(NodeId range) const { return range_.contains(range); }
  bool replacesAny() const { return !range_.empty(); }

 private:
  std::vector<uint32_t> parent_;
  std::unordered_map<NodeId, NodeId> range_;
};

// What the steps ask about kernels.
class KernelFacts {
 public:
  KernelFacts(const Program&);

  const Graph& g;
  KernelAnalysis kernels;

  size_t count() const { return kernels.kernels.size(); }
  const Kernel& operator[](uint32_t k) const { return kernels.kernels[k]; }
  // The STAGE that kernel k is, if it is the compiler's to decide, and read element by element only; else kNoNode.
  NodeId decidable(uint32_t k) const;
  // Whether kernel k is a single global STAGE of the compiler's.
  bool ours(uint32_t k) const;
  // RANGEs around the whole kernel, bounds of 1 left out.
  std::vector<NodeId> outer(uint32_t k) const;
  std::span<const uint32_t> readers(uint32_t k) const;
  // INDEX nodes by which `reader` reads kernel k's STAGE.
  std::vector<NodeId> reads(uint32_t reader, uint32_t k) const;
  bool readsFrom(uint32_t reader, NodeId base) const;
  // Whether all that k reads is as it will be at the end: moving the reads is then free of order.
  bool readsSettled(uint32_t k) const;
  // Whether kernel k's value can be made again at other indices: it has no memory of its own, no effects.
  bool canRepeat(uint32_t k) const;
  // Whether kernel k is made of loop variables and scalars alone.
  bool isTable(uint32_t k) const;
  // A REDUCE whose operands are each read again in some loop around it, as in a matrix product: worth a kernel of its own.
  bool isProduct(NodeId reduce) const;
  bool hasProduct(uint32_t k) const;
  // Nodes of k that products sum over.
  std::unordered_set<NodeId> productTerms(uint32_t k) const;
  // The loops of k around each REDUCE and STAGE in it that is not inside all of them.
  LoopChain hoisted(uint32_t k) const;
  int64_t iterations(NodeId n) const;  // of the loops that n is in; saturated
  // How often kernel k evaluates n: in the loops around a REDUCE that runs one of n's loops as well; what is read at n, in those
  // that a gate of the read is in.
  double evaluations(uint32_t k, NodeId n) const;
  // Of all iterations of kernel k: a function counts as eight, a term of a REDUCE as one.
  double operations(uint32_t k) const;
  int64_t bound(NodeId range) const;   // constant, else kUnknown
  int64_t bytes(NodeId place) const { return g.elements(place) * byteSize(g.dtype(place)); }

  static constexpr int64_t kUnknown = int64_t{1} << 40;

 private:
  void findClosers();

  // By kernel: RANGE → what is around the REDUCEs and STAGEs inside of it that close it, that RANGE not.
  std::vector<std::unordered_map<NodeId, std::set<NodeId>>> around_;
  using Read = std::pair<NodeId, NodeId>;   // (base, index)
  std::unordered_map<NodeId, std::vector<NodeId>> gated_;  // place → the LOADs that read it under a gate
  std::vector<bool> escaped_;               // STAGEs used otherwise than by LOADs of single elements
  std::vector<std::vector<Read>> reads_;    // by reader, ascending
};

}  // namespace uop
