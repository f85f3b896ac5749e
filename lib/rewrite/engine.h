// The rewrite engine: bottom-up, every node to its normal form once, on a worklist of its own (no recursion over the
// graph). A node's sources are in normal form before rules look at it; what a rule makes is brought to normal form in
// turn. So one run reaches the fixed point, in time near linear in nodes and rewrites.
#pragma once
#include <map>

#include "ir/program.h"
#include "rewrite/rule.h"

namespace uop {

struct RewriteStats {
  std::map<std::string, uint64_t> hits;  // by rule
  uint64_t rewrites = 0;
  uint64_t nodes = 0;                    // nodes looked at
};

struct RewriteOptions {
  uint64_t limit = 0;   // the most rewrites; 0: a bound that grows with the graph
  bool fast = false;    // "fp": "fast": rules marked fastOnly apply
};

// Brings everything that `roots` reach, CALL bodies included, to normal form; new nodes are added to `g`. Gives the table
// old → new by node id (kNoNode for nodes not reached). Errors: Diag::FuelSpent, which names the rules that kept firing;
// Diag::RuleError for a rule of the user's whose replacement does not fit. A fault in a built-in rule is an InternalError.
Result<std::vector<NodeId>> rewrite(Graph& g, std::span<const NodeId> roots, const RuleSet&, const RewriteOptions&, RewriteStats&);

// The same for a program: results and tags follow their nodes.
Result<Program> rewriteProgram(Program, const RuleSet&, const RewriteOptions&, RewriteStats&);

}  // namespace uop
