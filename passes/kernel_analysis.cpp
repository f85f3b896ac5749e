#include "passes/split_kernels.h"

namespace uop {

KernelAnalysis::KernelAnalysis(const Graph& g, std::span<const NodeId> roots) : g_(g) {
  std::vector<std::vector<NodeId>> groups = findRoots(roots), next;
  for (;; groups = std::move(next), next.clear()) {
    collectAll(groups);
    std::vector<bool> circle = inCircles();
    if (std::ranges::find(circle, true) == circle.end()) break;
    // STAGEs that need each other do not share a kernel after all.
    for (size_t k = 0; k < groups.size(); ++k) {
      if (!circle[k]) next.push_back(groups[k]);
      else
        for (NodeId root : groups[k]) next.push_back({root});
    }
    if (next.size() == groups.size()) internalError("kernels depend on each other in a circle");
  }
  for (uint32_t i = 0; i < kernels.size(); ++i) {
    for (const KernelRead& r : kernels[i].reads) users[r.base].insert(i);
    for (auto [base, index] : kernels[i].writes) {
      users[base].insert(i);
      auto& list = writers[base];
      if (list.empty() || list.back() != i) list.push_back(i);
    }
  }
}

// Nodes that begin a kernel, ascending. A closed STAGE that is not global is none if one kernel alone reads it.
std::vector<NodeId> KernelAnalysis::rootNodes(std::span<const NodeId> roots) const {
  std::vector<NodeId> order = cone(g_, roots), out;
  std::unordered_set<NodeId> inBody;  // effects that an END runs
  constexpr NodeId kSeveral = kNoNode - 1;
  std::unordered_map<NodeId, NodeId> owner;  // the one kernel that needs a node
  for (NodeId r : roots) owner[r] = kSeveral;
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    NodeId n = *it;
    Op op = g_.op(n);
    if (op == Op::End) inBody.insert(g_.src(n, 0));
    if (op == Op::Sink && inBody.contains(n)) inBody.insert(g_.srcs(n).begin(), g_.srcs(n).end());
    bool effect = (op == Op::End || op == Op::Store) && !inBody.contains(n);
    bool value = op == Op::Stage && (g_.space(n) == Space::Global || owner[n] == kSeveral);
    bool root = g_.open(n).empty() && (effect || value);
    if (root) out.push_back(n);
    for (NodeId s : g_.srcs(n)) {
      auto [mine, fresh] = owner.try_emplace(s, root ? n : owner[n]);
      if (!fresh && mine->second != (root ? n : owner[n])) mine->second = kSeveral;
    }
  }
  std::ranges::reverse(out);
  return out;
}

// The roots of each kernel.
std::vector<std::vector<NodeId>> KernelAnalysis::findRoots(std::span<const NodeId> roots) const {
  std::vector<std::vector<NodeId>> out;
  std::map<std::vector<NodeId>, size_t> byLoops;
  for (NodeId n : rootNodes(roots)) {
    if (g_.op(n) != Op::Stage) {
      out.push_back({n});
      continue;
    }
    std::vector<NodeId> loops;
    for (NodeId r : g_.srcs(n).subspan(1))
      if (!runsOnce(g_, r)) loops.push_back(r);
    std::ranges::sort(loops);
    auto [it, fresh] = byLoops.try_emplace(loops, out.size());
    if (fresh || loops.empty()) out.push_back({n});
    else out[it->second].push_back(n);
  }
  return out;
}

void KernelAnalysis::collectAll(const std::vector<std::vector<NodeId>>& groups) {
  kernels.clear();
  kernelOf.clear();
  for (const auto& group : groups) {
    for (NodeId root : group) kernelOf.emplace(root, static_cast<uint32_t>(kernels.size()));
    kernels.push_back({group, {}, {}, {}, {}});
  }
  for (uint32_t k = 0; k < kernels.size(); ++k)
    if (!collect(kernels[k])) kernels[k].deps.insert(k);
}

