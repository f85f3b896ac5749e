#include "cmd/uopc/dump.h"

#include <fmt/format.h>

#include <array>
#include <filesystem>

#include "cmd/uopc/svg.h"
#include "pass/dot.h"
#include "support/file.h"

namespace uop::uopc {
namespace fs = std::filesystem;
namespace {

constexpr size_t kMostDrawn = 2000;  // nodes; dot's time grows with their square

std::string escapedHtml(std::string_view text) {
  std::string out;
  for (char c : text) out += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : std::string(1, c);
  return out;
}

std::string page(std::string_view title, const std::string& svg, const std::string& text) {
  size_t at = svg.find("<svg");
  return fmt::format(
      "<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"><title>{0}</title>\n<style>body{{font-family:sans-serif;margin:1em}}"
      "pre{{background:#f6f6f6;padding:1em;overflow:auto}}.graph{{overflow:auto;border:1px solid #ccc}}</style></head>\n"
      "<body><h1>{0}</h1>\n<div class=\"graph\">{1}</div>\n<pre>{2}</pre></body></html>\n",
      escapedHtml(title), at == std::string::npos ? svg : svg.substr(at), escapedHtml(text));
}

}  // namespace

Result<std::string> formatProgram(const Program& program, DumpFormat format, std::string_view title) {
  if (format == DumpFormat::Uop) return printProgram(program);
  std::string dot = dotText(program, title);
  if (format == DumpFormat::Dot) return dot;
  if (program.graph.size() > kMostDrawn)
    return fail(Diag::Unsupported, fmt::format("a program of {} nodes is too large to draw (the limit is {}); use --dump-format=dot or uop", program.graph.size(), kMostDrawn));
  auto svg = renderSvg(dot);
  if (!svg || format == DumpFormat::Svg) return svg;
  return page(title, *svg, printProgram(program));
}

Result<void> Dumper::operator()(const DumpEvent& e) {
  constexpr std::array<std::string_view, 4> endings = {"uop", "dot", "svg", "html"};
  std::string title = fmt::format("{} {}", e.before ? "before" : "after", e.instance);
  if (dir_.empty() && e.unchanged) return out_ << "# " << title << ": unchanged\n", Result<void>{};
  auto text = formatProgram(e.program, format_, title);
  if (!text) return std::unexpected(text.error());
  if (dir_.empty()) {
    if (format_ == DumpFormat::Uop) out_ << "# " << title << '\n';
    return out_ << *text << std::flush, Result<void>{};
  }
  std::error_code ec;
  fs::create_directories(dir_, ec);
  if (ec) return fail(Diag::CannotWrite, dir_, ec.message());
  std::string file = fmt::format("{:02}-{}{}.{}", e.number, e.instance, e.before ? ".before" : "", endings[static_cast<size_t>(format_)]);
  // The note is a comment, so that the file still compiles on.
  if (e.unchanged && format_ == DumpFormat::Uop) *text = "# unchanged\n" + *text;
  return writeFileAtomically((fs::path(dir_) / file).string(), *text);
}

}  // namespace uop::uopc
