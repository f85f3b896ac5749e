#include "support/diagnostics.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

namespace uop {
namespace {

struct Row {
  std::string_view name;
  Severity severity;
  std::string_view text;
};
constexpr auto kRows = std::to_array<Row>({
#define DIAG(id, severity, text) {#id, Severity::severity, text},
#include "support/diagnostics.def"
});
constexpr size_t kMaxEchoed = 160;  // a longer source line is cut around the caret

const Row& row(Diag kind) { return kRows[static_cast<size_t>(kind)]; }

// Control characters and bytes that are no ASCII text would upset a terminal; both are echoed as '?'.
char printable(char c) { return c == '\t' ? ' ' : (static_cast<unsigned char>(c) < 32 || c == 127 ? '?' : c); }

void appendCaret(std::string& out, std::string_view line, uint32_t col, bool color) {
  size_t at = std::min<size_t>(col ? col - 1 : 0, line.size());
  size_t begin = line.size() > kMaxEchoed && at > kMaxEchoed / 2 ? at - kMaxEchoed / 2 : 0;
  for (char c : line.substr(begin, kMaxEchoed)) out += printable(c);
  out += '\n';
  out.append(at - begin, ' ');
  out += color ? "\x1b[1;32m^\x1b[0m\n" : "^\n";
}

size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t above = row[j];
      bool same = std::tolower(static_cast<unsigned char>(a[i - 1])) == std::tolower(static_cast<unsigned char>(b[j - 1]));
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (same ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

}  // namespace

std::string_view diagName(Diag kind) { return row(kind).name; }
Severity diagSeverity(Diag kind) { return row(kind).severity; }
std::string_view diagText(Diag kind) { return row(kind).text; }
size_t diagCount() { return kRows.size(); }

std::string_view SourceBuffer::line(uint32_t number) const {
  std::string_view rest = text_;
  for (uint32_t i = 1; i < number; ++i) {
    size_t end = rest.find('\n');
    if (end == std::string_view::npos) return "";
    rest.remove_prefix(end + 1);
  }
  rest = rest.substr(0, rest.find('\n'));
  if (rest.ends_with('\r')) rest.remove_suffix(1);
  return rest;
}

void internalError(std::string message) { throw InternalError(std::move(message)); }

void Diagnostics::add(Error error) {
  if (diagSeverity(error.kind) == Severity::Error) {
    if (full()) return;
    ++errors_;
  }
  list_.push_back(std::move(error));
}

std::string Diagnostics::render(bool color) const {
  auto sorted = list_;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Error& a, const Error& b) { return std::pair(a.loc.line, a.loc.col) < std::pair(b.loc.line, b.loc.col); });
  constexpr std::array labels = {"error", "warning", "note"};
  constexpr std::array colors = {"\x1b[1;31m", "\x1b[1;35m", "\x1b[1;36m"};
  std::string out;
  for (const Error& e : sorted) {
    if (source_) out += source_->name() + ":";
    if (source_ && e.loc.line) out += fmt::format("{}:{}:", e.loc.line, std::max(e.loc.col, 1u));
    if (!out.empty() && out.back() == ':') out += ' ';
    auto severity = static_cast<size_t>(diagSeverity(e.kind));
    out += fmt::format("{}{}:{} {}\n", color ? colors[severity] : "", labels[severity], color ? "\x1b[0m" : "", e.message);
    if (source_ && e.loc.line) appendCaret(out, source_->line(e.loc.line), e.loc.col, color);
  }
  return out;
}

std::string suggest(std::string_view word, const std::vector<std::string_view>& names) {
  if (word.size() > 64) return "";
  std::string_view best;
  size_t least = word.size() / 3 + 2;
  for (std::string_view n : names)
    if (size_t d = editDistance(word, n); d < least) least = d, best = n;
  return best.empty() ? "" : fmt::format("; did you mean '{}'?", best);
}

}  // namespace uop
