// Casts. A step that is exact may go. f16 and bf16 may be kept in f32 between fused ops, and a CAST sees the rounded
// value: so a round trip through a wider type, which rounds, stays on them.
#include "passes/rules.h"

namespace uop {
namespace {
const std::string kFloat = "casts of floats: checked by evaluation on special operands";
}

std::vector<Rule> castRules() {
  return {
      {"cast-same", "(CAST ?x dtype=?d)", "?x", {"samedtype(?x, ?d)"}},
      // Not an integer through a float to an integer, which saturates where a direct cast wraps.
      {"cast-widen-int", "(CAST (CAST ?x dtype=?a) dtype=?b)", "(CAST ?x dtype=?b)", {"widens(?x, ?a)", "nonfloat(?a)", "otherdtype(?x, ?b)"}},
      {"cast-widen-float", "(CAST (CAST ?x dtype=?a) dtype=?b)", "(CAST ?x dtype=?b)", {"float(?x)", "widens(?x, ?a)", "otherdtype(?x, ?b)"}, kFloat},
      {"cast-to-float", "(CAST (CAST ?x dtype=?a) dtype=?b)", "(CAST ?x dtype=?b)", {"widens(?x, ?a)", "float(?b)", "otherdtype(?x, ?b)"}, kFloat},
      {"cast-bool", "(CAST (CAST ?x dtype=?a) dtype=?b)", "(CAST ?x dtype=?b)", {"bool(?x)", "otherdtype(?x, ?b)"}},
      {"cast-back", "(CAST (CAST ?x dtype=?a) dtype=?b)", "?x", {"widens(?x, ?a)", "samedtype(?x, ?b)", "nothalf(?x)"}},
      {"cast-narrow", "(CAST (CAST ?x dtype=?a) dtype=?b)", "(CAST ?x dtype=?b)", {"int(?x)", "keepsbits(?a, ?b)"}},
      {"cast-fits", "(CAST (CAST ?x dtype=?a) dtype=?b)", "(CAST ?x dtype=?b)", {"int(?x)", "int(?a)", "nowrap((CAST ?x dtype=?a))"}},
      // Index arithmetic that a narrower integer did moves out of the cast, to where it is seen.
      {"cast-sum", "(CAST (ADD ?x ?c:const) dtype=?d)", "(ADD (CAST ?x dtype=?d) (= (CAST ?c dtype=?d)))", {"index(?d)", "int(?x)", "widens(?x, ?d)", "nowrap((ADD ?x ?c))"}},
      {"bitcast-same", "(BITCAST ?x dtype=?d)", "?x", {"samedtype(?x, ?d)"}},
      {"bitcast-int", "(BITCAST ?x dtype=?d)", "(CAST ?x dtype=?d)", {"int(?x)", "int(?d)"}},
      {"bitcast-twice", "(BITCAST (BITCAST ?x dtype=?a) dtype=?b)", "(BITCAST ?x dtype=?b)", {"int(?a)"},
       kFloat},
      {"lt-cast-cast", "(CMPLT (CAST ?x dtype=?d) (CAST ?y dtype=?d))", "(CMPLT ?x ?y)", {"samedtype(?x, ?y)", "widens(?x, ?d)", "nothalf(?x)"}},
      {"lt-cast-fits", "(CMPLT (CAST ?x dtype=?d) (CAST ?y dtype=?d))", "(CMPLT ?x ?y)", {"samedtype(?x, ?y)", "int(?x)", "int(?d)", "nowrap((CAST ?x dtype=?d))", "nowrap((CAST ?y dtype=?d))"}},
      {"ne-cast-fits", "(CMPNE (CAST ?x dtype=?d) (CAST ?y dtype=?d))", "(CMPNE ?x ?y)", {"samedtype(?x, ?y)", "int(?x)", "int(?d)", "nowrap((CAST ?x dtype=?d))", "nowrap((CAST ?y dtype=?d))"}},
      {"ne-cast-cast", "(CMPNE (CAST ?x dtype=?d) (CAST ?y dtype=?d))", "(CMPNE ?x ?y)", {"samedtype(?x, ?y)", "widens(?x, ?d)", "nothalf(?x)"}},
  };
}

}  // namespace uop
