// A number of the manifest that may depend on scalar arguments: a launch's grid, its flops and bytes.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/diagnostics.h"

namespace uop {

// A constant, or an expression with its maximum. In JSON: 12 or {"expr": "(ADD arg0 1)", "max": 12}.
struct Amount {
  int64_t value = 0;  // the constant, or the expression's maximum
  std::string expr;   // "" for a constant
  bool operator==(const Amount&) const = default;
};

// An s-expression over 64-bit integers, ready to evaluate without allocating: integers, `argN` (scalar N of the list given,
// which is arguments[N] of the manifest), (NEG x), (ADD x y …), (MUL x y …), (MAX x y …), (MIN x y …), (FLOORDIV x y), (FLOORMOD x y);
// these two as in the format: 0 for a divisor of 0.
class Expression {
 public:
  static constexpr size_t kMaxDepth = 64;    // nesting, and so the evaluation stack
  static constexpr size_t kMaxText = 65536;  // characters

  // The error's message says what is wrong, without a place.
  static Result<Expression> parse(std::string_view text);
  // The value for these scalars; nullopt on overflow of 64 bits. `scalars` must cover args().
  std::optional<int64_t> evaluate(std::span<const int64_t> scalars) const;
  // Arguments it reads, without repeats, in order.
  const std::vector<int64_t>& args() const { return args_; }

 private:
  friend struct ExpressionParser;
  enum class Op : uint8_t { Const, Arg, Neg, Add, Mul, Max, Min, FloorDiv, FloorMod };
  struct Step {
    Op op;
    int64_t value;  // of Const and Arg
  };
  std::vector<Step> steps_;  // postfix
  std::vector<int64_t> args_;
};

}  // namespace uop
