// Element-wise ops on constants, computed by the meaning that the interpreter uses. A constant may be a broadcast one.
#include "passes/rules.h"

namespace uop {
namespace {
const std::string kFloat = "a float op: both sides are the same call of evalOp";
}

std::vector<Rule> foldRules() {
  return {
      {"fold-cast", "(CAST ?a:const dtype=?d)", "(= (CAST ?a dtype=?d))"},
      // A NaN with a payload is kept by nothing but BITCAST itself.
      {"fold-bitcast", "(BITCAST ?a:const dtype=?d)", "(= (BITCAST ?a dtype=?d))", {"notnan(?a)", "notnan((= (BITCAST ?a dtype=?d)))"}},
      {"fold-neg", "(NEG ?a:const)", "(= (NEG ?a))"},
      {"fold-recip", "(RECIP ?a:const)", "(= (RECIP ?a))", {}, kFloat},
      {"fold-exp2", "(EXP2 ?a:const)", "(= (EXP2 ?a))", {}, kFloat},
      {"fold-log2", "(LOG2 ?a:const)", "(= (LOG2 ?a))", {}, kFloat},
      {"fold-sin", "(SIN ?a:const)", "(= (SIN ?a))", {}, kFloat},
      {"fold-sqrt", "(SQRT ?a:const)", "(= (SQRT ?a))", {}, kFloat},
      {"fold-trunc", "(TRUNC ?a:const)", "(= (TRUNC ?a))", {}, kFloat},
      {"fold-add", "(ADD ?a:const ?b:const)", "(= (ADD ?a ?b))"},
      {"fold-mul", "(MUL ?a:const ?b:const)", "(= (MUL ?a ?b))"},
      {"fold-max", "(MAX ?a:const ?b:const)", "(= (MAX ?a ?b))"},
      {"fold-lt", "(CMPLT ?a:const ?b:const)", "(= (CMPLT ?a ?b))"},
      {"fold-ne", "(CMPNE ?a:const ?b:const)", "(= (CMPNE ?a ?b))"},
      {"fold-div", "(FLOORDIV ?a:const ?b:const)", "(= (FLOORDIV ?a ?b))"},
      {"fold-mod", "(FLOORMOD ?a:const ?b:const)", "(= (FLOORMOD ?a ?b))"},
      {"fold-and", "(AND ?a:const ?b:const)", "(= (AND ?a ?b))"},
      {"fold-or", "(OR ?a:const ?b:const)", "(= (OR ?a ?b))"},
      {"fold-xor", "(XOR ?a:const ?b:const)", "(= (XOR ?a ?b))"},
      {"fold-shl", "(SHL ?a:const ?b:const)", "(= (SHL ?a ?b))"},
      {"fold-shr", "(SHR ?a:const ?b:const)", "(= (SHR ?a ?b))"},
      {"fold-where", "(WHERE ?a:const ?b:const ?c:const)", "(= (WHERE ?a ?b ?c))"},
  };
}

}  // namespace uop
