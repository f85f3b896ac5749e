#include "backends/cstyle/spelling.h"

#include <cmath>

#include "backends/cstyle/prelude.h"
#include "ir/program.h"

namespace uop::cstyle {
namespace {

bool isHalf(DType d) { return d == DType::F16 || d == DType::BF16; }
DType computed(DType d) { return isHalf(d) ? DType::F32 : d == DType::Index ? DType::I64 : d; }
std::string dtypeStem(DType d) { return std::string(name(d == DType::Index ? DType::I64 : d)); }
std::string_view wrapType(DType d) { return byteSize(d) == 8 ? "uint64_t" : "uint32_t"; }

// Rounding to f16 or bf16 changes nothing where the operands already are.
bool roundsHalf(Op op) { return op != Op::Neg && op != Op::Max && op != Op::Where && op != Op::Trunc; }

std::string floatLiteral(double v, bool wide) {
  const std::string suffix = wide ? "" : "f";
  if (std::isnan(v)) return "__builtin_nan" + suffix + "(\"\")";
  std::string text;
  if (std::isinf(v)) text = "__builtin_inf" + suffix + "()";
  else if (std::fabs(v) < 1e6 && std::trunc(v * 8) == v * 8) text = fmt::format("{}", std::fabs(v)) + (std::trunc(v) == v ? ".0" : "") + suffix;
  else text = fmt::format("{:a}", std::fabs(v)) + suffix;
  return std::signbit(v) ? "(-" + text + ")" : text;
}

std::string signedLiteral(int64_t v, DType d) {
  if (v == INT64_MIN) return "INT64_MIN";
  if (v == INT32_MIN && d == DType::I32) return "INT32_MIN";
  const bool large = v < -INT32_MAX || v > INT32_MAX;
  const std::string text = fmt::format("{}{}", v < 0 ? -v : v, large ? "ll" : "");
  return v < 0 ? "(-" + text + ")" : text;
}

}  // namespace

std::string_view valueType(DType d) { return isHalf(d) ? "float" : info(d).cName; }
std::string_view storageType(DType d) { return info(d).cName; }

std::string literal(DType d, Scalar s) {
  if (isFloat(d)) return floatLiteral(s.asDouble(), d == DType::F64);
  if (d == DType::Bool) return s.asInt() ? "true" : "false";
  if (d == DType::U64) return fmt::format("{}{}", s.bits, s.bits > UINT32_MAX ? "ull" : "u");
  if (d == DType::U32) return fmt::format("{}u", static_cast<uint32_t>(s.bits));
  return signedLiteral(s.asInt(), d);
}

void Speller::use(std::string_view helper) {
  static const std::set<std::string_view> known = [] {
    auto names = preludeNames();
    return std::set<std::string_view>(names.begin(), names.end());
  }();
  auto found = known.find(helper);
  if (found == known.end()) internalError("the prelude has no " + std::string(helper));
  used_.insert(*found);
}

std::string Speller::call(const std::string& helper, const std::string& argument) {
  use(helper);
  return helper + "(" + argument + ")";
}

std::string Speller::operand(NodeId value, DType as) { return g_.isConst(value) ? literal(as, g_.constValue(value)) : name_(value); }

std::string Speller::fromStorage(DType d, const std::string& element) { return isHalf(d) ? call("uop_" + dtypeStem(d) + "_to_f32", element) : element; }

std::string Speller::toStorage(DType d, const std::string& value) { return isHalf(d) ? call("uop_f32_to_" + dtypeStem(d), value) : value; }

std::string Speller::fromBits(DType d, const std::string& word) {
  if (d == DType::Bool) return word + " != 0";
  if (d == DType::F32) return call("uop_bits_u32_f32", "(uint32_t)" + word);
  if (d == DType::F64) return call("uop_bits_i64_f64", word);
  if (isHalf(d)) return fromStorage(d, "(uint16_t)" + word);
  return d == DType::I64 || d == DType::Index ? word : fmt::format("({}){}", storageType(d), word);
}

Speller::Class Speller::classOf(NodeId n, DType d) const {
  if (isFloat(d)) return Class::Float;
  if (d == DType::Bool) return Class::Bool;
  switch (g_.op(n)) {
    case Op::FloorDiv:
    case Op::FloorMod: return intervals_.of(g_.src(n, 0)).lo >= 0 && intervals_.of(g_.src(n, 1)).lo > 0 ? Class::Int : Class::Wrap;
    case Op::Add:
    case Op::Mul:
    case Op::Neg: return intervals_.exact(n) || d == DType::U32 || d == DType::U64 ? Class::Int : Class::Wrap;
    default: return Class::Int;
  }
}

std::string_view Speller::text(Op op, Class c) const {
  struct Row {
    Op op;
    Class operands;
    std::string_view text;
  };
  static constexpr Row kRows[] = {
#define SPELL(op, operands, text) {Op::op, Class::operands, text},
#include "backends/cstyle/spelling.def"
  };
  for (const Row& row : kRows)
    if (row.op == op && row.operands == c) return row.text;
  return {};
}

// Comparisons whose result follows from the types alone draw warnings; a compound literal is not seen through.
void Speller::spellOperands(NodeId n, DType d, std::string (&out)[3]) {
  const auto srcs = g_.srcs(n);
  const bool isWhere = g_.op(n) == Op::Where;
  bool constants = true;
  for (size_t i = 0; i < srcs.size(); ++i) {
    out[i] = operand(srcs[i], isWhere && i == 0 ? DType::Bool : d);
    constants &= g_.isConst(srcs[i]);
  }
  auto opaque = [&](std::string& text) { text = fmt::format("({}){{{}}}", valueType(d), text); };
  if (constants && isInteger(d) && !isWhere) opaque(out[0]);
  const Op op = g_.op(n);
  if (isFloat(d) || (op != Op::CmpLt && op != Op::CmpNe && op != Op::Max && op != Op::Xor)) return;
  if (srcs[0] == srcs[1]) return opaque(out[1]);
  if (d == DType::Bool || op == Op::CmpNe || op == Op::Xor) return;
  const size_t less = op == Op::CmpLt ? 0 : 1;  // x > y is y < x
  if (auto v = g_.constInt(srcs[less]); v && static_cast<uint64_t>(*v) == maxValue(d)) opaque(out[less]);
  if (auto v = g_.constInt(srcs[1 - less]); v && *v == (isUnsigned(d) ? 0 : minValue(d))) opaque(out[1 - less]);
}

std::string Speller::substitute(std::string_view text, DType d, const std::string (&operands)[3]) {
  std::string out;
  const std::string stem = dtypeStem(computed(d));
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '$') {
      out += text[i];
      continue;
    }
    switch (text[++i]) {
      case 'x': out += operands[0]; break;
      case 'y': out += operands[1]; break;
      case 'z': out += operands[2]; break;
      case 'C': out += valueType(d); break;
      case 'U': out += wrapType(d); break;
      case 'T': out += stem; break;
      default: out += d == DType::F64 ? "" : "f";
    }
  }
  if (text.starts_with("uop_")) use(out.substr(0, out.find('(')));
  return out;
}

