// Checks that no single node can make: slots and ids of a function, CALLs against their bodies, order of STOREs.
#include <algorithm>
#include <map>
#include <set>

#include "ir/functions.h"
#include "ir/program.h"

namespace uop {
namespace {

constexpr uint64_t kMaxVisits = uint64_t{1} << 28;

class Verifier {
 public:
  Verifier(const Program& p, Diagnostics& diags) : p_(p), g_(p.graph), diags_(diags), functions_(p.graph) {}
  void run();

 private:
  uint32_t line(NodeId n) const { return n < p_.lines.size() ? p_.lines[n] : 0; }
  Loc loc(NodeId n) const { return {line(n), 1}; }
  bool function(std::span<const NodeId> roots);
  void slots(std::span<const NodeId> nodes);
  void ends(std::span<const NodeId> nodes);
  void stores(std::span<const NodeId> nodes);
  void call(NodeId n);
  void names();

  const Program& p_;
  const Graph& g_;
  Diagnostics& diags_;
  Functions functions_;
  std::map<int64_t, NodeId> buffers_;
  uint64_t visits_ = 0;
};

void Verifier::slots(std::span<const NodeId> nodes) {
  std::map<std::pair<Op, int64_t>, NodeId> seen;
  for (NodeId n : nodes) {
    Op op = g_.op(n);
    bool slot = op == Op::Param || op == Op::Alloc;
    if (!slot && op != Op::Range && op != Op::Buffer) continue;
    int64_t key = g_.attr(n, op == Op::Range ? AttrKey::Id : AttrKey::Slot);
    auto [it, fresh] = op == Op::Buffer ? buffers_.try_emplace(key, n) : seen.try_emplace({op, key}, n).first->second == n ? std::pair(buffers_.end(), true) : std::pair(buffers_.end(), false);
    NodeId other = op == Op::Buffer ? it->second : seen.at({op, key});
    if (fresh || other == n) continue;
    if (op == Op::Range) diags_.report(Diag::RangeConflict, loc(n), key, line(other));
    else diags_.report(Diag::SlotConflict, loc(n), name(op), key, line(other));
  }
}

void Verifier::ends(std::span<const NodeId> nodes) {
  std::map<NodeId, NodeId> closed;
  for (NodeId n : nodes) {
    if (g_.op(n) != Op::End) continue;
    for (NodeId r : g_.srcs(n).subspan(1))
      if (closed.try_emplace(r, n).first->second != n) diags_.report(Diag::TwoEnds, loc(n), g_.attr(r, AttrKey::Id));
  }
}

// Two ungated STOREs to one place outside of loops, neither waiting for the other.
void Verifier::stores(std::span<const NodeId> nodes) {
  std::map<NodeId, NodeId> last;
  for (NodeId n : nodes) {
    if (g_.op(n) != Op::Store || g_[n].srcCount != 2 || !g_.open(n).empty()) continue;
    auto [it, fresh] = last.try_emplace(g_.src(n, 0), n);
    if (fresh) continue;
    NodeId roots[] = {n};
    std::vector<NodeId> before = cone(g_, roots);
    visits_ += before.size();
    if (!std::ranges::binary_search(before, it->second)) diags_.report(Diag::UnorderedStores, loc(n), line(it->second));
    it->second = n;
  }
}

void Verifier::call(NodeId n) {
  const FunctionInfo& body = functions_.body(g_.src(n, 0));
  auto args = g_.srcs(n).subspan(1);
  for (NodeId param : body.params) {
    auto slot = static_cast<size_t>(g_.attr(param, AttrKey::Slot));
    if (slot >= args.size()) return diags_.report(Diag::CallArgs, loc(n), args.size(), slot);
    NodeId a = args[slot];
    if (g_.dtype(a) != g_.dtype(param) || !std::ranges::equal(g_.shape(a), g_.shape(param)))
      return diags_.report(Diag::CallArgType, loc(n), slot, name(g_.dtype(a)), shapeText(g_.shape(a)), slot, name(g_.dtype(param)), shapeText(g_.shape(param)));
  }
  for (int64_t slot : body.written) {
    NodeId a = args[static_cast<size_t>(slot)];
    if (!g_[a].place) return diags_.report(Diag::CallArgPlace, loc(n), slot, slot);
    for (size_t i = 0; i < args.size(); ++i)
      if (static_cast<int64_t>(i) != slot && g_[args[i]].place && (args[i] == a || (g_[args[i]].base == g_[a].base && (args[i] == g_[a].base || a == g_[a].base))))
        return diags_.report(Diag::CallOverlap, loc(n), slot, i);
  }
}

// False if the work is more than any honest program needs.
bool Verifier::function(std::span<const NodeId> roots) {
  std::vector<NodeId> nodes = cone(g_, roots);
  visits_ += nodes.size();
  if (visits_ > kMaxVisits) return diags_.report(Diag::PassError, {}, "the bodies of CALLs are too large together"), false;
  slots(nodes);
  ends(nodes);
  stores(nodes);
  for (NodeId n : nodes) {
    if (g_.op(n) == Op::Call && diags_.errorCount() == 0) call(n);
    if (diags_.full() || visits_ > kMaxVisits) return false;
  }
  return true;
}

void Verifier::names() {
  std::map<std::string, NodeId> seen;
  for (NodeId n : cone(g_, p_.roots())) {
    if (g_.op(n) != Op::Param && g_.op(n) != Op::Buffer) continue;
    auto [it, fresh] = seen.try_emplace(bindingName(g_, n), n);
    if (!fresh) diags_.report(Diag::NameConflict, loc(n), it->first, line(it->second));
  }
}

void Verifier::run() {
  auto roots = p_.roots();
  std::set<NodeId> bodies;
  for (NodeId n : cone(g_, roots, true)) {
    if (g_.op(n) != Op::Call || !bodies.insert(g_.src(n, 0)).second) continue;
    NodeId body[] = {g_.src(n, 0)};
    if (!g_.open(body[0]).empty()) diags_.report(Diag::CallBodyOpen, loc(n), g_.attr(g_.open(body[0])[0], AttrKey::Id));
    if (!function(body)) return;
  }
  function(roots);
  if (diags_.errorCount() == 0) names();
}

}  // namespace

void verifyProgram(const Program& p, Diagnostics& diags) { Verifier(p, diags).run(); }

}  // namespace uop
