// Text → program. Every problem is reported where it stands; an id whose line was bad is poisoned, and what uses it is
// silently poisoned too, so that one mistake gives one message.
#include <algorithm>
#include <set>

#include "ir/lexer.h"
#include "ir/program.h"
#include "ir/value_reader.h"

namespace uop {
namespace {

// Names of nodes: open addressing over places in the text.
class NameTable {
 public:
  static constexpr NodeId kUndefined = kNoNode, kPoisoned = kNoNode - 1;
  struct Entry {
    const char* begin = nullptr;  // of its definition, before that of a use
    NodeId node = kUndefined;
    uint32_t hash = 0;
  };
  explicit NameTable(std::string_view text) : end_(text.data() + text.size()) {}
  Entry& at(std::string_view name) {
    if (4 * (size_ + 1) > 3 * slots_.size()) grow();
    auto hash = static_cast<uint32_t>(hashBytes(name.data(), name.size()));
    for (size_t i = hash & mask();; i = (i + 1) & mask()) {
      Entry& e = slots_[i];
      if (!e.begin) return ++size_, e = {name.data(), kUndefined, hash};
      if (e.hash == hash && stands(name, e.begin)) return e;
    }
  }
  std::vector<std::string_view> defined(size_t most) const {
    std::vector<std::string_view> out;
    for (const Entry& e : slots_)
      if (e.node != kUndefined && out.size() < most) out.emplace_back(e.begin, std::find_if_not(e.begin, end_, isIdChar));
    std::ranges::sort(out);
    return out;
  }

 private:
  size_t mask() const { return slots_.size() - 1; }
  bool stands(std::string_view name, const char* at) const {
    const char* behind = at + name.size();
    return name.size() <= static_cast<size_t>(end_ - at) && std::equal(at, behind, name.begin()) && (behind == end_ || !isIdChar(*behind));
  }
  void grow() {
    std::vector<Entry> old = std::move(slots_);
    slots_.assign(std::max<size_t>(256, old.size() * 2), Entry{});
    for (const Entry& e : old) {
      if (!e.begin) continue;
      size_t i = e.hash & mask();
      while (slots_[i].begin) i = (i + 1) & mask();
      slots_[i] = e;
    }
  }
  const char* end_;
  std::vector<Entry> slots_;
  size_t size_ = 0;
};

class Reader {
 public:
  Reader(const SourceBuffer& source, Diagnostics& diags) : source_(source), diags_(diags), names_(source.text()) {}
  std::optional<Program> run();

 private:
  bool checkText();
  void statement(std::string_view line);
  void version(Lexer& lex);
  void definition(Lexer& lex);
  NodeId node(Lexer& lex);
  bool sources(Lexer& lex, std::vector<NodeId>& srcs);
  bool attributes(Lexer& lex, Op op);
  bool attribute(Lexer& lex, Op op, const Token& key);
  bool finishAttributes(Op op, Loc at);
  NodeId finish(Op op, Loc at, std::vector<NodeId>& srcs);
  NodeId finishReduce(std::vector<NodeId>& srcs, Loc at);
  NodeId reported(const Result<NodeId>& made, Loc at);
  NodeId lookUp(const Token& id, Loc at);
  uint32_t lineOf(const char* place) const { return static_cast<uint32_t>(std::count(source_.text().data(), place, '\n') + 1); }
  void returns(Lexer& lex);
  bool ends(Lexer& lex);
  template <class... A>
  void error(Diag kind, Loc at, const A&... args) { diags_.report(kind, at, args...); }

