#include "pass/form.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "ir/functions.h"

namespace uop {
namespace {

std::string broadcastProblem(const Graph& g, NodeId id) {
  if (!hasTrait(g.op(id), trait::Elementwise)) return "";
  for (NodeId s : g.srcs(id))
    if (!std::ranges::equal(g.shape(s), g.shape(id))) return "broadcasts " + shapeText(g.shape(s)) + " to " + shapeText(g.shape(id));
  return "";
}

// A CALL that passes nothing but places as a whole and scalar arguments, and gives nothing, stays a function.
std::string callProblem(const Graph& g, NodeId call) {
  if (g.dtype(call) != DType::Void) return "is a CALL that gives a value";
  if (!g.open(call).empty()) return "is a CALL in a loop";
  for (NodeId a : ownSources(g, call))
    if (!isWholeStorage(g, a) || (g.rank(a) == 0 && g[a].place)) return "is a CALL whose arguments are not all whole places";
  return "";
}

// What one node of a function may not be.
std::string nodeProblem(const Graph& g, NodeId id, Form form) {
  if (form == Form::Canonical || form == Form::Flat)
    if (auto text = broadcastProblem(g, id); !text.empty()) return text;
  if ((form == Form::Flat || form == Form::Ranges) && g.op(id) == Op::Call) return callProblem(g, id);
  const bool viewed = g.op(id) == Op::Reshape && g[id].place;  // a result in another shape than its kernel's
  if (form == Form::Ranges && hasTrait(g.op(id), trait::Movement) && !viewed) return "moves elements of a tensor";
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
      "any program", "any tensor program", "broadcasts explicit", "CALLs on whole places alone", "loops over scalars", "a list of kernels", "kernels ready to be emitted"};
  return fmt::format("'{}' ({})", formName(form), meaning[static_cast<size_t>(form)]);
}

std::string formProblem(const Program& program, Form form) {
  const Graph& g = program.graph;
  std::set<NodeId> bodies;
  auto problem = [&](std::span<const NodeId> roots) -> std::string {
    for (NodeId id : cone(g, roots)) {
      if (auto text = nodeProblem(g, id, form); !text.empty()) return fmt::format("'{}' {}", nodeText(g, id), text);
      if (g.op(id) == Op::Call) bodies.insert(g.src(id, 0));
    }
    return "";
  };
  if (auto text = problem(program.roots()); !text.empty() || (form != Form::Flat && form != Form::Ranges)) return text;
  for (NodeId body : std::set(bodies)) {
    if (auto text = problem(std::span(&body, 1)); !text.empty()) return text;
    for (NodeId n : cone(g, std::span(&body, 1)))
      if (g.op(n) == Op::Call || g.op(n) == Op::Buffer) return fmt::format("'{}' is in a CALL's body", nodeText(g, n));
  }
  return "";
}

}  // namespace uop
