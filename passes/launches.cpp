#include "passes/launches.h"

namespace uop {

NodeId Launches::freshAlloc(NodeId like) { return g_.alloc(fresh_.slot++, g_.dtype(like), g_.shape(like), Space::Global); }

NodeId Launches::place(NodeId base) {
  if (auto it = place_.find(base); it != place_.end()) return it->second;
  NodeId out = base;
  if (g_.op(base) == Op::Stage) out = freshAlloc(base);
  if (g_.op(base) == Op::Alloc) out = g_.alloc(g_.attr(base, AttrKey::Slot), g_.dtype(base), g_.shape(base), Space::Global);
  return place_[base] = out;
}

NodeId Launches::lastWriter(NodeId base) const {
  auto it = lastWriter_.find(base);
  return it == lastWriter_.end() ? kNoNode : it->second;
}

// A place of rank 0 is passed as one of shape [1].
NodeId Launches::argument(const LaunchArgument& a, std::span<const NodeId> ordered) {
  if (!g_[a.base].place) return a.base;
  std::vector<NodeId> deps;
  if (NodeId writer = lastWriter(a.base); writer != kNoNode) deps.push_back(writer);
  if (a.written) {
    deps.insert(deps.end(), readers_[a.base].begin(), readers_[a.base].end());
    deps.insert(deps.end(), ordered.begin(), ordered.end());
  }
  for (NodeId call : a.after)
    if (std::ranges::find(deps, call) == deps.end()) deps.push_back(call);
  NodeId out = g_.after(place(a.base), deps);
  Dim one[] = {1};
  return g_.rank(out) == 0 ? g_.reshape(out, one) : out;
}

NodeId Launches::launch(NodeId kernel, std::span<const LaunchArgument> arguments, std::span<const NodeId> ordered) {
  std::vector<NodeId> parts{kernel};
  for (const LaunchArgument& a : arguments) parts.push_back(argument(a, ordered));
  // Equal calls on equal contents are one node, which is right: the second would write the same again.
  NodeId call = g_.make(Op::Call, parts);
  for (const LaunchArgument& a : arguments) {
    if (!g_[a.base].place) continue;
    auto& readers = readers_[a.base];
    if (a.written) lastWriter_[a.base] = call, readers.clear();
    else if (readers.empty() || readers.back() != call) readers.push_back(call);
  }
  return call;
}

}  // namespace uop