  const SourceBuffer& source_;
  Diagnostics& diags_;
  Program program_;
  NameTable names_;
  uint32_t line_ = 0;
  bool versioned_ = false, returned_ = false;
  // of the node being read
  Attrs attrs_;
  std::optional<Value> constValue_;
  Loc constLoc_;
  std::string tag_;
  bool hasTag_ = false;
  std::vector<std::pair<std::string, std::string>> dotted_;
};

bool Reader::checkText() {
  std::string_view text = source_.text();
  if (text.starts_with("\xef\xbb\xbf")) {
    error(Diag::ByteOrderMark, {1, 1});
    return false;
  }
  size_t at = findInvalidUtf8(text);
  if (at == std::string_view::npos) return true;
  std::string_view before = text.substr(0, at);
  auto line = static_cast<uint32_t>(std::ranges::count(before, '\n') + 1);
  size_t start = before.rfind('\n');
  error(Diag::NotUtf8, {line, static_cast<uint32_t>(at - (start == std::string_view::npos ? 0 : start + 1) + 1)}, static_cast<unsigned>(static_cast<unsigned char>(text[at])));
  return false;
}

std::optional<Program> Reader::run() {
  if (!checkText()) return std::nullopt;
  std::string_view rest = source_.text();
  program_.lines.reserve(rest.size() / 40);
  while (!rest.empty() && !diags_.full()) {
    size_t end = rest.find('\n');
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    ++line_;
    size_t errors = diags_.errorCount();
    statement(line);
    if (!versioned_ && diags_.errorCount() > errors) return std::nullopt;
  }
  if (diags_.errorCount() == 0 && !versioned_) error(Diag::NoVersion, {std::max(line_, 1u), 1}, "the end of the file");
  if (diags_.errorCount() == 0 && !returned_) error(Diag::NoReturn, {std::max(line_, 1u), 1});
  names_ = NameTable("");
  if (diags_.errorCount() == 0) verifyProgram(program_, diags_);
  if (diags_.errorCount() != 0) return std::nullopt;
  return std::move(program_);
}

void Reader::statement(std::string_view line) {
  Lexer lex(line, line_, diags_);
  const Token& t = lex.peek();
  if (t.kind == TokenKind::End || t.kind == TokenKind::Bad) return;
  if (!versioned_) return version(lex);
  if (returned_) return error(Diag::AfterReturn, lex.here());
  if (t.kind == TokenKind::Id) return definition(lex);
  if (t.kind == TokenKind::Word && t.text == "return") return returns(lex);
  error(Diag::ExpectedStatement, lex.here(), describe(t));
}

void Reader::version(Lexer& lex) {
  Token t = lex.next();
  if (t.kind != TokenKind::Word || t.text != "uop") return error(Diag::NoVersion, {line_, t.col}, describe(t));
  t = lex.next();
  if (t.kind != TokenKind::Word) return error(Diag::NoVersion, {line_, t.col}, "'uop' without a version");
  if (t.text != "1") return error(Diag::BadVersion, {line_, t.col}, t.text.substr(0, 40));
  versioned_ = ends(lex);
}

bool Reader::ends(Lexer& lex) {
  if (lex.peek().kind == TokenKind::End) return true;
  if (lex.peek().kind != TokenKind::Bad) error(Diag::ExpectedKey, lex.here(), describe(lex.peek()));
  return false;
}

NodeId Reader::lookUp(const Token& id, Loc at) {
  NameTable::Entry& e = names_.at(id.text);
  if (e.node == NameTable::kUndefined) error(Diag::Undefined, at, describe(id), suggest(id.text, names_.defined(20000)));
  return e.node == NameTable::kUndefined ? NameTable::kPoisoned : e.node;
}

void Reader::definition(Lexer& lex) {
  Loc at = lex.here();
  Token id = lex.next();
  if (lex.peek().kind != TokenKind::Equals) {
    if (lex.peek().kind != TokenKind::Bad) error(Diag::ExpectedEquals, lex.here(), describe(id), describe(lex.peek()));
    return;
  }
  lex.next();
  if (const auto& first = names_.at(id.text); first.node != NameTable::kUndefined) return error(Diag::Redefined, at, describe(id), lineOf(first.begin));
  NodeId made = node(lex);
  NameTable::Entry& e = names_.at(id.text);
  e.begin = id.text.data();
  e.node = made;
  if (made < NameTable::kPoisoned && hasTag_) program_.setTag(made, tag_);
}

NodeId Reader::node(Lexer& lex) {
  Loc at = lex.here();
  Token t = lex.next();
  if (t.kind != TokenKind::Word) {
    if (t.kind != TokenKind::Bad) error(Diag::ExpectedOp, at, describe(t));
    return NameTable::kPoisoned;
  }
  auto op = opByName(t.text);
  if (!op) {
    auto all = opNames();
    error(Diag::UnknownOp, at, t.text.substr(0, 40), suggest(t.text, {all.begin(), all.end()}));
    return NameTable::kPoisoned;
  }
  attrs_ = {};
  constValue_.reset();
  dotted_.clear();
  hasTag_ = false;
  std::vector<NodeId> srcs;
  bool good = sources(lex, srcs);
  good &= attributes(lex, *op);
  if (!good) return NameTable::kPoisoned;
  if (!finishAttributes(*op, at)) return NameTable::kPoisoned;
  return finish(*op, at, srcs);
}

bool Reader::sources(Lexer& lex, std::vector<NodeId>& srcs) {
  bool good = true;
  while (lex.peek().kind == TokenKind::Id) {
    Loc at = lex.here();
    NodeId n = lookUp(lex.next(), at);
    good &= n != NameTable::kPoisoned;
    srcs.push_back(n);
  }
  return good;
}

bool Reader::attributes(Lexer& lex, Op op) {
  for (;;) {
    switch (lex.peek().kind) {
      case TokenKind::End: return true;
      case TokenKind::Bad: return false;
      case TokenKind::Id: error(Diag::SourceAfterAttribute, lex.here(), describe(lex.peek())); return false;
      case TokenKind::Word: {
        Token key = lex.next();
        if (lex.peek().kind != TokenKind::Equals) {
          if (lex.peek().kind != TokenKind::Bad) error(Diag::ExpectedEquals, lex.here(), describe(key), describe(lex.peek()));
          return false;
        }
        lex.next();
        if (!attribute(lex, op, key)) return false;
        break;
      }
      default: error(Diag::ExpectedKey, lex.here(), describe(lex.peek())); return false;
    }
  }
}

bool Reader::attribute(Lexer& lex, Op op, const Token& key) {
  Loc keyAt{line_, key.col};
  auto value = readValue(lex, diags_);
  if (!value) return false;
  if (key.text == "tag") {
    auto* text = std::get_if<std::string>(&value->is);
    if (!text || hasTag_) return error(text ? Diag::AttrTwice : Diag::UnknownWord, keyAt, text ? "tag" : "tag", valueText(*value).substr(0, 40), "a string in quotes", ""), false;
    return tag_ = *text, hasTag_ = true;
  }
  if (key.text.find('.') != std::string_view::npos) {
    for (auto& [name, text] : dotted_)
      if (name == key.text) return error(Diag::AttrTwice, keyAt, key.text), false;
    dotted_.emplace_back(key.text, valueText(*value));
    return true;
  }
  auto k = attrByName(key.text);
  bool axesOfReduce = k == AttrKey::Axes && op == Op::Reduce;
  if (!k || (attrPosition(op, *k) < 0 && !axesOfReduce)) {
    std::vector<std::string_view> known;
    for (size_t i = 0; i < info(op).attrCount; ++i) known.push_back(attrName(info(op).attrs[i]));
    return error(Diag::UnknownAttr, keyAt, name(op), key.text.substr(0, 40), suggest(key.text, known)), false;
  }
  if (attrs_.has(*k)) return error(Diag::AttrTwice, keyAt, key.text), false;
  Loc at{line_, value->col};
  if (*k == AttrKey::Value) {
    attrs_.set(*k, 0);
    constLoc_ = at;
    constValue_ = std::move(value);
    return true;
  }
  auto word = attrWord(program_.graph, op, *k, *value);
  if (!word) return diags_.add({word.error().kind, word.error().message, at}), false;
  attrs_.set(*k, *word);
  return true;
}

// What the text may leave out, and what had to wait for another attribute.
bool Reader::finishAttributes(Op op, Loc at) {
  const OpInfo& row = info(op);
  if (op == Op::Stage && !attrs_.has(AttrKey::SpaceKey)) attrs_.set(AttrKey::SpaceKey, static_cast<int64_t>(Space::Global));
  if (op == Op::Reduce && attrs_.has(AttrKey::Axes) && attrs_.has(AttrKey::N)) return error(Diag::ReduceBoth, at), false;
  if (op == Op::Reduce && !attrs_.has(AttrKey::N)) attrs_.set(AttrKey::N, 0);
  for (size_t i = 0; i < row.attrCount; ++i)
    if (!row.optional[i] && !attrs_.has(row.attrs[i])) return error(Diag::MissingAttr, at, row.name, attrName(row.attrs[i])), false;
  if (constValue_) {
    auto d = static_cast<DType>(attrs_.get(AttrKey::DTypeKey));
    if (!isValue(d)) return error(Diag::WantsKind, at, "CONST", "a dtype of values", name(d)), false;
    auto word = constWord(*constValue_, d);
    if (!word) return diags_.add({word.error().kind, word.error().message, constLoc_}), false;
    attrs_.set(AttrKey::Value, *word);
  }
  std::ranges::sort(dotted_);
  for (auto& [key, text] : dotted_) attrs_.dotted += (attrs_.dotted.empty() ? "" : " ") + key + "=" + text;
  return true;
}

NodeId Reader::reported(const Result<NodeId>& made, Loc at) {
  if (made) {
    if (program_.lines.size() < program_.graph.size()) program_.lines.resize(program_.graph.size(), line_);
    return *made;
  }
  diags_.add({made.error().kind, made.error().message, at});
  return NameTable::kPoisoned;
}

// axes=: the reduced axes come first, in order, then the others.
NodeId Reader::finishReduce(std::vector<NodeId>& srcs, Loc at) {
  Graph& g = program_.graph;
  auto listed = g.listById(attrs_.get(AttrKey::Axes));
  std::vector<int64_t> axes(listed.begin(), listed.end());
  std::ranges::sort(axes);
  if (srcs.empty()) return reported(g.tryMake(Op::Reduce, srcs, attrs_), at);
  auto rank = static_cast<int64_t>(g.rank(srcs[0]));
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] >= rank) return error(Diag::AxisRange, at, "REDUCE", shapeText(listed), shapeText(g.shape(srcs[0])), rank), NameTable::kPoisoned;
    if (i && axes[i] == axes[i - 1]) return error(Diag::AxisTwice, at, "REDUCE", shapeText(listed), axes[i]), NameTable::kPoisoned;
  }
  std::vector<int64_t> order = axes;
  for (int64_t a = 0; a < rank; ++a)
    if (!std::ranges::binary_search(axes, a)) order.push_back(a);
  // The type rules see the REDUCE before a PERMUTE that would hide what is wrong with its source.
  attrs_.set(AttrKey::N, static_cast<int64_t>(axes.size()));
  if (auto checked = g.tryMake(Op::Reduce, srcs, attrs_); !checked) return reported(checked, at);
  if (isValue(g.dtype(srcs[0]))) srcs[0] = g.permute(srcs[0], order);
  return reported(g.tryMake(Op::Reduce, srcs, attrs_), at);
}

