// What is decided about a kernel before its text is written: which nodes matter, which loops become tasks, where its
// storage lives.
#pragma once
#include "backends/cstyle/emit.h"
#include "schedule/loop_tree.h"

namespace uop::cstyle {

struct AllocPlan {
  NodeId node;
  uint32_t level;              // the loop in whose body it is declared
  int64_t scratchOffset = -1;  // -1: on the stack
};

struct KernelPlan {
  LoopTree tree;
  std::vector<NodeId> nodes;        // the body's cone
  std::vector<bool> needed;         // by node id: a STORE that can be seen, or a value that leads to one
  std::vector<bool> busy;           // by loop: it holds a needed STORE
  std::vector<uint32_t> accessOf;   // by node id, kNone where it is no access
  std::vector<bool> written, read;  // by node id of a root
  std::vector<uint32_t> grid;       // loops, outermost first
  std::vector<bool> isGrid;         // by loop
  std::vector<AllocPlan> allocs;    // by node id
  int64_t scratchBytes = 0;
  static constexpr uint32_t kNone = ~0u;

  const Access& access(NodeId n) const { return tree.accesses[accessOf[n]]; }
  bool isAccess(NodeId n) const { return accessOf[n] != kNone; }
};

Result<KernelPlan> planKernel(const Graph&, NodeId body, const EmitOptions&);

// Axes of size 1 have one index, which needs no code.
inline bool indexMatters(const Graph& g, NodeId root, size_t axis) { return g.shape(root)[axis] != 1; }

}  // namespace uop::cstyle
