// FLOORDIV and FLOORMOD, and comparisons of sums: the arithmetic of indices. Rules rely on exact integers, so each
// demands by value ranges that what it takes apart does not wrap. g stands for the greatest common divisor of c and d.
#include "passes/rules.h"
#include "rewrite/match.h"

namespace uop {
namespace {

std::vector<Rule> division() {
  return {
      {"div-zero", "(FLOORDIV ?x (CONST 0))", "(CONST 0 like=?x)", {"int(?x)"}},
      {"div-one", "(FLOORDIV ?x (CONST 1))", "?x", {"int(?x)"}},
      {"div-minus-one", "(FLOORDIV ?x (CONST -1))", "(NEG ?x)", {"int(?x)"}},
      {"zero-div", "(FLOORDIV (CONST 0) ?x)", "(CONST 0 like=?x)", {"int(?x)"}},
      {"div-self", "(FLOORDIV ?x ?x)", "(CONST 1 like=?x)", {"nonzero(?x)"}},
      {"div-small", "(FLOORDIV ?x ?y)", "(CONST 0 like=?x)", {"nonneg(?x)", "lt(?x, ?y)"}},
      {"div-small-neg", "(FLOORDIV ?x ?c:const)", "(CONST -1 like=?x)", {"negative(?x)", "nonneg((ADD ?x ?c))", "nowrap((ADD ?x ?c))"}},
      {"div-mul-back", "(FLOORDIV (MUL ?x ?c:const) ?c)", "?x", {"nonzero(?c)", "nowrap((MUL ?x ?c))"}},
      // (c x) // d = (c/g x) // (d/g)
      {"div-mul", "(FLOORDIV (MUL ?x ?c:const) ?d:const)", "(FLOORDIV (MUL ?x (= (FLOORDIV ?c (GCD ?c ?d)))) (= (FLOORDIV ?d (GCD ?c ?d))))",
       {"positive(?d)", "lt((CONST 1), (= (GCD ?c ?d)))", "nowrap((MUL ?x ?c))"}},
      // (k d x + y) // d = k x + y // d
      {"div-sum", "(FLOORDIV (ADD (MUL ?x ?c:const) ?y) ?d:const)", "(ADD (MUL ?x (= (FLOORDIV ?c ?d))) (FLOORDIV ?y ?d))",
       {"divides(?d, ?c)", "nowrap((ADD (MUL ?x ?c) ?y))"}},
      {"div-sum-in", "(FLOORDIV (ADD (ADD ?z (MUL ?x ?c:const)) ?y) ?d:const)", "(ADD (MUL ?x (= (FLOORDIV ?c ?d))) (FLOORDIV (ADD ?z ?y) ?d))",
       {"divides(?d, ?c)", "nowrap((ADD (ADD ?z (MUL ?x ?c)) ?y))", "nowrap((ADD ?z ?y))"}},
      // (x + q d + r) // d = (x + r) // d + q
      {"div-offset", "(FLOORDIV (ADD ?x ?k:const) ?d:const)", "(ADD (FLOORDIV (ADD ?x (= (FLOORMOD ?k ?d))) ?d) (= (FLOORDIV ?k ?d)))",
       {"positive(?d)", "nonzero((= (FLOORDIV ?k ?d)))", "nowrap((ADD ?x ?k))", "nowrap((ADD ?x (= (FLOORMOD ?k ?d))))"}},
      // (c x + y) // d = (c/g x) // (d/g) where 0 <= y < g
      {"div-low", "(FLOORDIV (ADD (MUL ?x ?c:const) ?y) ?d:const)", "(FLOORDIV (MUL ?x (= (FLOORDIV ?c (GCD ?c ?d)))) (= (FLOORDIV ?d (GCD ?c ?d))))",
       {"positive(?d)", "nonneg(?y)", "lt(?y, (= (GCD ?c ?d)))", "lt((CONST 1), (= (GCD ?c ?d)))", "nowrap((ADD (MUL ?x ?c) ?y))", "nowrap((MUL ?x ?c))"}},
      {"div-const", "(FLOORDIV (ADD (MUL ?x ?c:const) ?k:const) ?d:const)",
       "(FLOORDIV (ADD (MUL ?x (= (FLOORDIV ?c (GCD ?c ?d)))) (= (FLOORDIV ?k (GCD ?c ?d)))) (= (FLOORDIV ?d (GCD ?c ?d))))",
       {"positive(?d)", "lt((CONST 1), (= (GCD ?c ?d)))", "nowrap((ADD (MUL ?x ?c) ?k))"}},
      // (x % (k d)) // d = (x // d) % k
      {"div-mod", "(FLOORDIV (FLOORMOD ?x ?c:const) ?d:const)", "(FLOORMOD (FLOORDIV ?x ?d) (= (FLOORDIV ?c ?d)))", {"positive(?c)", "divides(?d, ?c)"}},
      {"div-div", "(FLOORDIV (FLOORDIV ?x ?c:const) ?d:const)", "(FLOORDIV ?x (= (MUL ?c ?d)))", {"positive(?c)", "positive(?d)", "nowrap((MUL ?c ?d))"}},
  };
}

std::vector<Rule> remainder() {
  return {
      {"mod-zero", "(FLOORMOD ?x (CONST 0))", "(CONST 0 like=?x)", {"int(?x)"}},
      {"mod-one", "(FLOORMOD ?x (CONST 1))", "(CONST 0 like=?x)", {"int(?x)"}},
      {"mod-minus-one", "(FLOORMOD ?x (CONST -1))", "(CONST 0 like=?x)", {"int(?x)"}},
      {"zero-mod", "(FLOORMOD (CONST 0) ?x)", "(CONST 0 like=?x)", {"int(?x)"}},
      {"mod-self", "(FLOORMOD ?x ?x)", "(CONST 0 like=?x)", {"int(?x)"}},
      {"mod-small", "(FLOORMOD ?x ?y)", "?x", {"nonneg(?x)", "lt(?x, ?y)"}},
      {"mod-small-neg", "(FLOORMOD ?x ?c:const)", "(ADD ?x ?c)", {"negative(?x)", "nonneg((ADD ?x ?c))", "nowrap((ADD ?x ?c))"}},
      {"mod-mod", "(FLOORMOD (FLOORMOD ?x ?c:const) ?d:const)", "(FLOORMOD ?x ?d)", {"positive(?c)", "divides(?d, ?c)"}},
      // (k d x + y) % d = y % d
      {"mod-mul", "(FLOORMOD (MUL ?x ?c:const) ?d:const)", "(CONST 0 like=?x)", {"divides(?d, ?c)", "nowrap((MUL ?x ?c))"}},
      {"mod-sum", "(FLOORMOD (ADD (MUL ?x ?c:const) ?y) ?d:const)", "(FLOORMOD ?y ?d)", {"divides(?d, ?c)", "nowrap((ADD (MUL ?x ?c) ?y))"}},
      {"mod-sum-in", "(FLOORMOD (ADD (ADD ?z (MUL ?x ?c:const)) ?y) ?d:const)", "(FLOORMOD (ADD ?z ?y) ?d)",
       {"divides(?d, ?c)", "nowrap((ADD (ADD ?z (MUL ?x ?c)) ?y))", "nowrap((ADD ?z ?y))"}},
      // Coefficients and offsets of a sum under % d are taken modulo d.
      {"mod-coefficient", "(FLOORMOD (MUL ?x ?c:const) ?d:const)", "(FLOORMOD (MUL ?x (= (FLOORMOD ?c ?d))) ?d)",
       {"positive(?d)", "nonzero((= (FLOORDIV ?c ?d)))", "nowrap((MUL ?x ?c))", "nowrap((MUL ?x (= (FLOORMOD ?c ?d))))"}},
      {"mod-coefficients", "(FLOORMOD (ADD (MUL ?x ?c:const) ?y) ?d:const)", "(FLOORMOD (ADD (MUL ?x (= (FLOORMOD ?c ?d))) ?y) ?d)",
       {"positive(?d)", "nonzero((= (FLOORDIV ?c ?d)))", "nowrap((ADD (MUL ?x ?c) ?y))", "nowrap((ADD (MUL ?x (= (FLOORMOD ?c ?d))) ?y))"}},
      {"mod-offset", "(FLOORMOD (ADD ?x ?k:const) ?d:const)", "(FLOORMOD (ADD ?x (= (FLOORMOD ?k ?d))) ?d)",
       {"positive(?d)", "nonzero((= (FLOORDIV ?k ?d)))", "nowrap((ADD ?x ?k))", "nowrap((ADD ?x (= (FLOORMOD ?k ?d))))"}},
      {"mod-in", "(FLOORMOD (ADD (FLOORMOD ?x ?d:const) ?y) ?d)", "(FLOORMOD (ADD ?x ?y) ?d)",
       {"positive(?d)", "nowrap((ADD (FLOORMOD ?x ?d) ?y))", "nowrap((ADD ?x ?y))"}},
      // (c x) % d = g ((c/g x) % (d/g))
      {"mod-factor", "(FLOORMOD (MUL ?x ?c:const) ?d:const)", "(MUL (FLOORMOD (MUL ?x (= (FLOORDIV ?c (GCD ?c ?d)))) (= (FLOORDIV ?d (GCD ?c ?d)))) (= (GCD ?c ?d)))",
       {"positive(?d)", "lt((CONST 1), (= (GCD ?c ?d)))", "nowrap((MUL ?x ?c))"}},
      // (c x + y) % d = (c x) % d + y where 0 <= y < g
      {"mod-low", "(FLOORMOD (ADD (MUL ?x ?c:const) ?y) ?d:const)", "(ADD (FLOORMOD (MUL ?x ?c) ?d) ?y)",
       {"positive(?d)", "nonneg(?y)", "lt(?y, (= (GCD ?c ?d)))", "lt((CONST 1), (= (GCD ?c ?d)))", "nowrap((ADD (MUL ?x ?c) ?y))", "nowrap((MUL ?x ?c))"}},
  };
}

// (x // c) c + x % c = x, also scaled, inside a sum, and one digit up.
std::vector<Rule> recombination() {
  return {
      {"recombine", "(ADD (MUL (FLOORDIV ?x ?c:const) ?c) (FLOORMOD ?x ?c))", "?x", {"nonzero(?c)"}},
      {"recombine-low", "(ADD (ADD ?z (MUL (FLOORDIV ?x ?c:const) ?c)) (FLOORMOD ?x ?c))", "(ADD ?z ?x)", {"nonzero(?c)"}},
      {"recombine-high", "(ADD (ADD ?z (FLOORMOD ?x ?c:const)) (MUL (FLOORDIV ?x ?c) ?c))", "(ADD ?z ?x)", {"nonzero(?c)"}},
      {"recombine-scaled", "(ADD (MUL (FLOORDIV ?x ?c:const) ?d:const) (MUL (FLOORMOD ?x ?c) ?e:const))", "(MUL ?x ?e)",
       {"nonzero(?c)", "eq(?d, (= (MUL ?c ?e)))"}},
      {"recombine-digit", "(ADD (MUL (FLOORMOD (FLOORDIV ?x ?c:const) ?d:const) ?c) (FLOORMOD ?x ?c))", "(FLOORMOD ?x (= (MUL ?c ?d)))",
       {"positive(?c)", "positive(?d)", "nowrap((MUL ?c ?d))"}},
  };
}

std::vector<Rule> comparison() {
  return {
      {"lt-add-const", "(CMPLT (ADD ?x ?a:const) ?b:const)", "(CMPLT ?x (= (ADD ?b (NEG ?a))))", {"nowrap((ADD ?x ?a))", "nowrap((ADD ?b (NEG ?a)))"}},
      {"const-lt-add", "(CMPLT ?b:const (ADD ?x ?a:const))", "(CMPLT (= (ADD ?b (NEG ?a))) ?x)", {"nowrap((ADD ?x ?a))", "nowrap((ADD ?b (NEG ?a)))"}},
      {"lt-add-add", "(CMPLT (ADD ?x ?z) (ADD ?y ?z))", "(CMPLT ?x ?y)", {"nowrap((ADD ?x ?z))", "nowrap((ADD ?y ?z))"}},
      {"lt-mul-mul", "(CMPLT (MUL ?x ?c:const) (MUL ?y ?c))", "(CMPLT ?x ?y)", {"positive(?c)", "nowrap((MUL ?x ?c))", "nowrap((MUL ?y ?c))"}},
      {"lt-mul", "(CMPLT (MUL ?x ?c:const) ?d:const)", "(CMPLT ?x (= (NEG (FLOORDIV (NEG ?d) ?c))))",
       {"positive(?c)", "nowrap((MUL ?x ?c))", "nowrap((NEG ?d))"}},
      {"const-lt-mul", "(CMPLT ?d:const (MUL ?x ?c:const))", "(CMPLT (= (FLOORDIV ?d ?c)) ?x)", {"positive(?c)", "nowrap((MUL ?x ?c))"}},
      {"lt-div", "(CMPLT (FLOORDIV ?x ?c:const) ?d:const)", "(CMPLT ?x (= (MUL ?d ?c)))", {"positive(?c)", "nowrap((MUL ?d ?c))"}},
      {"const-lt-div", "(CMPLT ?d:const (FLOORDIV ?x ?c:const))", "(CMPLT (= (ADD (MUL (ADD ?d (CONST 1)) ?c) (NEG (CONST 1)))) ?x)",
       {"positive(?c)", "nowrap((ADD (MUL (ADD ?d (CONST 1)) ?c) (CONST -1)))"}},
      {"lt-low", "(CMPLT (ADD (MUL ?x ?c:const) ?y) ?d:const)", "(CMPLT ?x (= (FLOORDIV ?d ?c)))",
       {"divides(?c, ?d)", "nonneg(?y)", "lt(?y, ?c)", "nowrap((ADD (MUL ?x ?c) ?y))"}},
      {"ne-mul", "(CMPNE (MUL ?x ?c:const) ?d:const)", "(CMPNE ?x (= (FLOORDIV ?d ?c)))", {"divides(?c, ?d)", "nowrap((MUL ?x ?c))"}},
  };
}

// Operands that have one possible value become that constant: the variable of a loop of one iteration, say.
NodeId knownOperands(Match& m) {
  std::vector<NodeId> sources(m.g.srcs(m.root).begin(), m.g.srcs(m.root).end());
  for (NodeId& s : sources) {
    Interval r = m.facts.get(s);
    if (r.empty() || !r.single() || m.facts.constant(s) != kNoNode) continue;
    s = m.g.expand(m.g.constant(m.g.dtype(s), Scalar::ofInt(static_cast<int64_t>(r.lo))), m.g.shape(s));
  }
  return m.g.remake(m.g, m.root, sources);
}

std::vector<Rule> known() {
  std::vector<Rule> out;
  for (const char* op : {"ADD", "MUL", "MAX", "CMPLT", "CMPNE", "FLOORDIV", "FLOORMOD", "AND", "OR"})
    out.push_back({.name = std::string("known-") + op, .match = std::string("(") + op + " ?x ?y)", .replace = "operands with one possible value become it",
                   .guards = {}, .unproved = "true by what a value range means", .build = knownOperands});
  return out;
}

}  // namespace

std::vector<Rule> indexRules() {
  std::vector<Rule> out;
  for (auto* part : {known, division, remainder, recombination, comparison})
    for (Rule& rule : part()) out.push_back(std::move(rule));
  return out;
}

}  // namespace uop
