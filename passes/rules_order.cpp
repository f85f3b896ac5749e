// One order for the operands of commutative ops, so that equal values are one node and patterns meet constants on the right.
#include "passes/rules.h"

namespace uop {

std::vector<Rule> orderRules() {
  std::vector<Rule> out;
  for (size_t i = 0; i < kOpCount; ++i) {
    auto op = static_cast<Op>(i);
    if (!hasTrait(op, trait::Commutative)) continue;
    std::string op_ = std::string(name(op));
    out.push_back({"order-" + op_, "(" + op_ + " ?x ?y)", "(" + op_ + " ?y ?x)", {"before(?y, ?x)"}});
  }
  return out;
}

}  // namespace uop
