#include "passes/splice_calls.h"

namespace uop {

// A CALL of a kernel, its places taken apart: behind at most one AFTER, and of rank 0 as one of shape [1].
CallSplicer::Kernel CallSplicer::kernelOf(NodeId call) {
  Kernel out{call, {}};
  for (NodeId a : g_.srcs(call).subspan(1)) {
    LaunchArgument& to = out.arguments.emplace_back(g_[a].place ? g_[a].base : a);
    NodeId at = g_.op(a) == Op::Reshape ? g_.src(a, 0) : a;
    if (g_.op(at) == Op::After) to.after.assign(g_.srcs(at).begin() + 1, g_.srcs(at).end());
  }
  for (int64_t slot : functions_.body(g_.src(call, 0)).written) out.arguments[static_cast<size_t>(slot)].written = true;
  return out;
}

const std::vector<CallSplicer::Kernel>& CallSplicer::kernelsOf(NodeId body) {
  auto [it, fresh] = bodies_.try_emplace(body);
  std::vector<Kernel>& out = it->second;
  if (!fresh) return out;
  std::unordered_map<NodeId, size_t> writers;
  for (NodeId n : cone(g_, std::span(&body, 1)))
    if (g_.op(n) == Op::Call) out.push_back(kernelOf(n));
  for (const Kernel& k : out)
    for (const LaunchArgument& a : k.arguments) writers[a.base] += a.written;
  for (Kernel& k : out)
    for (const LaunchArgument& a : k.arguments)
      if (a.written && (g_.op(a.base) != Op::Alloc || writers[a.base] > 1)) k.pure = false;
  return out;
}

std::vector<LaunchArgument> CallSplicer::mapped(const Kernel& k, std::span<const NodeId> args) {
  std::vector<LaunchArgument> out;
  for (const LaunchArgument& a : k.arguments) {
    LaunchArgument& to = out.emplace_back(kNoNode, a.written);
    if (g_.op(a.base) == Op::Param) {
      NodeId given = args[static_cast<size_t>(g_.attr(a.base, AttrKey::Slot))];
      to.base = g_[given].place ? g_[given].base : given;
    } else {
      auto [alloc, fresh] = now_.try_emplace(a.base, kNoNode);
      if (fresh) alloc->second = launches_.freshAlloc(a.base);
      to.base = alloc->second;
    }
    for (NodeId call : a.after) to.after.push_back(now_.at(call));
  }
  return out;
}

CallSplicer::Key CallSplicer::keyOf(const Kernel& k, std::span<const LaunchArgument> arguments) const {
  Key out{g_.src(k.call, 0)};
  for (const LaunchArgument& a : arguments)
    if (!a.written) out.insert(out.end(), {a.base, launches_.lastWriter(a.base)});
  return out;
}

std::vector<NodeId> CallSplicer::splice(NodeId call, std::span<const NodeId> ordered) {
  std::vector<NodeId> out, outputs;
  now_.clear();
  for (const Kernel& k : kernelsOf(g_.src(call, 0))) {
    std::vector<LaunchArgument> arguments = mapped(k, g_.srcs(call).subspan(1));
    Key key = keyOf(k, arguments);
    auto known = k.pure ? known_.find(key) : known_.end();
    if (known == known_.end()) {
      NodeId made = launches_.launch(g_.src(k.call, 0), arguments, ordered);
      if (p_.hasTag(k.call)) p_.setTag(made, p_.tag(k.call));
      if (k.pure) known = known_.emplace(std::move(key), made).first;
      now_[k.call] = made;
    } else {
      now_[k.call] = known->second;
      for (size_t i = 0; i < arguments.size(); ++i)
        if (arguments[i].written) now_[k.arguments[i].base] = g_[g_.src(known->second, 1 + i)].base;
    }
    out.push_back(now_[k.call]);
  }
  return out;
}

}  // namespace uop