// Kernels that no order of running reaches.
std::vector<bool> KernelAnalysis::inCircles() const {
  std::vector<std::vector<uint32_t>> users(kernels.size());
  std::vector<size_t> missing(kernels.size());
  std::vector<uint32_t> ready;
  for (uint32_t k = 0; k < kernels.size(); ++k) {
    missing[k] = kernels[k].deps.size();
    for (uint32_t d : kernels[k].deps) users[d].push_back(k);
    if (missing[k] == 0) ready.push_back(k);
  }
  std::vector<bool> out(kernels.size(), true);
  while (!ready.empty()) {
    uint32_t k = ready.back();
    ready.pop_back();
    out[k] = false;
    for (uint32_t user : users[k])
      if (--missing[user] == 0) ready.push_back(user);
  }
  return out;
}

// An AFTER's dependencies: kernels that come first (closed), and what belongs to the loops around it (open).
void KernelAnalysis::eachDep(NodeId after, std::vector<NodeId>& closed, std::vector<NodeId>& open) const {
  std::vector<NodeId> todo(g_.srcs(after).begin() + 1, g_.srcs(after).end());
  while (!todo.empty()) {
    NodeId n = todo.back();
    todo.pop_back();
    if (isRoot(n)) closed.push_back(n);
    else if (g_.op(n) == Op::Sink) todo.insert(todo.end(), g_.srcs(n).begin(), g_.srcs(n).end());
    else open.push_back(n);
  }
}

// False where one of its roots needs another.
bool KernelAnalysis::collect(Kernel& k) {
  std::unordered_set<NodeId> seen(k.roots.begin(), k.roots.end());
  std::vector<NodeId> todo = k.roots;
  bool apart = true;
  auto push = [&](NodeId n) {
    auto root = kernelOf.find(n);
    if (root != kernelOf.end() && &kernels[root->second] == &k) apart = false;
    else if (root != kernelOf.end()) k.deps.insert(root->second);
    else if (seen.insert(n).second) todo.push_back(n);
  };
  std::vector<NodeId> closed, open;
  while (!todo.empty()) {
    NodeId n = todo.back();
    todo.pop_back();
    k.nodes.push_back(n);
    if (g_.op(n) != Op::After) {
      for (NodeId s : g_.srcs(n)) push(s);
      continue;
    }
    closed.clear(), open.clear();
    eachDep(n, closed, open);
    push(g_.src(n, 0));
    for (NodeId s : closed) push(s);
    for (NodeId s : open) push(s);
  }
  std::ranges::sort(k.nodes);
  for (NodeId n : k.nodes) recordAccess(k, n);
  return apart;
}

void KernelAnalysis::recordAccess(Kernel& k, NodeId n) {
  Op op = g_.op(n);
  if (op != Op::Load && op != Op::Store) return;
  NodeId at = g_.src(n, 0), version = g_.op(at) == Op::Index ? g_.src(at, 0) : at;
  if (g_.op(g_[at].base) == Op::Stage && !isRoot(g_[at].base)) return;  // a tile inside the kernel
  if (op == Op::Store) k.writes.emplace_back(g_[at].base, at);
  else k.reads.push_back({g_[at].base, version, at, !g_.open(version).empty()});
}

std::vector<uint32_t> KernelAnalysis::closedDeps(NodeId place) const {
  std::vector<uint32_t> out;
  std::vector<NodeId> closed, open;
  for (NodeId p = place; g_.op(p) == Op::After; p = g_.src(p, 0)) {
    closed.clear();
    eachDep(p, closed, open);
    for (NodeId n : closed) out.push_back(kernelOf.at(n));
  }
  return out;
}

std::set<uint32_t> KernelAnalysis::writersBefore(NodeId version) const {
  std::set<uint32_t> out;
  auto it = writers.find(g_[version].base);
  if (it == writers.end()) return out;
  std::vector<uint32_t> todo = closedDeps(version);
  std::vector<bool> seen(kernels.size());
  while (!todo.empty()) {
    uint32_t k = todo.back();
    todo.pop_back();
    if (seen[k]) continue;
    seen[k] = true;
    if (std::ranges::binary_search(it->second, k)) out.insert(k);
    todo.insert(todo.end(), kernels[k].deps.begin(), kernels[k].deps.end());
  }
  return out;
}

bool KernelAnalysis::isPrivate(NodeId base) const {
  if (g_.op(base) != Op::Alloc || g_.space(base) == Space::Global) return false;
  auto it = users.find(base);
  return it == users.end() || it->second.size() <= 1;
}

}  // namespace uop
