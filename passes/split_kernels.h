// split-kernels cuts the program at function level: each global STAGE and each effect outside of loops becomes a kernel
// (global STAGEs over the same RANGEs become one, with several results), a void CALL whose body has its own slots and range ids from 0, so that equal kernels are one node.
//
// Reads that the format orders before writes (a place not behind an AFTER reads old contents) become edges between
// kernels; where no order exists, or a kernel overwrites what it reads elsewhere, the old contents are copied first.
//
// The body of a CALL is cut once; each CALL of it then stands for its kernels, on the CALL's own arguments and scratch
// (splice_calls.h).
#pragma once
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/functions.h"
#include "ir/rebuild.h"
#include "passes/passes.h"

namespace uop {

inline bool runsOnce(const Graph& g, NodeId range) { return g.constInt(g.src(range, 0)) == 1; }

struct KernelRead {
  NodeId base;
  NodeId version;  // the place behind its AFTERs; a closed one names contents fixed before the kernel begins
  NodeId index;    // the INDEX, or the place itself
  bool live;       // reads memory as an iteration finds it
};

struct Kernel {
  std::vector<NodeId> roots;          // STAGEs over the same RANGEs, or one END, STORE or CALL
  std::vector<NodeId> nodes;          // what belongs to it, ascending
  std::vector<uint32_t> deps;         // kernels that must come first, ascending
  std::vector<KernelRead> reads;
  std::vector<std::pair<NodeId, NodeId>> writes;  // (base, INDEX)

  bool makesValues(const Graph& g) const { return g.op(roots[0]) == Op::Stage; }
  bool isCall(const Graph& g) const { return g.op(roots[0]) == Op::Call; }  // of a body that is cut into kernels for itself
};

// What the kernels of a program are and how they touch memory.
class KernelAnalysis {
 public:
  KernelAnalysis(const Graph& g, std::span<const NodeId> roots);

  static constexpr uint32_t kNone = ~0u;

  std::vector<Kernel> kernels;
  std::unordered_map<NodeId, std::vector<uint32_t>> writers;     // by base, ascending
  std::unordered_map<NodeId, std::vector<uint32_t>> users;       // by base, ascending

  // The kernels before which a version's contents are not there yet, restricted to writers of its base; ascending.
  std::vector<uint32_t> writersBefore(NodeId version) const;
  std::vector<uint32_t> closedDeps(NodeId place) const;
  // The kernel that a node is a root of, else kNone.
  uint32_t kernelOf(NodeId n) const { return n < kernelOf_.size() ? kernelOf_[n] : kNone; }
  bool isRoot(NodeId n) const { return kernelOf(n) != kNone; }
  bool isPrivate(NodeId base) const;  // an ALLOC that stays inside its only kernel

 private:
  std::vector<NodeId> rootNodes(std::span<const NodeId> roots) const;
  std::vector<std::vector<NodeId>> findRoots(std::span<const NodeId> roots) const;
  void collectAll(const std::vector<std::vector<NodeId>>& groups);
  void collect(uint32_t kernel);
  std::vector<bool> inCircles() const;
  void recordAccess(Kernel&, NodeId n);
  void recordCall(Kernel&, NodeId call);
  void eachDep(NodeId after, std::vector<NodeId>& closed, std::vector<NodeId>& open) const;
  const Graph& g_;
  Functions functions_;
  std::vector<uint32_t> kernelOf_;  // by node
  std::vector<uint32_t> seenBy_;    // by node: the kernel that was last found to hold it
};

struct KernelOrder {
  std::vector<uint32_t> order;
  std::set<NodeId> snapshots;  // versions that must be copied before any order works
};
KernelOrder orderKernels(const Graph&, const KernelAnalysis&);

}  // namespace uop