std::string Speller::cast(const std::string& x, DType from, DType to) {
  const DType f = computed(from), t = computed(to);
  if (f == t && !isHalf(to)) return x;
  if (to == DType::Bool) return x + (isFloat(from) ? f == DType::F64 ? " != 0.0" : " != 0.0f" : " != 0");
  if (isHalf(to)) {
    if (from == to) return x;
    if (from == DType::Bool) return "(float)" + x;
    return fromStorage(to, call("uop_" + dtypeStem(f) + "_to_" + dtypeStem(to), x));
  }
  if (isFloat(from) && isInteger(to)) return call("uop_" + dtypeStem(f) + "_to_" + dtypeStem(t), x);
  return fmt::format("({}){}", valueType(to), x);
}

std::string Speller::bitcast(const std::string& x, DType from, DType to) {
  if (computed(from) == computed(to) && !isHalf(from)) return x;
  if (isHalf(from) || isHalf(to)) {
    if (from == to) return x;
    const std::string bits = isHalf(from) ? toStorage(from, x) : "(uint16_t)" + x;
    return isHalf(to) ? fromStorage(to, bits) : fmt::format("({}){}", valueType(to), bits);
  }
  if (isFloat(from) || isFloat(to)) return call("uop_bits_" + dtypeStem(computed(from)) + "_" + dtypeStem(computed(to)), x);
  return fmt::format("({}){}", valueType(to), x);
}

std::string Speller::expression(NodeId n) {
  const Op op = g_.op(n);
  const NodeId first = g_.src(n, 0);
  if (op == Op::Cast) return cast(operand(first), g_.dtype(first), g_.dtype(n));
  if (op == Op::Bitcast) return bitcast(operand(first), g_.dtype(first), g_.dtype(n));
  DType d = op == Op::Where ? g_.dtype(n) : g_.dtype(first);
  if (g_[n].srcCount == 2 && g_.dtype(g_.src(n, 1)) == DType::Index) d = DType::Index;
  const Class c = classOf(n, d);
  std::string_view form = text(op, c);
  if (form.empty() && c == Class::Wrap) form = text(op, Class::Int);
  if (form.empty()) internalError(fmt::format("no spelling in C for {} on {}", name(op), name(d)));
  std::string operands[3];
  spellOperands(n, d, operands);
  const std::string out = substitute(form, d, operands);
  return isHalf(g_.dtype(n)) && roundsHalf(op) ? rounded(g_.dtype(n), out) : out;
}

}  // namespace uop::cstyle
