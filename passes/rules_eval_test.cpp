// Every rule of every set, by evaluation: for each legal dtype the pattern is built over PARAMs of random ranges and random
// constants; where the rule fires, both sides are computed on random and special operands and must give the same bits.
#include <catch2/catch.hpp>

#include "passes/rules_trial.h"
#include "support/hash.h"

namespace uop {
namespace {

using testing::kDTypes;
using testing::Trial;
using testing::Typing;

}  // namespace

TEST_CASE("every rule gives the same bits on both sides") {
  size_t evaluated = 0, exempt = 0;
  for (const CompiledRule& rule : testing::allRules()) {
    Typing types(rule);
    if (!types.elementwise || rule.rule.fastOnly) {
      INFO(rule.rule.name);
      CHECK(!rule.rule.unproved.empty());
      ++exempt;
      continue;
    }
    std::mt19937_64 random(hashBytes(rule.rule.name.data(), rule.rule.name.size(), 1));  // no rule depends on those before it
    size_t fired = 0;
    for (int round = 0; round < 10 && fired < 3; ++round)
      types.forEach(kDTypes, [&] {
        size_t here = 0;
        for (int i = 0; i < 400 && here < 40; ++i) here += Trial(rule, types, random).run();
        fired += here;
      });
    INFO(rule.rule.name << " fired too rarely");
    CHECK(fired >= 3);
    ++evaluated;
  }
  WARN(evaluated << " rules evaluated, " << exempt << " without a scalar meaning or for fp=fast");
}

}  // namespace uop
