#include "passes/fuse.h"

#include "passes/each_function.h"
#include "passes/stage_reason.h"

namespace uop {

int64_t costOf(const Graph& g, NodeId n) {
  Op op = g.op(n);
  if (hasTrait(op, trait::Transcendental) || op == Op::Reduce || op == Op::Stage || op == Op::After || op == Op::Alloc || hasTrait(op, trait::Effect)) return kCostly;
  if (!hasTrait(op, trait::Elementwise) || g.dtype(n) == DType::Index) return 0;
  bool slow = op == Op::Sqrt || op == Op::Recip || op == Op::FloorDiv || op == Op::FloorMod;
  return slow ? 3 : 1;
}

KernelFacts::KernelFacts(const Program& p) : g(p.graph), kernels(p.graph, p.roots()), escaped_(g.size()), reads_(kernels.kernels.size()) {
  for (const ResultDef& r : p.results)
    if (g[r.node].place) escaped_[g[r.node].base] = true;
  auto roots = p.roots();
  for (NodeId n : cone(g, roots)) {
    auto srcs = g.srcs(n);
    if (g.op(n) == Op::Load && srcs.size() == 3) gated_[srcs[0]].push_back(n);
    for (size_t i = 0; i < srcs.size(); ++i) {
      if (!g[srcs[i]].place || g.op(g[srcs[i]].base) != Op::Stage) continue;
      bool element = g.rank(srcs[i]) == 0 && g.op(n) == Op::Load && i == 0;
      bool address = g.op(srcs[i]) == Op::Stage && g.op(n) == Op::Index && i == 0;
      if (!element && !address) escaped_[g[srcs[i]].base] = true;
    }
  }
  for (uint32_t k = 0; k < count(); ++k) {
    for (const KernelRead& r : kernels.kernels[k].reads) reads_[k].emplace_back(r.base, r.index);
    std::ranges::sort(reads_[k]);
    auto same = std::ranges::unique(reads_[k]);
    reads_[k].erase(same.begin(), same.end());
  }
  findClosers();
}

// Users come after sources, so that what is around an outer loop is complete when an inner one asks.
void KernelFacts::findClosers() {
  around_.resize(count());
  for (uint32_t k = 0; k < count(); ++k) {
    const auto& nodes = kernels.kernels[k].nodes;
    for (auto it = nodes.rbegin(); it != nodes.rend(); ++it) {
      if (kernels.isRoot(*it) || !hasTrait(g.op(*it), trait::ClosesRanges)) continue;
      std::set<NodeId> loops(g.open(*it).begin(), g.open(*it).end());
      for (NodeId r : g.open(*it))
        if (auto outer = around_[k].find(r); outer != around_[k].end()) loops.insert(outer->second.begin(), outer->second.end());
      for (NodeId r : g.srcs(*it).subspan(1)) around_[k][r].insert(loops.begin(), loops.end());
    }
  }
}

double KernelFacts::evaluations(uint32_t k, NodeId n) const {
  std::set<NodeId> own(g.open(n).begin(), g.open(n).end());
  if (auto loads = gated_.find(n); loads != gated_.end())
    for (NodeId load : loads->second) own.insert(g.open(load).begin(), g.open(load).end());
  std::set<NodeId> loops = own;
  for (NodeId r : own)
    if (auto outer = around_[k].find(r); outer != around_[k].end()) loops.insert(outer->second.begin(), outer->second.end());
  double out = 1;
  for (NodeId r : loops) out *= static_cast<double>(bound(r));
  return out;
}

bool KernelFacts::ours(uint32_t k) const {
  const Kernel& kernel = kernels.kernels[k];
  NodeId root = kernel.roots[0];
  return kernel.roots.size() == 1 && g.op(root) == Op::Stage && g.space(root) == Space::Global && !stageReason(g, root).empty();
}

NodeId KernelFacts::decidable(uint32_t k) const {
  NodeId root = kernels.kernels[k].roots[0];
  return ours(k) && !escaped_[root] ? root : kNoNode;
}

std::vector<NodeId> KernelFacts::outer(uint32_t k) const {
  NodeId root = kernels.kernels[k].roots[0];
  std::vector<NodeId> out;
  if (!hasTrait(g.op(root), trait::ClosesRanges)) return out;
  for (NodeId r : g.srcs(root).subspan(1))
    if (bound(r) != 1) out.push_back(r);
  return out;
}

std::span<const uint32_t> KernelFacts::readers(uint32_t k) const {
  auto it = kernels.users.find(kernels.kernels[k].roots[0]);
  return it == kernels.users.end() ? std::span<const uint32_t>{} : it->second;
}

std::vector<NodeId> KernelFacts::reads(uint32_t reader, uint32_t k) const {
  std::vector<NodeId> out;
  for (const Read& r : std::ranges::equal_range(reads_[reader], kernels.kernels[k].roots[0], {}, &Read::first)) out.push_back(r.second);
  return out;
}

bool KernelFacts::readsFrom(uint32_t reader, NodeId base) const { return std::ranges::binary_search(reads_[reader], base, {}, &Read::first); }

bool KernelFacts::readsSettled(uint32_t k) const {
  return std::ranges::all_of(kernels.kernels[k].reads, [&](const KernelRead& r) {
    auto it = kernels.writers.find(r.base);
    return it == kernels.writers.end() || (!r.live && kernels.writersBefore(r.version).size() == it->second.size());
  });
}

int64_t KernelFacts::bound(NodeId range) const { return g.constInt(g.src(range, 0)).value_or(kUnknown); }

int64_t KernelFacts::iterations(NodeId n) const {
  int64_t out = 1;
  for (NodeId r : g.open(n))
    if (__builtin_mul_overflow(out, bound(r), &out)) return INT64_MAX;
  return out;
}

bool KernelFacts::canRepeat(uint32_t k) const {
  return std::ranges::all_of(kernels.kernels[k].nodes, [&](NodeId n) {
    Op op = g.op(n);
    // Elsewhere a loop whose length depends on others would be another, under the same id.
    if (op == Op::Range) return g.open(g.src(n, 0)).empty();
    return kernels.isRoot(n) || (op != Op::Stage && op != Op::After && op != Op::Alloc && !hasTrait(op, trait::Effect));
  });
}

bool KernelFacts::isTable(uint32_t k) const {
  return canRepeat(k) && std::ranges::none_of(kernels.kernels[k].nodes, [&](NodeId n) { return g.op(n) == Op::Load; });
}

double KernelFacts::operations(uint32_t k) const {
  double out = 0;
  for (NodeId n : kernels.kernels[k].nodes) {
    int64_t each = g.op(n) == Op::Reduce ? 1 : hasTrait(g.op(n), trait::Transcendental) ? 8 : costOf(g, n);
    if (each >= kCostly) continue;
    NodeId at = g.op(n) == Op::Reduce ? g.src(n, 0) : n;
    out += static_cast<double>(each) * static_cast<double>(iterations(at));
  }
  return out;
}

bool KernelFacts::isProduct(NodeId reduce) const {
  std::vector<NodeId> around;
  for (NodeId r : g.open(reduce))
    if (bound(r) != 1) around.push_back(r);
  // Rows of several lengths, as under a causal mask, are no block of a matrix.
  bool ragged = std::ranges::any_of(g.srcs(reduce).subspan(1), [&](NodeId r) { return !g.open(g.src(r, 0)).empty(); });
  if (around.empty() || ragged) return false;
  size_t loads = 0;
  std::unordered_set<NodeId> seen;
  std::vector<NodeId> todo{g.src(reduce, 0)};
  while (!todo.empty()) {
    NodeId n = todo.back();
    todo.pop_back();
    if (!seen.insert(n).second) continue;
    if (g.op(n) != Op::Load) {
      for (NodeId s : g.srcs(n)) todo.push_back(s);
      continue;
    }
    ++loads;
    if (std::ranges::all_of(around, [&](NodeId r) { return g.isOpen(n, r); })) return false;
  }
  return loads > 1;
}

bool KernelFacts::hasProduct(uint32_t k) const {
  return std::ranges::any_of(kernels.kernels[k].nodes, [&](NodeId n) { return g.op(n) == Op::Reduce && isProduct(n); });
}

std::unordered_set<NodeId> KernelFacts::productTerms(uint32_t k) const {
  std::unordered_set<NodeId> out;
  const auto& nodes = kernels.kernels[k].nodes;
  for (auto it = nodes.rbegin(); it != nodes.rend(); ++it) {
    if (g.op(*it) == Op::Reduce && isProduct(*it)) out.insert(g.src(*it, 0));
    if (out.contains(*it)) out.insert(g.srcs(*it).begin(), g.srcs(*it).end());
  }
  return out;
}

LoopChain KernelFacts::hoisted(uint32_t k) const {
  std::vector<NodeId> loops = outer(k);
  std::vector<LoopChain::Set> found;
  for (NodeId n : kernels.kernels[k].nodes) {
    if (!hasTrait(g.op(n), trait::ClosesRanges) || kernels.isRoot(n)) continue;
    LoopChain::Set around;
    for (NodeId r : loops)
      if (g.isOpen(n, r)) around.insert(r);
    if (around.size() < loops.size()) found.push_back(std::move(around));
  }
  std::ranges::sort(found);
  auto same = std::ranges::unique(found);
  found.erase(same.begin(), same.end());
  LoopChain out;
  for (const LoopChain::Set& s : found) out.add(s);
  return out;
}

bool LoopChain::fits(const Set& s) const {
  return std::ranges::all_of(sets_, [&](const Set& o) { return std::ranges::includes(o, s) || std::ranges::includes(s, o); });
}

LoopChain::Set LoopChain::fitting(Set wanted) const {
  for (const Set& o : sets_) {
    if (std::ranges::includes(o, wanted) || std::ranges::includes(wanted, o)) continue;
    wanted.eraseIf([&](NodeId r) { return !o.contains(r); });
  }
  return wanted;
}

static Result<Program> fuseFunction(Program p, PassContext& ctx) {
  FuseOptions options{ctx.options.integer("local-bytes"), ctx.options.integer("inline-ops"), ctx.options.integer("max-kernel-nodes"), ctx.options.integer("serial-work")};
  fuseInline(p, options);
  if (options.inlineOps > 0) fuseStencil(p, options);
  if (fuseLocal(p, options) && fuseInline(p, options, true)) fuseLocal(p, options);
  if (fuseMerge(p, options)) {
    fuseInline(p, options, true);
    fuseLocal(p, options);
  }
  remarkStages(p, "kept", ctx);
  return p;
}

Result<Program> runFuse(Program p, PassContext& ctx) { return runOnFunctions(std::move(p), ctx, fuseFunction); }

}  // namespace uop
