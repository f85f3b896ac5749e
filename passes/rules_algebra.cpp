// Arithmetic. What is not marked `int` holds for floats bit by bit, NaN and signed zeros included: so x + 0 stays on
// floats (-0 + 0 is 0), while x + -0.0 goes; x * 0, x - x and x / x stay. Integers wrap, and are a ring.
#include "passes/rules.h"

namespace uop {
namespace {

const std::string kFloat = "a float identity: checked by evaluation on special operands";
const std::string kFast = "holds only up to rounding, NaN, infinities or the sign of zero: that is what fp=fast permits";

std::vector<Rule> anyNumber() {
  return {
      {"mul-one", "(MUL ?x (CONST 1))", "?x"},
      {"neg-neg", "(NEG (NEG ?x))", "?x"},
      {"mul-neg-neg", "(MUL (NEG ?x) (NEG ?y))", "(MUL ?x ?y)"},
      {"mul-neg-const", "(MUL (NEG ?x) ?c:const)", "(MUL ?x (= (NEG ?c)))"},
      {"neg-mul-const", "(NEG (MUL ?x ?c:const))", "(MUL ?x (= (NEG ?c)))"},
      {"max-self", "(MAX ?x ?x)", "?x"},
      {"max-least", "(MAX ?x (CONST min))", "?x"},
      {"max-again", "(MAX (MAX ?x ?y) ?y)", "(MAX ?x ?y)"},
      {"max-consts", "(MAX (MAX ?x ?a:const) ?b:const)", "(MAX ?x (= (MAX ?a ?b)))"},
      {"add-neg-zero", "(ADD ?x (CONST -0.0))", "?x", {"float(?x)"}, kFloat},
      {"mul-neg-one", "(MUL ?x (CONST -1))", "(NEG ?x)", {"float(?x)"}, kFloat},
      {"trunc-trunc", "(TRUNC (TRUNC ?x))", "(TRUNC ?x)", {}, kFloat},
      {"trunc-int", "(TRUNC (CAST ?x dtype=?d))", "(CAST ?x dtype=?d)", {"int(?x)"}, kFloat},
  };
}

std::vector<Rule> integers() {
  return {
      {"add-zero", "(ADD ?x (CONST 0))", "?x", {"int(?x)"}},
      {"mul-zero", "(MUL ?x (CONST 0))", "(CONST 0 like=?x)", {"int(?x)"}},
      {"mul-ones", "(MUL ?x (CONST ones))", "(NEG ?x)", {"int(?x)", "nonindex(?x)"}},
      // Sums of products with constants are the normal form of index arithmetic.
      {"neg-index", "(NEG ?x)", "(MUL ?x (CONST -1))", {"index(?x)"}},
      {"sub-self", "(ADD ?x (NEG ?x))", "(CONST 0 like=?x)", {"int(?x)"}},
      {"sub-again", "(ADD (ADD ?z ?x) (NEG ?x))", "?z", {"int(?x)"}},
      {"add-sub", "(ADD (ADD ?z (NEG ?x)) ?x)", "?z", {"int(?x)"}},
      {"add-consts", "(ADD (ADD ?x ?a:const) ?b:const)", "(ADD ?x (= (ADD ?a ?b)))", {"int(?x)"}},
      {"mul-consts", "(MUL (MUL ?x ?a:const) ?b:const)", "(MUL ?x (= (MUL ?a ?b)))", {"int(?x)"}},
      {"add-consts-apart", "(ADD (ADD ?x ?a:const) (ADD ?y ?b:const))", "(ADD (ADD ?x ?y) (= (ADD ?a ?b)))", {"int(?x)", "nonindex(?x)"}},
      // Only where arithmetic is free: of data, a sum that others use as well would be computed twice.
      {"add-const-out", "(ADD (ADD ?x ?c:const) ?y)", "(ADD (ADD ?x ?y) ?c)", {"index(?x)", "nonconst(?y)"}},
      {"mul-const-out", "(MUL (MUL ?x ?c:const) ?y)", "(MUL (MUL ?x ?y) ?c)", {"index(?x)", "nonconst(?y)"}},
      {"mul-add-const", "(MUL (ADD ?x ?a:const) ?b:const)", "(ADD (MUL ?x ?b) (= (MUL ?a ?b)))", {"index(?x)"}},
      {"mul-add", "(MUL (ADD ?x ?y) ?c:const)", "(ADD (MUL ?x ?c) (MUL ?y ?c))", {"index(?x)", "fewterms(?x)", "fewterms(?y)"}},
      {"add-self", "(ADD ?x ?x)", "(MUL ?x (CONST 2))", {"int(?x)"}},
      {"add-like", "(ADD ?x (MUL ?x ?c:const))", "(MUL ?x (= (ADD ?c (CONST 1))))", {"int(?x)"}},
      {"add-likes", "(ADD (MUL ?x ?a:const) (MUL ?x ?b:const))", "(MUL ?x (= (ADD ?a ?b)))", {"int(?x)"}},
      {"add-self-sum", "(ADD (ADD ?z ?x) ?x)", "(ADD ?z (MUL ?x (CONST 2)))", {"int(?x)", "nonconst(?x)"}},
      {"add-like-sum", "(ADD (ADD ?z ?x) (MUL ?x ?c:const))", "(ADD ?z (MUL ?x (= (ADD ?c (CONST 1)))))", {"int(?x)", "nonconst(?x)"}},
      {"add-sum-like", "(ADD (ADD ?z (MUL ?x ?c:const)) ?x)", "(ADD ?z (MUL ?x (= (ADD ?c (CONST 1)))))", {"int(?x)", "nonconst(?x)"}},
      {"add-likes-sum", "(ADD (ADD ?z (MUL ?x ?a:const)) (MUL ?x ?b:const))", "(ADD ?z (MUL ?x (= (ADD ?a ?b))))", {"int(?x)"}},
      {"max-greatest", "(MAX ?x (CONST max))", "(CONST max like=?x)", {"int(?x)"}},
      {"max-known", "(MAX ?x ?y)", "?x", {"le(?y, ?x)"}},
  };
}

std::vector<Rule> bits() {
  return {
      {"and-self", "(AND ?x ?x)", "?x"},
      {"or-self", "(OR ?x ?x)", "?x"},
      {"xor-self", "(XOR ?x ?x)", "(CONST 0 like=?x)"},
      {"and-zero", "(AND ?x (CONST 0))", "(CONST 0 like=?x)"},
      {"and-ones", "(AND ?x (CONST ones))", "?x"},
      {"or-zero", "(OR ?x (CONST 0))", "?x"},
      {"or-ones", "(OR ?x (CONST ones))", "(CONST ones like=?x)"},
      {"xor-zero", "(XOR ?x (CONST 0))", "?x"},
      {"and-consts", "(AND (AND ?x ?a:const) ?b:const)", "(AND ?x (= (AND ?a ?b)))"},
      {"or-consts", "(OR (OR ?x ?a:const) ?b:const)", "(OR ?x (= (OR ?a ?b)))"},
      {"xor-consts", "(XOR (XOR ?x ?a:const) ?b:const)", "(XOR ?x (= (XOR ?a ?b)))"},
      {"and-again", "(AND (AND ?x ?y) ?y)", "(AND ?x ?y)"},
      {"or-again", "(OR (OR ?x ?y) ?y)", "(OR ?x ?y)"},
      {"xor-again", "(XOR (XOR ?x ?y) ?y)", "?x"},
      {"and-or", "(AND ?x (OR ?x ?y))", "?x"},
      {"or-and", "(OR ?x (AND ?x ?y))", "?x"},
      {"shl-zero", "(SHL ?x (CONST 0))", "?x"},
      {"shr-zero", "(SHR ?x (CONST 0))", "?x"},
      {"zero-shl", "(SHL (CONST 0) ?x)", "(CONST 0 like=?x)"},
      {"zero-shr", "(SHR (CONST 0) ?x)", "(CONST 0 like=?x)"},
      {"shl-shl", "(SHL (SHL ?x ?a:const) ?b:const)", "(SHL ?x (= (ADD ?a ?b)))", {"nonneg(?a)", "nonneg(?b)", "nowrap((ADD ?a ?b))"}},
      {"shr-shr", "(SHR (SHR ?x ?a:const) ?b:const)", "(SHR ?x (= (ADD ?a ?b)))", {"nonneg(?a)", "nonneg(?b)", "nowrap((ADD ?a ?b))"}},
  };
}

// What "fp": "fast" permits beyond the format.
std::vector<Rule> fast() {
  return {
      {"fast-add-zero", "(ADD ?x (CONST 0))", "?x", {"float(?x)"}, kFast, true},
      {"fast-mul-zero", "(MUL ?x (CONST 0))", "(CONST 0 like=?x)", {"float(?x)"}, kFast, true},
      {"fast-sub-self", "(ADD ?x (NEG ?x))", "(CONST 0 like=?x)", {"float(?x)"}, kFast, true},
      {"fast-div-self", "(MUL ?x (RECIP ?x))", "(CONST 1 like=?x)", {}, kFast, true},
      {"fast-recip-recip", "(RECIP (RECIP ?x))", "?x", {}, kFast, true},
      {"fast-add-consts", "(ADD (ADD ?x ?a:const) ?b:const)", "(ADD ?x (= (ADD ?a ?b)))", {"float(?x)"}, kFast, true},
      {"fast-mul-consts", "(MUL (MUL ?x ?a:const) ?b:const)", "(MUL ?x (= (MUL ?a ?b)))", {"float(?x)"}, kFast, true},
  };
}

}  // namespace

std::vector<Rule> algebraRules() {
  std::vector<Rule> out;
  for (auto* part : {anyNumber, integers, bits, fast})
    for (Rule& rule : part()) out.push_back(std::move(rule));
  return out;
}

}  // namespace uop
