#include "pass/form.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace uop {
namespace {

std::string broadcastProblem(const Graph& g, NodeId id) {
  if (!hasTrait(g.op(id), trait::Elementwise)) return "";
  for (NodeId s : g.srcs(id))
    if (!std::ranges::equal(g.shape(s), g.shape(id))) return "broadcasts " + shapeText(g.shape(s)) + " to " + shapeText(g.shape(id));
  return "";
}

// What one node of the top function may not be.
std::string nodeProblem(const Graph& g, NodeId id, Form form) {
  if (form == Form::Canonical || form == Form::Flat)
    if (auto text = broadcastProblem(g, id); !text.empty()) return text;
  if ((form == Form::Flat || form == Form::Ranges) && g.op(id) == Op::Call) return "is a CALL";
  if (form == Form::Ranges && hasTrait(g.op(id), trait::Movement)) return "moves elements of a tensor";
  if (form == Form::Ranges && hasTrait(g.op(id), trait::Elementwise) && g.rank(id) > 0) return "has shape " + shapeText(g.shape(id));
  bool kernels = form == Form::Kernels || form == Form::Lowered;
  if (kernels && (g.op(id) == Op::Reduce || g.op(id) == Op::Stage || g.op(id) == Op::Range || g.op(id) == Op::Index ||
                  (hasTrait(g.op(id), trait::Movement) && g.op(id) != Op::Reshape)))
    return "stands outside a kernel";
  return "";
}

}  // namespace

bool satisfies(Form have, Form need) {
  return need == Form::Any || have == need || (have <= Form::Flat && need <= have);
}

Form formAfter(Form have, Form leaves) {
  if (leaves == Form::Any) return have;
  return have <= Form::Flat && leaves < have ? have : leaves;
}

std::string describeForm(Form form) {
  constexpr std::array<std::string_view, 7> meaning = {
      "any program", "any tensor program", "broadcasts explicit", "no CALL", "loops over scalars", "a list of kernels", "kernels ready to be emitted"};
  return fmt::format("'{}' ({})", formName(form), meaning[static_cast<size_t>(form)]);
}

std::string formProblem(const Program& program, Form form) {
  for (NodeId id : cone(program.graph, program.roots()))
    if (auto text = nodeProblem(program.graph, id, form); !text.empty())
      return fmt::format("'{}' {}", nodeText(program.graph, id), text);
  return "";
}

}  // namespace uop
