// Terms: the s-expressions of which patterns, replacements and guards are made.
//
//   ?x                     a variable: any node, the same one wherever the name is repeated
//   ?c:const               a variable bound to a constant, also one that movement ops broadcast
//   (ADD ?x (CONST 0))     an op over terms. Commutative ops match either way round. The op is written with all its sources;
//                          a node that carries dotted attributes is not taken apart
//   (CONST 2)              a literal of whatever dtype stands there: 0 and 1 also for false and true, an integer also for a
//                          float, a float for floats only; a broadcast one too. `min`, `max`: least and greatest value of the
//                          dtype (floats: the infinities); `ones`: all bits set (-1, greatest unsigned, true)
//   (CAST ?x dtype=?d)     attributes: a variable, bound at its first place and compared at others, or a value as in .uop text.
//                          One that is not mentioned is free in a pattern; a replacement must give all that the op requires
// In a replacement or a guard's argument also:
//   (= (ADD ?c1 ?c2))      computed on constants by the meaning of the ops (wraparound and rounding included); GCD besides
//   (CONST 0 like=?x)      a literal of ?x's dtype and shape; without `like` it has the dtype and shape of its neighbours
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "ir/op.h"
#include "support/diagnostics.h"

namespace uop {

using TermId = uint16_t;
using VarId = uint8_t;
inline constexpr VarId kNoVar = 255;
inline constexpr size_t kMaxVars = 16;

enum class Special : uint8_t { None, Min, Max, Ones };

struct Literal {
  bool isFloat = false, isBool = false;
  Special special = Special::None;
  int64_t integer = 0;
  double real = 0;
};

struct AttrTerm {
  AttrKey key;
  VarId var = kNoVar;          // else a value:
  int64_t word = 0;
  std::vector<int64_t> list;   // of Dims and Pairs (flat)
  std::string text;            // of String
};

struct Term {
  enum class Kind : uint8_t { Var, Literal, Apply, Gcd, Compute };
  Kind kind = Kind::Var;
  Op op = Op::Const;
  VarId var = kNoVar;   // Var; of a Literal: like=
  Literal literal;
  std::vector<TermId> args;
  std::vector<AttrTerm> attrs;
};

// The terms of one rule with its variables; node variables and attribute variables are numbered apart.
struct Terms {
  std::vector<Term> pool;
  std::vector<std::string> vars, attrVars;
  std::vector<bool> isConst;  // by variable: bound to constants only

  const Term& operator[](TermId id) const { return pool[id]; }
  VarId var(std::string_view name) const;      // kNoVar if there is none
  VarId attrVar(std::string_view name) const;
};

// What may stand in a term. A pattern binds variables; the others use those that are bound.
enum class TermPlace : uint8_t { Pattern, Replacement, Guard };

// Reads one term of rule `rule` from the front of `text`, which it shortens. Errors: Diag::RuleError.
Result<TermId> parseTerm(std::string_view rule, std::string_view& text, TermPlace, Terms&);
// The same of a text that is one term and nothing more.
Result<TermId> parseWhole(std::string_view rule, std::string_view text, TermPlace, Terms&);

}  // namespace uop
