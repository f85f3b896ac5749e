// inline-calls decides what becomes of each CALL. Most become their body, with arguments in place of PARAMs: exact, since a body's
// place not behind an AFTER reads what its argument denotes. A large body that is called several times stays a function, so that
// what follows works on it once:
//
//   kept_bodies    the cost rule: which bodies are worth it
//   placed_calls   whose CALLs allow it; these pass places alone, results included, as kernels do later
#pragma once
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "ir/functions.h"
#include "ir/rebuild.h"
#include "passes/passes.h"

namespace uop {

// Bodies of several reductions that would, in line, take at least `nodes` nodes more than once, what they call counted in; for 0,
// all bodies.
std::unordered_set<NodeId> keptBodies(const Graph&, std::span<const NodeId> roots, int64_t nodes);

// What a CALL gives is a value, but its body's result may be a place, which an AFTER would read at another time.
NodeId asValue(Graph&, NodeId);

class Inliner {
 public:
  Inliner(Graph& g, FreshIds fresh, int64_t limit) : g_(g), fresh_(fresh), limit_(limit) {}
  bool overLimit() const { return made_ > limit_; }

  // The body with arguments in place of its PARAMs. ALLOCs and RANGEs are fresh in each; a CALL in it keeps its own body.
  NodeId instantiate(NodeId body, std::span<const NodeId> args);
  // A node of the caller, where CALLs among its sources have become what their bodies give.
  NodeId remake(NodeId old, std::span<const NodeId> sources);
  NodeId freshAlloc(DType d, std::span<const Dim> shape) { return g_.alloc(fresh_.slot++, d, shape, Space::Global); }

 private:
  NodeId copy(NodeId id, std::span<const NodeId> sources, std::span<const NodeId> args);
  NodeId remakeValue(NodeId old, std::span<const NodeId> sources);

  Graph& g_;
  FreshIds fresh_;
  int64_t limit_, made_ = 0;
};

// The CALLs that are left become void CALLs of bodies without CALLs and BUFFERs, on whole places and scalar arguments of the
// program. Those that cannot are inlined. Bodies hold no CALLs, `leaves` being what they are.
void placeCalls(Program&, Inliner&, const std::unordered_map<NodeId, NodeId>& leaves);

}  // namespace uop