NodeId Reader::finish(Op op, Loc at, std::vector<NodeId>& srcs) {
  if (op == Op::Reduce && attrs_.has(AttrKey::Axes)) return finishReduce(srcs, at);
  return reported(program_.graph.tryMake(op, srcs, attrs_), at);
}

void Reader::returns(Lexer& lex) {
  lex.next();
  returned_ = true;
  if (lex.peek().kind == TokenKind::End) return error(Diag::EmptyReturn, lex.here());
  std::set<std::string> taken;
  for (size_t i = 0; lex.peek().kind != TokenKind::End && lex.peek().kind != TokenKind::Bad; ++i) {
    Loc at = lex.here();
    std::string name = fmt::format("out{}", i);
    Token t = lex.next();
    if (t.kind == TokenKind::Word && lex.peek().kind == TokenKind::Equals) {
      name = t.text;
      lex.next();
      t = lex.next();
    }
    if (t.kind != TokenKind::Id) return error(Diag::ExpectedResult, {line_, t.col}, describe(t));
    NodeId n = lookUp(t, {line_, t.col});
    if (!taken.insert(name).second) return error(Diag::DuplicateResult, at, name);
    if (n == NameTable::kPoisoned) continue;
    const Graph& g = program_.graph;
    if (g.dtype(n) == DType::Tuple) error(Diag::TupleResult, at);
    else if (!g.open(n).empty()) error(Diag::ResultInLoop, at, g.attr(g.open(n)[0], AttrKey::Id));
    else program_.results.push_back({name, n});
  }
}

}  // namespace

std::optional<Program> readProgram(const SourceBuffer& source, Diagnostics& diags) { return Reader(source, diags).run(); }

}  // namespace uop
