#include "pass/dot.h"

#include <fmt/format.h>

namespace uop {
namespace {

std::string escaped(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

// The node's line without its sources: "RANGE id=0 kind=loop".
std::string label(const Graph& g, NodeId id) {
  std::string line = nodeText(g, id), out;
  if (size_t at = line.find(" = "); at != std::string::npos) line = line.substr(at + 3);
  for (size_t at = 0; at < line.size();) {
    size_t end = std::min(line.find(' ', at), line.size());
    std::string_view word = std::string_view(line).substr(at, end - at);
    if (!word.starts_with('%')) out += (out.empty() ? "" : " ") + std::string(word);
    at = end + 1;
  }
  return escaped(out.size() > 80 ? out.substr(0, 77) + "..." : out);
}

std::string_view fill(const Graph& g, NodeId id) {
  if (hasTrait(g.op(id), trait::Effect)) return "#f6d5d5";
  if (g.op(id) == Op::Range) return "#e2d8f3";
  if (g[id].place) return "#fdeebf";
  if (g.isConst(id)) return "#eeeeee";
  if (hasTrait(g.op(id), trait::Movement)) return "#d7ead3";
  return "#d6e6f6";
}

std::string typeLabel(const Graph& g, NodeId id) {
  if (!isValue(g.dtype(id))) return "";
  return fmt::format("\\n{}{}", name(g.dtype(id)), g.rank(id) ? " " + shapeText(g.shape(id)) : "");
}

}  // namespace

std::string dotText(const Program& program, std::string_view title) {
  const Graph& g = program.graph;
  auto roots = program.roots();
  std::string out = fmt::format("digraph \"{}\" {{\n  node [shape=box style=\"filled,rounded\" fontname=\"Helvetica\" fontsize=10];\n  edge [color=\"#666666\" arrowsize=0.6];\n", escaped(title));
  for (NodeId id : cone(g, roots, true)) {
    out += fmt::format("  n{} [label=\"%{} {}{}{}\" fillcolor=\"{}\"];\n", id, id, label(g, id), typeLabel(g, id),
                       program.hasTag(id) ? "\\n" + escaped(program.tag(id)) : "", fill(g, id));
    auto sources = g.srcs(id);
    for (size_t i = 0; i < sources.size(); ++i)
      out += fmt::format("  n{} -> n{}{};\n", sources[i], id, g.op(id) == Op::Call && i == 0 ? " [style=dashed label=body]" : "");
  }
  for (size_t i = 0; i < program.results.size(); ++i) {
    out += fmt::format("  r{} [label=\"{}\" shape=ellipse fillcolor=white];\n  n{} -> r{};\n", i, escaped(program.results[i].name), program.results[i].node, i);
  }
  return out + "}\n";
}

}  // namespace uop
