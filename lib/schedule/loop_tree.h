// A kernel body as nested loops: which node is computed in which loop, and in what order.
//
// Every node sits in the innermost loop of its open ranges, so what does not depend on a loop is outside of it (Click,
// Global Code Motion, PLDI '95). Inside a loop the order is one of dependence, plus the format's anti-dependences: a read
// comes before every overlapping STORE of its iteration that it does not wait for. Ties go by node id.
#pragma once
#include <vector>

#include "ir/graph.h"
#include "schedule/access.h"

namespace uop {

struct LoopTree {
  struct Item {
    bool isLoop;
    NodeId node;    // a loop's END
    uint32_t loop;  // if isLoop
  };
  struct Loop {
    NodeId range = kNoNode;  // kNoNode for loop 0, the function's body
    NodeId end = kNoNode;
    Kind kind = Kind::Loop;
    uint32_t parent = 0;
    uint32_t depth = 0;
    std::vector<Item> body;
  };
  std::vector<Loop> loops;
  std::vector<Access> accesses;   // by ascending node
  std::vector<uint32_t> levels;   // by node id: its loop, kNoLoop outside the body's cone
  static constexpr uint32_t kNoLoop = ~0u;

  bool encloses(uint32_t outer, uint32_t inner) const;  // or is
  uint32_t common(uint32_t a, uint32_t b) const;        // the innermost loop around both
};

// `body`: STORE, END or a SINK of these, in kernel form (scalars; no REDUCE, STAGE, CALL or movement op). Errors: where no
// order exists, or a place is read in a loop that overwrites it elsewhere.
Result<LoopTree> buildLoopTree(const Graph&, NodeId body);

}  // namespace uop
