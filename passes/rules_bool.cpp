// Logic, and comparisons decided by value ranges. On bool AND, OR and CMPNE (which is XOR) are the normal form; "not x"
// is CMPNE x true. AND and OR with constants, themselves and each other are rules of algebra.
#include "passes/rules.h"

namespace uop {

std::vector<Rule> boolRules() {
  return {
      {"mul-is-and", "(MUL ?x ?y)", "(AND ?x ?y)", {"bool(?x)"}},
      {"max-is-or", "(MAX ?x ?y)", "(OR ?x ?y)", {"bool(?x)"}},
      {"xor-is-ne", "(XOR ?x ?y)", "(CMPNE ?x ?y)", {"bool(?x)"}},
      {"lt-self", "(CMPLT ?x ?x)", "(CONST false)"},
      {"ne-self", "(CMPNE ?x ?x)", "(CONST false)", {"nonfloat(?x)"}},
      {"ne-false", "(CMPNE ?x (CONST false))", "?x"},
      {"ne-consts", "(CMPNE (CMPNE ?x ?a:const) ?b:const)", "(CMPNE ?x (= (CMPNE ?a ?b)))", {"bool(?x)"}},
      {"ne-again", "(CMPNE (CMPNE ?x ?y) ?y)", "?x", {"bool(?x)"}},
      {"and-not", "(AND ?x (CMPNE ?x (CONST true)))", "(CONST false)"},
      {"or-not", "(OR ?x (CMPNE ?x (CONST true)))", "(CONST true)"},
      {"lt-true", "(CMPLT ?x (CONST true))", "(CMPNE ?x (CONST true))"},
      {"lt-false", "(CMPLT ?x (CONST false))", "(CONST false)"},
      {"false-lt", "(CMPLT (CONST false) ?x)", "?x"},
      {"true-lt", "(CMPLT (CONST true) ?x)", "(CONST false)"},
      {"lt-always", "(CMPLT ?x ?y)", "(CONST true)", {"lt(?x, ?y)"}},
      {"lt-never", "(CMPLT ?x ?y)", "(CONST false)", {"le(?y, ?x)"}},
      {"ne-always", "(CMPNE ?x ?y)", "(CONST true)", {"disjoint(?x, ?y)"}},
      {"ne-never", "(CMPNE ?x ?y)", "(CONST false)", {"eq(?x, ?y)"}},
      {"and-lt", "(AND (CMPLT ?x ?a:const) (CMPLT ?x ?b:const))", "(CMPLT ?x ?a)", {"le(?a, ?b)"}},
      {"or-lt", "(OR (CMPLT ?x ?a:const) (CMPLT ?x ?b:const))", "(CMPLT ?x ?b)", {"le(?a, ?b)"}},
      {"and-gt", "(AND (CMPLT ?a:const ?x) (CMPLT ?b:const ?x))", "(CMPLT ?b ?x)", {"le(?a, ?b)"}},
      {"or-gt", "(OR (CMPLT ?a:const ?x) (CMPLT ?b:const ?x))", "(CMPLT ?a ?x)", {"le(?a, ?b)"}},
      {"and-apart", "(AND (CMPLT ?x ?a:const) (CMPLT ?b:const ?x))", "(CONST false)", {"le(?a, ?b)"}},
      {"ne-add-const", "(CMPNE (ADD ?x ?a:const) ?b:const)", "(CMPNE ?x (= (ADD ?b (NEG ?a))))", {"int(?x)"}},
      {"ne-add-add", "(CMPNE (ADD ?x ?z) (ADD ?y ?z))", "(CMPNE ?x ?y)", {"int(?x)"}},
      {"ne-cast-zero", "(CMPNE (CAST ?x dtype=?d) (CONST 0))", "?x", {"bool(?x)"}},
      {"ne-cast-one", "(CMPNE (CAST ?x dtype=?d) (CONST 1))", "(CMPNE ?x (CONST true))", {"bool(?x)"}},
      {"zero-lt-cast", "(CMPLT (CONST 0) (CAST ?x dtype=?d))", "?x", {"bool(?x)"}},
      {"lt-cast-one", "(CMPLT (CAST ?x dtype=?d) (CONST 1))", "(CMPNE ?x (CONST true))", {"bool(?x)"}},
  };
}

}  // namespace uop
