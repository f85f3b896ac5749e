#include "ir/value_reader.h"

#include <charconv>
#include <cmath>

namespace uop {
namespace {

constexpr int kMaxDepth = 8;
constexpr size_t kMaxList = 1u << 20;

bool isDigits(std::string_view s) { return !s.empty() && s.find_first_not_of("0123456789") == std::string_view::npos; }

// The format wants digits on both sides of a point, and an exponent on a hex float.
bool wellFormedFloat(std::string_view s, bool hex) {
  auto exponentAt = s.find_first_of(hex ? "pP" : "eE");
  if (hex && exponentAt == std::string_view::npos) return false;
  std::string_view mantissa = s.substr(0, exponentAt);
  if (exponentAt != std::string_view::npos) {
    std::string_view exponent = s.substr(exponentAt + 1);
    if (exponent.starts_with('+') || exponent.starts_with('-')) exponent.remove_prefix(1);
    if (!isDigits(exponent)) return false;
  }
  size_t dot = mantissa.find('.');
  auto good = [&](std::string_view d) { return !d.empty() && d.find_first_not_of(hex ? "0123456789abcdefABCDEF" : "0123456789") == std::string_view::npos; };
  return dot == std::string_view::npos ? good(mantissa) : good(mantissa.substr(0, dot)) && good(mantissa.substr(dot + 1));
}

std::optional<Value> readNumber(std::string_view text, Loc loc, Diagnostics& diags) {
  std::string_view body = text;
  bool negative = body.starts_with('-');
  if (negative) body.remove_prefix(1);
  bool hex = body.starts_with("0x") || body.starts_with("0X");
  if (hex) body.remove_prefix(2);
  uint64_t magnitude = 0;
  auto [end, ec] = std::from_chars(body.data(), body.data() + body.size(), magnitude, hex ? 16 : 10);
  if (!body.empty() && end == body.data() + body.size()) {
    if (ec == std::errc{}) return Value{Integer{negative, magnitude, text}, text, loc.col};
    diags.report(Diag::NumberTooLarge, loc, text.substr(0, 60));
    return std::nullopt;
  }
  double v = 0;
  if (wellFormedFloat(body, hex)) {
    auto [stop, error] = std::from_chars(body.data(), body.data() + body.size(), v, hex ? std::chars_format::hex : std::chars_format::general);
    if (error == std::errc::result_out_of_range) v = std::strtod(std::string((hex ? "0x" : "") + std::string(body)).c_str(), nullptr);
    return Value{negative ? -v : v, text, loc.col};
  }
  diags.report(Diag::BadNumber, loc, text.substr(0, 60));
  return std::nullopt;
}

std::optional<Value> readWord(const Token& t, Loc loc, Diagnostics& diags) {
  std::string_view w = t.text;
  if (w == "true" || w == "false") return Value{w == "true", w, t.col};
  if (w == "inf" || w == "-inf") return Value{w[0] == '-' ? -HUGE_VAL : HUGE_VAL, w, t.col};
  if (w == "nan") return Value{std::nan(""), w, t.col};
  if (w[0] == '-' || (w[0] >= '0' && w[0] <= '9')) return readNumber(w, loc, diags);
  bool word = (w[0] == '_' || std::isalpha(static_cast<unsigned char>(w[0]))) && w.find_first_of("+-") == std::string_view::npos;
  if (word) return Value{Word{w}, w, t.col};
  diags.report(Diag::BadNumber, loc, w.substr(0, 60));
  return std::nullopt;
}

std::optional<Value> readAt(Lexer& lex, Diagnostics& diags, int depth);

std::optional<Value> readList(Lexer& lex, Diagnostics& diags, int depth) {
  Value out{ValueList{}, lex.peek().text, lex.peek().col};
  auto& items = std::get<ValueList>(out.is);
  Loc loc = lex.here();
  if (depth >= kMaxDepth) {
    diags.report(Diag::TooDeep, loc, kMaxDepth);
    return std::nullopt;
  }
  lex.next();
  if (lex.peek().kind == TokenKind::Close) return lex.next(), out;
  for (;;) {
    if (lex.peek().kind == TokenKind::Id) {
      diags.report(Diag::SymbolicDim, lex.here(), describe(lex.peek()));
      return std::nullopt;
    }
    auto item = readAt(lex, diags, depth + 1);
    if (!item) return std::nullopt;
    items.push_back(std::move(*item));
    if (items.size() > kMaxList) {
      diags.report(Diag::ListTooLong, loc, kMaxList);
      return std::nullopt;
    }
    if (lex.peek().kind == TokenKind::Close) return lex.next(), out;
    if (lex.peek().kind != TokenKind::Comma) {
      if (lex.peek().kind != TokenKind::Bad) diags.report(Diag::UnclosedList, lex.here(), describe(lex.peek()));
      return std::nullopt;
    }
    lex.next();
  }
}

std::optional<Value> readAt(Lexer& lex, Diagnostics& diags, int depth) {
  Loc loc = lex.here();
  switch (lex.peek().kind) {
    case TokenKind::Open: return readList(lex, diags, depth);
    case TokenKind::Word: return readWord(lex.next(), loc, diags);
    case TokenKind::String: {
      Token t = lex.next();
      auto text = unescape(t.text);
      if (text) return Value{std::move(*text), t.text, t.col};
      diags.add({text.error().kind, text.error().message, loc});
      return std::nullopt;
    }
    case TokenKind::Bad: return std::nullopt;
    default: diags.report(Diag::ExpectedValue, loc, describe(lex.peek())); return std::nullopt;
  }
}

std::optional<int64_t> asInt(const Value& v) {
  auto* i = std::get_if<Integer>(&v.is);
  if (!i || i->magnitude > static_cast<uint64_t>(INT64_MAX)) return std::nullopt;
  return i->negative ? -static_cast<int64_t>(i->magnitude) : static_cast<int64_t>(i->magnitude);
}

std::string shortText(const Value& v) {
  std::string text = valueText(v);
  return text.size() > 60 ? text.substr(0, 57) + "..." : text;
}

template <class Names>
Result<int64_t> named(std::string_view what, const Value& v, const Names& names) {
  std::string_view text = std::holds_alternative<Word>(v.is) ? v.text : "";
  for (size_t i = 0; i < names.size(); ++i)
    if (names[i] == text) return static_cast<int64_t>(i);
  std::vector<std::string_view> all(names.begin(), names.end());
  return fail(Diag::UnknownWord, what, shortText(v), fmt::format("{}", fmt::join(all, ", ")), suggest(v.text, all));
}

Result<int64_t> dimsWord(Graph& g, Op op, AttrKey key, const Value& v) {
  auto wrong = [&] { return fail(Diag::AttrType, name(op), attrName(key), "a list of integers of at least 0", shortText(v)); };
  auto* list = std::get_if<ValueList>(&v.is);
  if (!list) return wrong();
  if (key == AttrKey::Shape && list->size() > kMaxRank) return fail(Diag::RankLimit, list->size());
  std::vector<int64_t> dims;
  for (const Value& item : *list) {
    auto i = asInt(item);
    if (!i || *i < 0) return wrong();
    dims.push_back(*i);
  }
  return g.list(dims);
}

Result<int64_t> pairsWord(Graph& g, Op op, AttrKey key, const Value& v) {
  auto wrong = [&] { return fail(Diag::AttrType, name(op), attrName(key), "a list of [a,b] pairs of integers of at least 0", shortText(v)); };
  auto* list = std::get_if<ValueList>(&v.is);
  if (!list) return wrong();
  std::vector<int64_t> flat;
  for (const Value& item : *list) {
    auto* pair = std::get_if<ValueList>(&item.is);
    if (!pair || pair->size() != 2) return wrong();
    for (const Value& end : *pair) {
      auto i = asInt(end);
      if (!i || *i < 0) return wrong();
      flat.push_back(*i);
    }
  }
  return g.list(flat);
}

Result<int64_t> dtypeWord(const Value& v) {
  auto d = std::holds_alternative<Word>(v.is) ? dtypeByName(v.text) : std::nullopt;
  if (d) return static_cast<int64_t>(*d);
  static const std::vector<std::string_view> all = {"bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "bf16", "f32", "f64", "index"};
  return fail(Diag::UnknownWord, "dtype", shortText(v), fmt::format("{}", fmt::join(all, ", ")), suggest(v.text, all));
}

}  // namespace

std::optional<Value> readValue(Lexer& lex, Diagnostics& diags) { return readAt(lex, diags, 0); }

std::string valueText(const Value& v) {
  auto* list = std::get_if<ValueList>(&v.is);
  if (!list) return std::string(v.text);
  std::string out = "[";
  for (const Value& item : *list) {
    if (out.size() > 1) out += ',';
    out += valueText(item);
  }
  return out + "]";
}

Result<int64_t> attrWord(Graph& g, Op op, AttrKey key, const Value& v) {
  auto wrong = [&](std::string_view what) { return fail(Diag::AttrType, name(op), attrName(key), what, shortText(v)); };
  switch (attrType(key)) {
    case AttrType::Int: {
      auto i = asInt(v);
      if (!i || *i < 0) return wrong("an integer of at least 0");
      return *i;
    }
    case AttrType::SignedInt: {
      auto i = asInt(v);
      if (!i) return wrong("an integer");
      return *i;
    }
    case AttrType::DType: return dtypeWord(v);
    case AttrType::Dims: return dimsWord(g, op, key, v);
    case AttrType::Pairs: return pairsWord(g, op, key, v);
    case AttrType::String: {
      auto* s = std::get_if<std::string>(&v.is);
      if (!s) return wrong("a string in quotes");
      return g.string(*s);
    }
    case AttrType::Bool: {
      auto* b = std::get_if<bool>(&v.is);
      if (!b) return wrong("true or false");
      return *b;
    }
    case AttrType::Space: return named("space", v, kSpaceNames);
    case AttrType::Kind: return named("kind", v, kKindNames);
    case AttrType::ReduceOp: return named("REDUCE op", v, kReduceNames);
    case AttrType::Scalar: return wrong("a scalar");
  }
  return wrong("a value");
}

Result<int64_t> constWord(const Value& v, DType d) {
  std::string text = shortText(v);
  auto wrong = [&](std::string_view why) { return fail(Diag::ConstType, text, name(d), why); };
  if (auto* b = std::get_if<bool>(&v.is)) return d == DType::Bool ? Result<int64_t>(*b) : wrong("true and false are of dtype bool");
  auto* i = std::get_if<Integer>(&v.is);
  auto* f = std::get_if<double>(&v.is);
  if (!i && !f) return wrong("a scalar value is expected, not a list, a word or a string");
  if (d == DType::Bool) return wrong("expected true or false");
  if (isFloat(d)) {
    double x = f ? *f : (i->negative ? -1.0 : 1.0) * static_cast<double>(i->magnitude);
    double largest = d == DType::F16 ? 65504.0 : d == DType::F32 ? 0x1.fffffep127 : d == DType::BF16 ? 0x1.fep127 : HUGE_VAL;
    if (std::isfinite(x) && std::fabs(x) > largest) return fail(Diag::ConstRange, text, name(d));
    return static_cast<int64_t>(Scalar::ofDouble(roundTo(x, d)).bits);
  }
  if (f) return wrong("a float literal cannot stand for an integer");
  uint64_t most = i->negative ? uint64_t{0} - static_cast<uint64_t>(minValue(d)) : maxValue(d);
  if (i->magnitude > most) return fail(Diag::ConstRange, text, name(d));
  return static_cast<int64_t>(i->negative ? uint64_t{0} - i->magnitude : i->magnitude);
}

}  // namespace uop
