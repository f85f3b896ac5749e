#include "rewrite/pattern.h"

#include <utility>
#include <algorithm>
#include <charconv>

#include "ir/graph.h"
#include "ir/value_reader.h"

namespace uop {
namespace {

constexpr size_t kMaxDepth = 32, kMaxTerms = 200;

bool isNameChar(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

class TermParser {
 public:
  TermParser(std::string_view rule, std::string_view text, TermPlace place, Terms& terms) : rule_(rule), text_(text), place_(place), t_(terms) {}
  Result<TermId> term(size_t depth = 0);
  void space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n')) ++at_;
  }
  size_t at() const { return at_; }
  template <class... A>
  std::unexpected<Error> bad(fmt::format_string<A...> what, A&&... args) const {
    std::string text = fmt::format(what, std::forward<A>(args)...);
    return fail(Diag::RuleError, rule_, fmt::format("{} at character {} of '{}'", text, at_ + 1, text_));
  }

 private:
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  std::string found() const { return at_ < text_.size() ? fmt::format("'{}'", text_[at_]) : "the end"; }
  std::string_view word() {
    size_t begin = at_;
    while (isNameChar(peek())) ++at_;
    return text_.substr(begin, at_ - begin);
  }
  Result<VarId> nameVar(std::vector<std::string>& names, bool attr);
  Result<TermId> variable();
  Result<TermId> list(size_t depth);
  Result<TermId> literal();
  Result<TermId> apply(Term term, std::string_view name, size_t depth);
  Result<void> attribute(Term& term);
  Result<void> attributeValue(AttrTerm& attr, Op op);
  Result<Literal> literalValue();
  Result<void> checkShape(const Term& term, std::string_view name);
  Result<TermId> store(Term term) {
    if (t_.pool.size() >= kMaxTerms) return bad("a rule of more than {} terms", kMaxTerms);
    t_.pool.push_back(std::move(term));
    return static_cast<TermId>(t_.pool.size() - 1);
  }

  std::string_view rule_, text_;
  TermPlace place_;
  Terms& t_;
  size_t at_ = 0;
  bool computing_ = false;
};

// A variable: bound by its first place in the pattern, and only there.
Result<VarId> TermParser::nameVar(std::vector<std::string>& names, bool attr) {
  ++at_;  // '?'
  std::string_view name = word();
  if (name.empty()) return bad("expected a name after '?', found {}", found());
  auto it = std::ranges::find(names, name);
  if (it != names.end()) return static_cast<VarId>(it - names.begin());
  const auto& others = attr ? t_.vars : t_.attrVars;
  if (std::ranges::find(others, name) != others.end()) return bad("?{} is used both for a node and for an attribute", name);
  if (place_ != TermPlace::Pattern) return bad("?{} is unbound: the pattern does not mention it", name);
  if (names.size() >= kMaxVars) return bad("more than {} variables", kMaxVars);
  names.emplace_back(name);
  if (!attr) t_.isConst.push_back(false);
  return static_cast<VarId>(names.size() - 1);
}

Result<TermId> TermParser::variable() {
  auto var = nameVar(t_.vars, false);
  if (!var) return std::unexpected(var.error());
  if (peek() == ':') {
    ++at_;
    if (word() != "const") return bad("expected 'const' after ':'");
    if (place_ != TermPlace::Pattern) return bad("':const' belongs into the pattern");
    t_.isConst[*var] = true;
  }
  if (computing_ && !t_.isConst[*var]) return bad("(= ...) computes on constants, and ?{} is not bound by ?{}:const", t_.vars[*var], t_.vars[*var]);
  Term term;
  term.kind = Term::Kind::Var;
  term.var = *var;
  return store(std::move(term));
}

Result<TermId> TermParser::term(size_t depth) {
  if (depth > kMaxDepth) return bad("terms are nested more than {} deep", kMaxDepth);
  space();
  if (peek() == '?') return variable();
  if (peek() == '(') return list(depth);
  return bad("expected '?name' or '(', found {}", found());
}

Result<TermId> TermParser::list(size_t depth) {
  ++at_;
  space();
  if (peek() == '=') {
    if (place_ == TermPlace::Pattern) return bad("(= ...) does not belong into the pattern");
    ++at_;
    Term term;
    term.kind = Term::Kind::Compute;
    bool outer = std::exchange(computing_, true);
    auto arg = this->term(depth + 1);
    computing_ = outer;
    if (!arg) return arg;
    term.args = {*arg};
    space();
    if (peek() != ')') return bad("expected ')', found {}", found());
    ++at_;
    return store(std::move(term));
  }
  std::string_view name = word();
  if (name == "CONST") return literal();
  Term term;
  term.kind = Term::Kind::Apply;
  if (name == "GCD" && (computing_ || place_ == TermPlace::Guard)) {
    term.kind = Term::Kind::Gcd;
  } else {
    auto op = opByName(name);
    if (!op) return bad("unknown op '{}'{}", name, suggest(name, {opNames().begin(), opNames().end()}));
    term.op = *op;
    if ((computing_ || place_ == TermPlace::Guard) && !hasTrait(*op, trait::Elementwise)) return bad("{} is not element-wise", name);
  }
  return apply(std::move(term), name, depth);
}

Result<TermId> TermParser::apply(Term term, std::string_view name, size_t depth) {
  for (;;) {
    space();
    char c = peek();
    if (c == ')') break;
    if (c == '?' || c == '(') {
      if (!term.attrs.empty()) return bad("sources stand before attributes");
      auto arg = this->term(depth + 1);
      if (!arg) return arg;
      term.args.push_back(*arg);
    } else if (isNameChar(c)) {
      if (auto ok = attribute(term); !ok) return std::unexpected(ok.error());
    } else {
      return bad("expected ')', found {}", found());
    }
  }
  ++at_;
  if (auto ok = checkShape(term, name); !ok) return std::unexpected(ok.error());
  return store(std::move(term));
}

Result<void> TermParser::checkShape(const Term& term, std::string_view name) {
  if (term.kind == Term::Kind::Gcd) {
    if (term.args.size() != 2) return bad("GCD takes 2 constants, found {}", term.args.size());
    return {};
  }
  const OpInfo& row = info(term.op);
  if (term.args.size() < row.minSrc || term.args.size() > row.maxSrc) {
    std::string want = row.minSrc == row.maxSrc ? fmt::format("{}", row.minSrc) : row.maxSrc == kMany ? fmt::format("at least {}", row.minSrc) : fmt::format("{} to {}", row.minSrc, row.maxSrc);
    return bad("{} takes {} sources, found {}", name, want, term.args.size());
  }
  if (place_ == TermPlace::Pattern) return {};
  for (size_t i = 0; i < row.attrCount; ++i)
    if (!row.optional[i] && std::ranges::find(term.attrs, row.attrs[i], &AttrTerm::key) == term.attrs.end()) return bad("{} needs {}=", name, attrName(row.attrs[i]));
  return {};
}

Result<void> TermParser::attribute(Term& term) {
  std::string_view key = word();
  auto known = attrByName(key);
  if (term.kind == Term::Kind::Gcd || !known || attrPosition(term.op, *known) < 0) {
    std::vector<std::string_view> names;
    for (size_t i = 0; term.kind == Term::Kind::Apply && i < info(term.op).attrCount; ++i) names.push_back(attrName(info(term.op).attrs[i]));
    return bad("{} has no attribute '{}'{}", name(term.op), key, suggest(key, names));
  }
  if (std::ranges::find(term.attrs, *known, &AttrTerm::key) != term.attrs.end()) return bad("{}= is given twice", key);
  space();
  if (peek() != '=') return bad("expected '=' after {}, found {}", key, found());
  ++at_;
  space();
  AttrTerm attr{.key = *known, .list = {}, .text = {}};
  if (peek() == '?') {
    auto var = nameVar(t_.attrVars, true);
    if (!var) return std::unexpected(var.error());
    attr.var = *var;
  } else if (auto ok = attributeValue(attr, term.op); !ok) {
    return ok;
  }
  term.attrs.push_back(std::move(attr));
  return {};
}

// A value as in .uop text, read by the reader of .uop text.
Result<void> TermParser::attributeValue(AttrTerm& attr, Op op) {
  size_t begin = at_;
  int open = 0;
  bool quoted = false;
  for (; at_ < text_.size(); ++at_) {
    char c = text_[at_];
    if (c == '"' && text_[at_ - 1] != '\\') quoted = !quoted;
    if (quoted) continue;
    if (open == 0 && (c == ' ' || c == ')')) break;
    open += c == '[';
    open -= c == ']';
  }
  std::string line(text_.substr(begin, at_ - begin));
  Diagnostics diags;
  Lexer lexer(line, 1, diags);
  auto value = readValue(lexer, diags);
  if (!value || lexer.peek().kind != TokenKind::End) return bad("bad value '{}' of {}=", line, attrName(attr.key));
  Graph scratch;
  auto read = attrWord(scratch, op, attr.key, *value);
  if (!read) return bad("{}", read.error().message);
  AttrType type = attrType(attr.key);
  if (type == AttrType::Dims || type == AttrType::Pairs) attr.list.assign(scratch.listById(*read).begin(), scratch.listById(*read).end());
  else if (type == AttrType::String) attr.text = scratch.stringById(*read);
  else attr.word = *read;
  return {};
}

Result<Literal> TermParser::literalValue() {
  size_t begin = at_;
  while (at_ < text_.size() && text_[at_] != ' ' && text_[at_] != ')') ++at_;
  std::string_view text = text_.substr(begin, at_ - begin);
  Literal out;
  if (text == "true" || text == "false") return Literal{.isBool = true, .integer = text == "true"};
  if (text == "min" || text == "max" || text == "ones") return Literal{.special = text == "min" ? Special::Min : text == "max" ? Special::Max : Special::Ones};
  Diagnostics diags;
  Lexer lexer(text, 1, diags);
  auto value = text.empty() ? std::nullopt : readValue(lexer, diags);
  if (value && lexer.peek().kind == TokenKind::End) {
    if (const Integer* i = std::get_if<Integer>(&value->is)) {
      out.integer = static_cast<int64_t>(i->negative ? -i->magnitude : i->magnitude);
      return out;
    }
    if (const double* d = std::get_if<double>(&value->is)) return Literal{.isFloat = true, .real = *d};
  }
  at_ = begin;
  return bad("expected a literal, found '{}'", text);
}

Result<TermId> TermParser::literal() {
  space();
  Term term;
  term.kind = Term::Kind::Literal;
  auto value = literalValue();
  if (!value) return std::unexpected(value.error());
  term.literal = *value;
  space();
  if (isNameChar(peek())) {
    std::string_view key = word();
    if (key != "like" || place_ == TermPlace::Pattern) return bad("CONST takes a literal{}, found '{}'", place_ == TermPlace::Pattern ? "" : " and like=?x", key);
    if (peek() != '=') return bad("expected '=' after like, found {}", found());
    ++at_;
    if (peek() != '?') return bad("expected ?name after like=, found {}", found());
    auto var = nameVar(t_.vars, false);
    if (!var) return std::unexpected(var.error());
    term.var = *var;
  }
  space();
  if (peek() != ')') return bad("expected ')', found {}", found());
  ++at_;
  return store(std::move(term));
}

}  // namespace

VarId Terms::var(std::string_view name) const {
  auto it = std::ranges::find(vars, name);
  return it == vars.end() ? kNoVar : static_cast<VarId>(it - vars.begin());
}

VarId Terms::attrVar(std::string_view name) const {
  auto it = std::ranges::find(attrVars, name);
  return it == attrVars.end() ? kNoVar : static_cast<VarId>(it - attrVars.begin());
}

Result<TermId> parseTerm(std::string_view rule, std::string_view& text, TermPlace place, Terms& terms) {
  TermParser parser(rule, text, place, terms);
  auto id = parser.term();
  if (id) text.remove_prefix(parser.at());
  return id;
}

Result<TermId> parseWhole(std::string_view rule, std::string_view text, TermPlace place, Terms& terms) {
  TermParser parser(rule, text, place, terms);
  auto id = parser.term();
  if (!id) return id;
  parser.space();
  if (parser.at() != text.size()) return parser.bad("expected the end, found '{}'", text[parser.at()]);
  return id;
}

}  // namespace uop
