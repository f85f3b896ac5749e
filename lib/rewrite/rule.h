// Rules as data: an equation, its guards, a name. A set of them is compiled once and indexed by the op at the root.
#pragma once
#include <array>
#include <span>

#include "rewrite/pattern.h"
#include "ir/graph.h"

namespace uop {

class Match;
using GuardFn = bool (*)(const Match&);
using BuildFn = NodeId (*)(Match&);  // kNoNode: the rule does not apply after all

struct Rule {
  std::string name = {}, match = {}, replace = {};
  std::vector<std::string> guards = {};  // all must hold; guards.def is the closed list
  // Why no proof by Z3 covers it; what does instead.
  std::string unproved = {};
  bool fastOnly = false;            // applies only under "fp": "fast"
  // For the few rules whose guard or replacement is no term: then `replace` is for the reader.
  GuardFn when = nullptr;
  BuildFn build = nullptr;
  bool computed() const { return when || build; }
};

struct GuardCall {
  uint8_t guard;  // row of guards.def
  std::vector<TermId> args;
  std::vector<VarId> attrVars;  // kNoVar where the argument is a term
};

// What a node's first sources are, as a set of bits each: one for the op, one more for a constant. A pattern names bits of
// which a source must have one, so that most rules are passed over without matching.
inline constexpr size_t kSketchSources = 3;
using Sketch = std::array<uint64_t, kSketchSources>;
inline constexpr uint64_t kConstantBit = uint64_t{1} << 63;
static_assert(kOpCount < 63);
inline uint64_t sketchBit(Op op) { return uint64_t{1} << static_cast<unsigned>(op); }

struct CompiledRule {
  Rule rule;
  Terms terms;
  TermId match = 0, replace = 0;
  std::vector<GuardCall> guards;
  uint32_t index = 0;    // its number in the set, for counting hits
  bool builtin = true;   // a fault in it is ours
  Sketch wants{};
  bool swaps = false;    // its first two sources match either way round

  bool mayMatch(const Sketch& s) const {
    const bool straight = (s[0] & wants[0]) && (s[1] & wants[1]);
    const bool swapped = swaps && (s[0] & wants[1]) && (s[1] & wants[0]);
    return (straight || swapped) && (s[2] & wants[2]);
  }
};

// Errors: Diag::RuleError.
Result<CompiledRule> compileRule(Rule rule, bool builtin);

class RuleSet {
 public:
  // Rules keep their order: of two that match, the first applies.
  Result<void> add(const std::vector<Rule>& rules, bool builtin);
  const std::vector<CompiledRule>& rules() const { return rules_; }
  std::span<const uint32_t> at(Op root) const { return byRoot_[static_cast<size_t>(root)]; }

 private:
  std::vector<CompiledRule> rules_;
  std::array<std::vector<uint32_t>, kOpCount> byRoot_;
};

}  // namespace uop
