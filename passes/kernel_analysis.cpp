#include "ir/intern.h"
#include "passes/split_kernels.h"

namespace uop {
namespace {

void sortUnique(std::vector<uint32_t>& list) {
  std::ranges::sort(list);
  auto same = std::ranges::unique(list);
  list.erase(same.begin(), same.end());
}

}  // namespace

KernelAnalysis::KernelAnalysis(const Graph& g, std::span<const NodeId> roots) : g_(g), functions_(g) {
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
  auto add = [](std::vector<uint32_t>& list, uint32_t kernel) {
    if (list.empty() || list.back() != kernel) list.push_back(kernel);
  };
  for (uint32_t i = 0; i < kernels.size(); ++i) {
    for (const KernelRead& r : kernels[i].reads) add(users[r.base], i);
    for (auto [base, index] : kernels[i].writes) add(users[base], i), add(writers[base], i);
  }
}

// Nodes that begin a kernel, ascending. A closed STAGE that is not global is none if one kernel alone reads it.
std::vector<NodeId> KernelAnalysis::rootNodes(std::span<const NodeId> roots) const {
  std::vector<NodeId> order = cone(g_, roots), out;
  std::vector<bool> inLoop = effectsInLoops(g_, order);
  constexpr NodeId kSeveral = kNoNode - 1;
  std::vector<NodeId> owner(g_.size(), kNoNode);  // the one kernel that needs a node
  for (NodeId r : roots) owner[r] = kSeveral;
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    NodeId n = *it;
    Op op = g_.op(n);
    bool effect = (op == Op::End || op == Op::Store || op == Op::Call) && !inLoop[n];
    bool value = op == Op::Stage && (g_.space(n) == Space::Global || owner[n] == kSeveral);
    bool root = g_.open(n).empty() && (effect || value);
    if (root) out.push_back(n);
    const NodeId mine = root ? n : owner[n];
    for (NodeId s : ownSources(g_, n)) owner[s] = owner[s] == kNoNode || owner[s] == mine ? mine : kSeveral;
  }
  std::ranges::reverse(out);
  return out;
}

// The roots of each kernel.
std::vector<std::vector<NodeId>> KernelAnalysis::findRoots(std::span<const NodeId> roots) const {
  std::vector<std::vector<NodeId>> out;
  Interner<NodeId> loopLists;
  std::vector<size_t> byLoops{0};  // by list: its kernel, for those of the compiler's lists that are not empty
  for (NodeId n : rootNodes(roots)) {
    if (g_.op(n) != Op::Stage) {
      out.push_back({n});
      continue;
    }
    std::vector<NodeId> loops;
    for (NodeId r : g_.srcs(n).subspan(1))
      if (!runsOnce(g_, r)) loops.push_back(r);
    std::ranges::sort(loops);
    const uint32_t list = loopLists.intern(loops);
    const bool fresh = list == byLoops.size();
    if (fresh) byLoops.push_back(out.size());
    if (fresh || loops.empty()) out.push_back({n});
    else out[byLoops[list]].push_back(n);
  }
  return out;
}

void KernelAnalysis::collectAll(const std::vector<std::vector<NodeId>>& groups) {
  kernels.clear();
  kernelOf_.assign(g_.size(), kNone);
  seenBy_.assign(g_.size(), kNone);
  for (const auto& group : groups) {
    for (NodeId root : group) kernelOf_[root] = static_cast<uint32_t>(kernels.size());
    kernels.push_back({group, {}, {}, {}, {}});
  }
  for (uint32_t k = 0; k < kernels.size(); ++k) collect(k);
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

// It depends on itself where one of its roots needs another.
void KernelAnalysis::collect(uint32_t kernel) {
  Kernel& k = kernels[kernel];
  std::vector<NodeId> todo = k.roots;
  auto push = [&](NodeId n) {
    if (isRoot(n)) k.deps.push_back(kernelOf_[n]);
    else if (seenBy_[n] != kernel) seenBy_[n] = kernel, todo.push_back(n);
  };
  std::vector<NodeId> closed, open;
  while (!todo.empty()) {
    NodeId n = todo.back();
    todo.pop_back();
    k.nodes.push_back(n);
    if (g_.op(n) != Op::After) {
      for (NodeId s : ownSources(g_, n)) push(s);
      continue;
    }
    closed.clear(), open.clear();
    eachDep(n, closed, open);
    push(g_.src(n, 0));
    for (NodeId s : closed) push(s);
    for (NodeId s : open) push(s);
  }
  sortUnique(k.deps);
  std::ranges::sort(k.nodes);
  for (NodeId n : k.nodes) recordAccess(k, n);
}

void KernelAnalysis::recordAccess(Kernel& k, NodeId n) {
  Op op = g_.op(n);
  if (op == Op::Call) return recordCall(k, n);
  if (op != Op::Load && op != Op::Store) return;
  NodeId at = g_.src(n, 0), version = g_.op(at) == Op::Index ? g_.src(at, 0) : at;
  if (g_.op(g_[at].base) == Op::Stage && !isRoot(g_[at].base)) return;  // a tile inside the kernel
  if (op == Op::Store) k.writes.emplace_back(g_[at].base, at);
  else k.reads.push_back({g_[at].base, version, at, !g_.open(version).empty()});
}

// A CALL reads, and where its body says so writes, whole places.
void KernelAnalysis::recordCall(Kernel& k, NodeId call) {
  auto args = g_.srcs(call).subspan(1);
  for (NodeId a : args)
    if (g_[a].place) k.reads.push_back({g_[a].base, a, a, false});
  for (int64_t slot : functions_.body(g_.src(call, 0)).written) k.writes.emplace_back(g_[args[static_cast<size_t>(slot)]].base, args[static_cast<size_t>(slot)]);
}

std::vector<uint32_t> KernelAnalysis::closedDeps(NodeId place) const {
  std::vector<uint32_t> out;
  std::vector<NodeId> closed, open;
  for (NodeId p = place; g_.op(p) == Op::After; p = g_.src(p, 0)) {
    closed.clear();
    eachDep(p, closed, open);
    for (NodeId n : closed) out.push_back(kernelOf_[n]);
  }
  return out;
}

std::vector<uint32_t> KernelAnalysis::writersBefore(NodeId version) const {
  std::vector<uint32_t> out, todo = closedDeps(version);
  auto it = writers.find(g_[version].base);
  if (it == writers.end()) return out;
  std::unordered_set<uint32_t> seen;
  while (!todo.empty() && out.size() < it->second.size()) {
    uint32_t k = todo.back();
    todo.pop_back();
    if (!seen.insert(k).second) continue;
    if (std::ranges::binary_search(it->second, k)) out.push_back(k);
    todo.insert(todo.end(), kernels[k].deps.begin(), kernels[k].deps.end());
  }
  std::ranges::sort(out);
  return out;
}

bool KernelAnalysis::isPrivate(NodeId base) const {
  if (g_.op(base) != Op::Alloc || g_.space(base) == Space::Global) return false;
  auto it = users.find(base);
  return it == users.end() || it->second.size() <= 1;
}

}  // namespace uop
