// Where a term of a reduction can differ from the reduction's identity: the comparisons that a term hides behind.
#pragma once
#include <deque>
#include <optional>
#include <unordered_set>
#include <vector>

#include "passes/passes.h"
#include "passes/substitute.h"

namespace uop {

struct TermGuard {
  NodeId condition;   // a comparison, as the term sees it
  bool when;          // the term is the identity wherever the condition is otherwise
  NodeId via;         // the LOAD of a STAGE of ours behind which it stands; kNoNode: in the term itself
  NodeId maximum;     // kNoNode, or: only a sum all of whose terms have this one maximum, and of which some term remains
};

// Follows a term from its root through what keeps an identity an identity: selections, gates of LOADs, products with a
// factor that is no more than a false bool, EXP2 of −inf (both by the licences of a sum, format, section 5), values of
// STAGEs that rangeify made. EXP2(s − max s) with s = −inf is 0 unless the maximum, over the same s, is −inf: then every term
// is NaN, and so is the sum as long as one of them remains.
class GuardFinder {
 public:
  GuardFinder(Graph& g, bool strict) : g_(g), strict_(strict) {}
  std::vector<TermGuard> find(NodeId term, ReduceOp);

 private:
  struct Site {
    NodeId node;
    const Substitution* under;  // of a STAGE's RANGEs, by what it is read at; null in the term itself
    Scalar goal;                // what the node is where the guard does not hold
    bool factor, exponent;
    NodeId via, maximum;
    NodeId gate;                // under which the STAGEs are read, as the term sees it; kNoNode: none
  };
  void step(const Site&);
  void condition(NodeId n, bool when, const Site&);
  void load(const Site&);
  void exponent(const Site&);
  bool isGoal(NodeId n, const Site& s) const { return g_.isConst(n) && g_.constValue(n) == s.goal; }
  const Substitution* enter(NodeId load, const Substitution* under);
  NodeId seen(NodeId n, const Substitution* under, NodeId gate = kNoNode);
  NodeId maximumOf(NodeId negated, NodeId x, const Substitution* under);

  Graph& g_;
  bool strict_;
  std::deque<Substitution> substitutions_;
  std::vector<Site> todo_;
  std::vector<TermGuard> found_;
};

// The STAGE of ours that a LOAD of a single element reads; kNoNode: none.
NodeId stageRead(const Graph&, NodeId load);
// Its RANGEs by the indices at which `load` reads it.
Substitution stageIndices(const Graph&, NodeId load);

}  // namespace uop
