// Attribute values of the text: tokens → typed words.
#pragma once
#include <variant>
#include <vector>

#include "ir/graph.h"
#include "ir/lexer.h"

namespace uop {

struct Word {
  std::string_view text;  // a bare word: f32, ADD, global
};
struct Integer {
  bool negative;
  uint64_t magnitude;
  std::string_view text;
};
struct Value;
using ValueList = std::vector<Value>;
struct Value {
  std::variant<Integer, double, bool, Word, std::string, ValueList> is;
  std::string_view text;  // as written; a list: its first character
  uint32_t col = 1;
};

// Reads one value; a problem is reported and gives nullopt.
std::optional<Value> readValue(Lexer&, Diagnostics&);
// Its text in a canonical form, for dotted attributes and messages.
std::string valueText(const Value&);

// The value as a word of the attribute's type (graph.h, Attrs). CONST's value= waits for its dtype: constWord.
Result<int64_t> attrWord(Graph&, Op, AttrKey, const Value&);
Result<int64_t> constWord(const Value&, DType);

}  // namespace uop
