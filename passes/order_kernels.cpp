// The order of kernels: what they depend on, and reads of old contents before the writes that replace them.
#include "passes/split_kernels.h"

namespace uop {
namespace {

// i ↦ c·i + d for a single RANGE i and c ≠ 0: no two iterations meet.
NodeId affineRange(const Graph& g, NodeId x) {
  for (;;) {
    Op op = g.op(x);
    if (op == Op::Range) return x;
    if (op == Op::Neg) {
      x = g.src(x, 0);
      continue;
    }
    if (op != Op::Add && op != Op::Mul) return kNoNode;
    auto c = g.constInt(g.src(x, 1));
    if (!c || (op == Op::Mul && *c == 0)) return kNoNode;
    x = g.src(x, 0);
  }
}

// A kernel may overwrite what it reads if each iteration reads just the element that it writes, and no other writes it.
bool safeInPlace(const Graph& g, const Kernel& k, const KernelRead& read) {
  for (auto [base, at] : k.writes) {
    if (base != read.base) continue;
    auto w = g.op(at) == Op::Index ? g.srcs(at).subspan(1) : std::span<const NodeId>{};
    auto r = g.op(read.index) == Op::Index ? g.srcs(read.index).subspan(1) : std::span<const NodeId>{};
    if (!std::ranges::equal(w, r)) return false;
    std::set<NodeId> ranges;
    for (NodeId i : w) {
      if (g.open(i).empty()) continue;
      NodeId range = affineRange(g, i);
      if (range == kNoNode || !ranges.insert(range).second) return false;
    }
    // A loop that the place does not depend on would write it again.
    for (NodeId n : k.nodes)
      if (g.op(n) == Op::End && !std::ranges::all_of(g.srcs(n).subspan(1), [&](NodeId r) { return ranges.contains(r) || runsOnce(g, r); })) return false;
  }
  return true;
}

class Orderer {
 public:
  Orderer(const Graph& g, const KernelAnalysis& a) : g_(g), a_(a), before_(a.kernels.size()), blocks_(a.kernels.size()), waiting_(a.kernels.size()) {}
  KernelOrder run();

 private:
  struct Blocked {
    uint32_t reader;
    NodeId version;
  };
  void findConflicts();
  void finish(uint32_t k);
  void unblock(uint32_t k);

  const Graph& g_;
  const KernelAnalysis& a_;
  std::vector<size_t> before_;                            // how many dependencies are unmet
  std::vector<std::vector<uint32_t>> blocks_;             // users that wait for a kernel
  std::vector<std::vector<Blocked>> waiting_;             // readers that must come before a writer
  std::vector<bool> done_;
  std::set<uint32_t> ready_;                              // dependencies met
  KernelOrder out_;
};

void Orderer::findConflicts() {
  for (uint32_t k = 0; k < a_.kernels.size(); ++k) {
    std::set<NodeId> seen;
    for (const KernelRead& r : a_.kernels[k].reads) {
      auto it = a_.writers.find(r.base);
      if (it == a_.writers.end() || r.live || a_.isPrivate(r.base)) continue;
      bool own = std::ranges::binary_search(it->second, k);
      if (own && !a_.kernels[k].isCall(g_) && !safeInPlace(g_, a_.kernels[k], r)) out_.snapshots.insert(r.version);
      if (!seen.insert(r.version).second) continue;
      std::vector<uint32_t> have = a_.writersBefore(r.version);
      for (uint32_t w : it->second)
        if (w != k && !std::ranges::binary_search(have, w)) waiting_[w].push_back({k, r.version});
    }
  }
}

void Orderer::finish(uint32_t k) {
  done_[k] = true;
  ready_.erase(k);
  out_.order.push_back(k);
  for (uint32_t user : blocks_[k]) {
    if (--before_[user] == 0) ready_.insert(user);
  }
}

// No order works: the old contents that unfinished readers still want are copied.
void Orderer::unblock(uint32_t k) {
  for (const Blocked& b : waiting_[k])
    if (!done_[b.reader]) out_.snapshots.insert(b.version);
  waiting_[k].clear();
}

KernelOrder Orderer::run() {
  done_.resize(a_.kernels.size());
  for (uint32_t k = 0; k < a_.kernels.size(); ++k) {
    before_[k] = a_.kernels[k].deps.size();
    for (uint32_t d : a_.kernels[k].deps) blocks_[d].push_back(k);
    if (before_[k] == 0) ready_.insert(k);
  }
  findConflicts();
  while (!ready_.empty()) {
    auto free = std::ranges::find_if(ready_, [&](uint32_t k) { return std::ranges::all_of(waiting_[k], [&](const Blocked& b) { return done_[b.reader]; }); });
    if (free != ready_.end()) finish(*free);
    else unblock(*ready_.begin());
  }
  if (out_.order.size() != a_.kernels.size()) internalError("split-kernels: kernels depend on each other in a circle");
  return std::move(out_);
}

}  // namespace

KernelOrder orderKernels(const Graph& g, const KernelAnalysis& a) { return Orderer(g, a).run(); }

}  // namespace uop
