// Selections, and memory accesses under a gate.
#include "passes/rules.h"

namespace uop {
namespace {
const std::string kMemory = "about memory, which has no scalar meaning: the gate is the value's own, or always true or false";
}

std::vector<Rule> whereRules() {
  return {
      {"where-true", "(WHERE (CONST true) ?x ?y)", "?x"},
      {"where-false", "(WHERE (CONST false) ?x ?y)", "?y"},
      {"where-same", "(WHERE ?c ?x ?x)", "?x"},
      {"where-is-cond", "(WHERE ?c (CONST true) (CONST false))", "?c"},
      {"where-is-not", "(WHERE ?c (CONST false) (CONST true))", "(CMPNE ?c (CONST true))"},
      {"where-is-and", "(WHERE ?c ?x (CONST false))", "(AND ?c ?x)"},
      {"where-is-or", "(WHERE ?c (CONST true) ?x)", "(OR ?c ?x)"},
      {"where-not-and", "(WHERE ?c (CONST false) ?x)", "(AND (CMPNE ?c (CONST true)) ?x)"},
      {"where-not-or", "(WHERE ?c ?x (CONST true))", "(OR (CMPNE ?c (CONST true)) ?x)"},
      {"where-not", "(WHERE (CMPNE ?c (CONST true)) ?x ?y)", "(WHERE ?c ?y ?x)"},
      {"where-in-true", "(WHERE ?c (WHERE ?c ?x ?y) ?z)", "(WHERE ?c ?x ?z)"},
      {"where-in-false", "(WHERE ?c ?x (WHERE ?c ?y ?z))", "(WHERE ?c ?x ?z)"},
      {"where-where-and", "(WHERE ?a (WHERE ?b ?x ?y) ?y)", "(WHERE (AND ?a ?b) ?x ?y)", {"gate(?a)", "gate(?b)"}},
      {"where-where-or", "(WHERE ?a ?x (WHERE ?b ?x ?y))", "(WHERE (OR ?a ?b) ?x ?y)", {"gate(?a)", "gate(?b)"}},
      {"where-is-max", "(WHERE (CMPLT ?x ?y) ?y ?x)", "(MAX ?x ?y)", {"int(?x)"}},
      {"where-load", "(WHERE ?g (LOAD ?p ?a ?g) ?a)", "(LOAD ?p ?a ?g)", {}, kMemory},
      {"load-always", "(LOAD ?p ?a (CONST true))", "(LOAD ?p)", {}, kMemory},
      {"load-never", "(LOAD ?p ?a (CONST false))", "?a", {}, kMemory},
      {"store-always", "(STORE ?p ?x (CONST true))", "(STORE ?p ?x)", {}, kMemory},
  };
}

}  // namespace uop
