#include "ir/lexer.h"

#include <array>
#include <charconv>

namespace uop {
namespace {

enum CharClass : uint8_t { kIdChar = 1, kWordChar = 2 };

constexpr std::array<uint8_t, 256> kClasses = [] {
  std::array<uint8_t, 256> out{};
  for (int c = 0; c < 256; ++c) {
    bool alnum = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (alnum || c == '_' || c == '.' || c == '-') out[static_cast<size_t>(c)] |= kIdChar;
    if (alnum || c == '_' || c == '.' || c == '-' || c == '+') out[static_cast<size_t>(c)] |= kWordChar;
  }
  return out;
}();

bool is(char c, uint8_t cls) { return kClasses[static_cast<unsigned char>(c)] & cls; }

std::string appendUtf8(uint32_t c) {
  std::string out;
  if (c < 0x80) out += static_cast<char>(c);
  else if (c < 0x800) out += {static_cast<char>(0xc0 | c >> 6), static_cast<char>(0x80 | (c & 63))};
  else if (c < 0x10000) out += {static_cast<char>(0xe0 | c >> 12), static_cast<char>(0x80 | (c >> 6 & 63)), static_cast<char>(0x80 | (c & 63))};
  else out += {static_cast<char>(0xf0 | c >> 18), static_cast<char>(0x80 | (c >> 12 & 63)), static_cast<char>(0x80 | (c >> 6 & 63)), static_cast<char>(0x80 | (c & 63))};
  return out;
}

}  // namespace

bool isIdChar(char c) { return is(c, kIdChar); }

void Lexer::take(TokenKind kind, size_t begin, size_t end) {
  token_ = {kind, line_.substr(begin, end - begin), static_cast<uint32_t>((kind == TokenKind::Id ? begin - 1 : begin) + 1)};
  at_ = end;
}

void Lexer::bad(Diag kind, size_t at) {
  token_ = {TokenKind::Bad, "", static_cast<uint32_t>(at + 1)};
  auto c = static_cast<unsigned char>(line_[at]);
  if (kind == Diag::BadCharacter) diags_.report(kind, here(), c > 32 && c < 127 ? fmt::format("'{}'", static_cast<char>(c)) : fmt::format("0x{:02x}", c));
  else diags_.report(kind, here());
  at_ = line_.size();
}

Token Lexer::next() {
  Token current = token_;
  if (token_.kind == TokenKind::Bad) return current;
  while (at_ < line_.size() && (line_[at_] == ' ' || line_[at_] == '\t')) ++at_;
  if (at_ == line_.size() || line_[at_] == '#') {
    token_ = {TokenKind::End, "", static_cast<uint32_t>(at_ + 1)};
    return current;
  }
  size_t begin = at_;
  switch (char c = line_[at_]) {
    case '[': take(TokenKind::Open, begin, begin + 1); break;
    case ']': take(TokenKind::Close, begin, begin + 1); break;
    case ',': take(TokenKind::Comma, begin, begin + 1); break;
    case '=': take(TokenKind::Equals, begin, begin + 1); break;
    case '\0': bad(Diag::NulByte, begin); break;
    case '"': {
      size_t end = begin + 1;
      while (end < line_.size() && line_[end] != '"') end += line_[end] == '\\' ? 2 : 1;
      if (end >= line_.size()) bad(Diag::UnterminatedString, begin);
      else take(TokenKind::String, begin, end + 1);
      break;
    }
    default: {
      bool id = c == '%';
      size_t end = begin + (id ? 1 : 0), first = end;
      while (end < line_.size() && is(line_[end], id ? kIdChar : kWordChar)) ++end;
      if (end == first) bad(Diag::BadCharacter, begin);
      else take(id ? TokenKind::Id : TokenKind::Word, first, end);
    }
  }
  return current;
}

std::string describe(const Token& t) {
  if (t.kind == TokenKind::End) return "the end of the line";
  std::string_view text = t.text.substr(0, 40);
  return fmt::format("'{}{}{}'", t.kind == TokenKind::Id ? "%" : "", text, text.size() < t.text.size() ? "..." : "");
}

Result<std::string> unescape(std::string_view quoted) {
  std::string_view in = quoted.substr(1, quoted.size() - 2);
  std::string out;
  for (size_t i = 0; i < in.size(); ++i) {
    if (in[i] != '\\') {
      out += in[i];
      continue;
    }
    char c = in[++i];
    constexpr std::string_view from = "\"\\ntr", to = "\"\\\n\t\r";
    if (size_t at = from.find(c); at != std::string_view::npos) {
      out += to[at];
      continue;
    }
    size_t close = in.find('}', i);
    bool braced = c == 'u' && i + 1 < in.size() && in[i + 1] == '{' && close != std::string_view::npos;
    if (!braced) return fail(Diag::BadEscape, fmt::format("\\{}", c));
    std::string_view hex = in.substr(i + 2, close - i - 2);
    uint32_t code = 0;
    auto [end, ec] = std::from_chars(hex.data(), hex.data() + hex.size(), code, 16);
    if (hex.empty() || end != hex.data() + hex.size() || hex.size() > 8) return fail(Diag::BadEscape, fmt::format("\\u{{{}}}", hex.substr(0, 20)));
    if (ec != std::errc{} || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return fail(Diag::BadCodePoint, fmt::format("\\u{{{}}}", hex));
    out += appendUtf8(code);
    i = close;
  }
  return out;
}

size_t findInvalidUtf8(std::string_view text) {
  auto at = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  for (size_t i = 0; i < text.size();) {
    uint32_t c = at(i);
    if (c < 0x80) {
      ++i;
      continue;
    }
    size_t more = c >= 0xf0 && c < 0xf5 ? 3 : c >= 0xe0 && c < 0xf0 ? 2 : c >= 0xc2 && c < 0xe0 ? 1 : 0;
    if (more == 0) return i;
    uint32_t low = c == 0xe0 ? 0xa0 : c == 0xf0 ? 0x90 : 0x80, high = c == 0xed ? 0x9f : c == 0xf4 ? 0x8f : 0xbf;
    if (at(i + 1) < low || at(i + 1) > high) return i;
    for (size_t k = 2; k <= more; ++k)
      if ((at(i + k) & 0xc0) != 0x80) return i;
    i += more + 1;
  }
  return std::string_view::npos;
}

}  // namespace uop
