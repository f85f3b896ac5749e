#include "ir/functions.h"

#include <algorithm>
#include <set>

namespace uop {

bool isWholeStorage(const Graph& g, NodeId place) {
  while (g.op(place) == Op::After) place = g.src(place, 0);
  Op op = g.op(place);
  return op == Op::Param || op == Op::Buffer || ((op == Op::Alloc || op == Op::Stage) && g.space(place) == Space::Global);
}

std::vector<bool> effectsInLoops(const Graph& g, std::span<const NodeId> order) {
  std::vector<bool> out(g.size());
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    if (g.op(*it) == Op::End) out[g.src(*it, 0)] = true;
    if (g.op(*it) == Op::Sink && out[*it])
      for (NodeId s : g.srcs(*it)) out[s] = true;
  }
  return out;
}

std::vector<NodeId> Functions::unknownBodies(std::span<const NodeId> nodes) const {
  std::vector<NodeId> out;
  for (NodeId n : nodes)
    if (g_.op(n) == Op::Call && !bodies_.contains(g_.src(n, 0))) out.push_back(g_.src(n, 0));
  return out;
}

// The bodies that the nodes call are known.
FunctionInfo Functions::summary(std::span<const NodeId> nodes) const {
  FunctionInfo out;
  std::set<int64_t> written;
  std::set<NodeId> buffers;
  auto write = [&](NodeId place) {
    NodeId base = g_[place].base;
    if (!g_[place].place) return;
    if (g_.op(base) == Op::Param) written.insert(g_.attr(base, AttrKey::Slot));
    if (g_.op(base) == Op::Buffer) buffers.insert(base);
  };
  for (NodeId n : nodes) {
    if (g_.op(n) == Op::Param) out.params.push_back(n);
    if (g_.op(n) == Op::Store) write(g_.src(n, 0));
    if (g_.op(n) != Op::Call) continue;
    const FunctionInfo& called = bodies_.at(g_.src(n, 0));
    auto args = g_.srcs(n).subspan(1);
    for (int64_t slot : called.written)
      if (static_cast<size_t>(slot) < args.size()) write(args[static_cast<size_t>(slot)]);
    buffers.insert(called.buffersWritten.begin(), called.buffersWritten.end());
  }
  out.written.assign(written.begin(), written.end());
  out.buffersWritten.assign(buffers.begin(), buffers.end());
  return out;
}

void Functions::settle(std::vector<NodeId> bodies) {
  while (!bodies.empty()) {
    NodeId roots[] = {bodies.back()};
    if (bodies_.contains(roots[0])) {
      bodies.pop_back();
      continue;
    }
    std::vector<NodeId> nodes = cone(g_, roots);
    std::vector<NodeId> first = unknownBodies(nodes);
    if (first.empty()) bodies_.emplace(roots[0], summary(nodes));
    else bodies.insert(bodies.end(), first.begin(), first.end());
  }
}

const FunctionInfo& Functions::body(NodeId body) {
  settle({body});
  return bodies_.at(body);
}

FunctionInfo Functions::of(std::span<const NodeId> roots) {
  std::vector<NodeId> nodes = cone(g_, roots);
  settle(unknownBodies(nodes));
  return summary(nodes);
}

}  // namespace uop
