// Which bodies stay functions. The outermost that is worth it does: what it calls becomes part of it.
#include <algorithm>
#include <ranges>

#include "passes/inline_calls.h"

namespace uop {
namespace {

constexpr int64_t kSaturated = int64_t{1} << 40;
constexpr int64_t kReductions = 2;  // a body of fewer may well be part of its caller's kernels

struct Function {
  int64_t nodes = 0, reductions = 0;  // with those of what it calls
  int64_t sites = 0;                // in the program, where nothing else is kept
  std::map<NodeId, int64_t> calls;  // body → CALLs
};

Function functionOf(const Graph& g, std::span<const NodeId> roots) {
  Function out;
  for (NodeId n : cone(g, roots)) {
    ++out.nodes;
    out.reductions += g.op(n) == Op::Reduce;
    if (g.op(n) == Op::Call) ++out.calls[g.src(n, 0)];
  }
  return out;
}

int64_t saturated(int64_t count, int64_t each) {
  int64_t out = 0;
  return __builtin_mul_overflow(count, each, &out) ? kSaturated : std::min(out, kSaturated);
}

}  // namespace

std::unordered_set<NodeId> keptBodies(const Graph& g, std::span<const NodeId> roots, int64_t nodes) {
  std::map<NodeId, Function> functions;  // a body is smaller than its callers
  std::vector<NodeId> bodies;
  for (NodeId n : cone(g, roots, true))
    if (g.op(n) == Op::Call) bodies.push_back(g.src(n, 0));
  for (NodeId body : bodies)
    if (auto [it, fresh] = functions.try_emplace(body); fresh) it->second = functionOf(g, std::span(&body, 1));
  for (auto& [body, f] : functions)
    for (auto [called, count] : f.calls) {
      f.nodes = std::min(kSaturated, f.nodes + saturated(count, functions.at(called).nodes));
      f.reductions = std::min(kSaturated, f.reductions + saturated(count, functions.at(called).reductions));
    }
  for (auto [called, count] : functionOf(g, roots).calls) functions.at(called).sites = count;
  std::unordered_set<NodeId> out;
  for (auto& [body, f] : functions | std::views::reverse) {
    bool worthwhile = nodes == 0 || (f.reductions >= kReductions && saturated(f.sites - 1, f.nodes) >= nodes);
    if (worthwhile && f.sites > 0) out.insert(body);
    else
      for (auto [called, count] : f.calls) functions.at(called).sites = std::min(kSaturated, functions.at(called).sites + saturated(count, f.sites));
  }
  return out;
}

}  // namespace uop
