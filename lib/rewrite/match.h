// A rule at a node: binding its variables, asking its guards, building its replacement.
#pragma once
#include "rewrite/ranges.h"
#include "rewrite/rule.h"

namespace uop {

// What the variables of a rule stand for at `root`. Handed to computed guards and replacements as well.
class Match {
 public:
  Match(Graph& g, ValueRanges& facts, const CompiledRule& rule, NodeId root) : g(g), facts(facts), rule(rule), root(root) {
    vars.fill(kNoNode);
  }

  NodeId node(std::string_view name) const { return vars[rule.terms.var(name)]; }
  NodeId constantOf(std::string_view name) const { return facts.constant(node(name)); }
  int64_t attr(std::string_view name) const { return attrs[rule.terms.attrVar(name)]; }
  std::span<const int64_t> list(std::string_view name) const { return g.listById(attr(name)); }

  Graph& g;
  ValueRanges& facts;
  const CompiledRule& rule;
  NodeId root;
  std::array<NodeId, kMaxVars> vars;
  std::array<int64_t, kMaxVars> attrs{};
  uint32_t boundAttrs = 0;
};

// A constant with its dtype.
struct ConstValue {
  Scalar scalar;
  DType dtype;
};

// The literal in a dtype; nullopt where it stands for none there (a float among integers, 2 among bool).
std::optional<Scalar> literalIn(const Literal&, DType);
// A (= ...) term, or a literal, in which literals without a neighbour take dtype `want`.
std::optional<ConstValue> computeConst(const Match&, TermId, DType want);

// Tries the rule at `root`: kNoNode if it does not apply, else the node that replaces it (maybe of another dtype or
// shape: the engine judges). Errors: a replacement that cannot be built.
Result<NodeId> applyRule(Graph& g, ValueRanges& facts, const CompiledRule& rule, NodeId root);

// Explicitly broadcast to `shape`; a size-1 or missing axis stretches. nullopt where it does not.
std::optional<NodeId> broadcastTo(Graph& g, NodeId x, std::span<const Dim> shape);

}  // namespace uop
