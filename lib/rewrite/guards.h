// Guards: the conditions of a rule, rows of guards.def.
#pragma once
#include "rewrite/match.h"

namespace uop {

enum class Guard : uint8_t {
#define GUARD(id, ...) id##_,
#include "rewrite/guards.def"
};
struct GuardInfo {
  std::string_view name;
  size_t least, most;
  std::string_view help;
};
std::span<const GuardInfo> guardTable();

// "lt(?a, ?b)". Errors: Diag::RuleError.
Result<GuardCall> parseGuard(std::string_view rule, std::string_view text, Terms&);

bool guardsHold(const Match&);

// The values that a term can have; *wraps is set where an op of it may leave its dtype. `want` as in computeConst.
Interval termRange(const Match&, TermId, DType want, bool* wraps = nullptr);

// Every value of `from` is exactly a value of `to`.
bool widens(DType from, DType to);

}  // namespace uop
