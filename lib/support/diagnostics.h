// Messages to the user. Every kind is a row of diagnostics.def; a reader collects them and they are printed once, each
// as `file:line:col: error: text` with the source line and a caret.
#pragma once
#include <fmt/format.h>

#include <cstdint>
#include <expected>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace uop {

enum class Diag : uint8_t {
#define DIAG(id, ...) id,
#include "support/diagnostics.def"
};
enum class Severity : uint8_t { Error, Warning, Note };

std::string_view diagName(Diag);
Severity diagSeverity(Diag);
std::string_view diagText(Diag);
size_t diagCount();

// A named text; columns count bytes from 1, lines from 1.
class SourceBuffer {
 public:
  SourceBuffer(std::string name, std::string text) : name_(std::move(name)), text_(std::move(text)) {}
  const std::string& name() const { return name_; }
  std::string_view text() const { return text_; }
  std::string_view line(uint32_t number) const;  // without its end of line; "" where there is none

 private:
  std::string name_, text_;
};

struct Loc {
  uint32_t line = 0;  // 0: no place in the text
  uint32_t col = 0;
};

struct Error {
  Diag kind = Diag::RuntimeFault;
  std::string message;
  Loc loc = {};
};

template <class T>
using Result = std::expected<T, Error>;

template <class... A>
std::string formatDiag(Diag kind, const A&... args) {
  return fmt::format(fmt::runtime(diagText(kind)), args...);
}
template <class... A>
std::unexpected<Error> fail(Diag kind, const A&... args) {
  return std::unexpected(Error{kind, formatDiag(kind, args...), {}});
}

// A fault of the compiler itself: never shown for a user's mistake. The driver turns it into exit status 3 and a reproducer.
struct InternalError : std::logic_error {
  using std::logic_error::logic_error;
};
[[noreturn]] void internalError(std::string message);

class Diagnostics {
 public:
  static constexpr size_t kMaxErrors = 20;

  // `source` may be null: then messages carry no place. It must outlive this object.
  explicit Diagnostics(const SourceBuffer* source = nullptr) : source_(source) {}
  void setSource(const SourceBuffer* source) { source_ = source; }

  template <class... A>
  void report(Diag kind, Loc loc, const A&... args) {
    add({kind, formatDiag(kind, args...), loc});
  }
  void add(Error);
  size_t errorCount() const { return errors_; }
  bool full() const { return errors_ >= kMaxErrors; }  // no further error is kept
  const std::vector<Error>& all() const { return list_; }
  // Everything collected, in order of line and column. `color`: ANSI colours.
  std::string render(bool color = false) const;

 private:
  const SourceBuffer* source_;
  std::vector<Error> list_;
  size_t errors_ = 0;
};

// ", did you mean 'x'?" for the nearest of `names` if it is near enough, else "".
std::string suggest(std::string_view word, const std::vector<std::string_view>& names);

}  // namespace uop
