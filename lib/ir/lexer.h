// Tokens of one line of .uop text: views into it, no allocation.
#pragma once
#include <cstdint>
#include <string_view>

#include "support/diagnostics.h"

namespace uop {

enum class TokenKind : uint8_t { End, Id, Word, String, Open, Close, Comma, Equals, Bad };

struct Token {
  TokenKind kind = TokenKind::End;
  std::string_view text;  // an id without its '%', a string with its quotes
  uint32_t col = 1;
};

class Lexer {
 public:
  // `line` must outlive the tokens. A bad character is reported once and ends the line (TokenKind::Bad).
  Lexer(std::string_view line, uint32_t number, Diagnostics& diags) : line_(line), number_(number), diags_(diags) { next(); }
  const Token& peek() const { return token_; }
  Token next();  // the current token, moving to the one after
  Loc here() const { return {number_, token_.col}; }

 private:
  void take(TokenKind kind, size_t begin, size_t end);
  void bad(Diag kind, size_t at);
  std::string_view line_;
  uint32_t number_;
  Diagnostics& diags_;
  size_t at_ = 0;
  Token token_;
};

bool isIdChar(char);  // of the id behind a '%'

std::string describe(const Token&);  // "'x'" or "the end of the line", for messages

// The text of a string token without quotes and escapes.
Result<std::string> unescape(std::string_view quoted);

// Where text stops being UTF-8 (overlong forms and surrogates are not), or npos.
size_t findInvalidUtf8(std::string_view text);

}  // namespace uop
