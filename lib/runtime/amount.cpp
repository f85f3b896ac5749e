#include "runtime/amount.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace uop {

// Reads the text once, with a stack of open operators instead of recursion.
struct ExpressionParser {
  struct OpenOp {
    Expression::Op op;
    int operands = 0;
  };
  std::string_view text;
  Expression out;
  std::vector<OpenOp> open;
  bool finished = false;

  static std::optional<Expression::Op> opNamed(std::string_view word) {
    using Op = Expression::Op;
    constexpr std::pair<std::string_view, Op> names[] = {{"NEG", Op::Neg}, {"ADD", Op::Add}, {"MUL", Op::Mul}, {"MAX", Op::Max}, {"MIN", Op::Min}, {"FLOORDIV", Op::FloorDiv}, {"FLOORMOD", Op::FloorMod}};
    for (auto [name, op] : names)
      if (name == word) return op;
    return std::nullopt;
  }

  static std::unexpected<Error> wrong(std::string message) { return std::unexpected(Error{Diag::ManifestError, std::move(message), {}}); }

  // An operand is complete: an operator of many folds it at once, so that evaluation needs a stack of the depth only.
  void operand() {
    if (open.empty()) {
      finished = true;
      return;
    }
    OpenOp& top = open.back();
    bool many = top.op == Expression::Op::Add || top.op == Expression::Op::Mul || top.op == Expression::Op::Max || top.op == Expression::Op::Min;
    if (++top.operands > 1 && many) out.steps_.push_back({top.op, 0});
  }

  Result<void> close() {
    OpenOp top = open.back();
    open.pop_back();
    using Op = Expression::Op;
    bool one = top.op == Op::Neg, two = top.op == Op::FloorDiv || top.op == Op::FloorMod;
    if (one ? top.operands != 1 : two ? top.operands != 2 : top.operands < 1) return wrong("an operator has the wrong number of operands");
    if (one || two) out.steps_.push_back({top.op, 0});
    operand();
    return {};
  }

  Result<void> word(std::string_view w) {
    bool arg = w.starts_with("arg");
    std::string_view digits = arg ? w.substr(3) : w;
    int64_t value = 0;
    auto [end, ec] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (digits.empty() || ec != std::errc{} || end != digits.data() + digits.size() || (arg && value < 0)) return wrong("'" + std::string(w.substr(0, 40)) + "' is no integer and no argN");
    out.steps_.push_back({arg ? Expression::Op::Arg : Expression::Op::Const, value});
    if (arg && std::ranges::find(out.args_, value) == out.args_.end()) out.args_.push_back(value);
    operand();
    return {};
  }

  Result<Expression> run() {
    size_t at = 0;
    auto takeWord = [&] {
      size_t begin = at;
      while (at < text.size() && text[at] != ' ' && text[at] != '(' && text[at] != ')') ++at;
      return text.substr(begin, at - begin);
    };
    while (at < text.size()) {
      char c = text[at];
      if (c == ' ') {
        ++at;
        continue;
      }
      if (finished) return wrong("more follows after the expression");
      if (c == ')') {
        ++at;
        if (open.empty()) return wrong("a ')' without a '('");
        if (auto r = close(); !r) return std::unexpected(r.error());
      } else if (c == '(') {
        ++at;
        std::string_view name = takeWord();
        auto op = opNamed(name);
        if (!op) return wrong("unknown operator '" + std::string(name.substr(0, 40)) + "'");
        if (open.size() >= Expression::kMaxDepth) return wrong("nested too deep");
        open.push_back({*op});
      } else if (auto r = word(takeWord()); !r) {
        return std::unexpected(r.error());
      }
    }
    if (!finished) return wrong("the expression ends too early");
    return std::move(out);
  }
};

Result<Expression> Expression::parse(std::string_view text) {
  if (text.size() > kMaxText) return ExpressionParser::wrong("the expression is too long");
  return ExpressionParser{text, {}, {}, false}.run();
}

std::optional<int64_t> Expression::evaluate(std::span<const int64_t> scalars) const {
  std::array<int64_t, 2 * kMaxDepth + 2> stack;
  size_t top = 0;
  for (const Step& s : steps_) {
    if (s.op == Op::Const || s.op == Op::Arg) {
      stack[top++] = s.op == Op::Const ? s.value : scalars[static_cast<size_t>(s.value)];
      continue;
    }
    int64_t y = stack[--top], r = 0;
    if (s.op == Op::Neg) {
      if (__builtin_sub_overflow(int64_t{0}, y, &r)) return std::nullopt;
      stack[top++] = r;
      continue;
    }
    int64_t x = stack[--top];
    bool overflow = false;
    switch (s.op) {
      case Op::Add: overflow = __builtin_add_overflow(x, y, &r); break;
      case Op::Mul: overflow = __builtin_mul_overflow(x, y, &r); break;
      case Op::Max: r = std::max(x, y); break;
      case Op::Min: r = std::min(x, y); break;
      default: {
        if (y == 0) break;
        if (y == -1) {
          if (s.op == Op::FloorDiv) overflow = __builtin_sub_overflow(int64_t{0}, x, &r);
          break;
        }
        int64_t q = x / y, m = x % y;
        bool adjust = m != 0 && (m < 0) != (y < 0);
        r = s.op == Op::FloorDiv ? q - adjust : adjust ? m + y : m;
      }
    }
    if (overflow) return std::nullopt;
    stack[top++] = r;
  }
  return stack[0];
}

}  // namespace uop
