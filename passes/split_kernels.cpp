#include "passes/split_kernels.h"

#include "passes/each_function.h"
#include "passes/splice_calls.h"

namespace uop {
namespace {

constexpr int kMaxRounds = 64;

// A STAGE that copies a version of a place.
NodeId copyOf(Graph& g, NodeId version, int64_t& nextRange) {
  std::vector<NodeId> ranges, index;
  for (Dim d : g.shape(version)) {
    ranges.push_back(g.range(d, nextRange++, Kind::Loop));
    index.push_back(d == 1 ? g.index(0) : ranges.back());
  }
  return g.stage(g.load(g.indexInto(version, index)), ranges, Space::Global);
}

// A result may be a place in another shape.
NodeId unshaped(const Graph& g, NodeId place) { return g.op(place) == Op::Reshape ? g.src(place, 0) : place; }

NodeId shaped(Graph& g, NodeId place, std::span<const Dim> shape) {
  return std::ranges::equal(g.shape(place), shape) ? place : g.reshape(place, shape);
}

// Every LOAD, and every CALL, of a snapshot version reads its copy instead.
void readCopies(Program& p, const std::set<NodeId>& versions) {
  Graph& g = p.graph;
  Functions functions(g);
  int64_t nextRange = freshIds(g, p.roots()).range;
  std::unordered_map<NodeId, NodeId> copies;
  auto copied = [&](NodeId version, NodeId current) {
    auto [copy, fresh] = copies.try_emplace(version, kNoNode);
    if (fresh) copy->second = copyOf(g, current, nextRange);
    return copy->second;
  };
  auto now = rebuildNodes(g, p.roots(), [&](NodeId old, std::span<const NodeId> sources, const auto&) {
    std::vector<NodeId> srcs(sources.begin(), sources.end());
    if (g.op(old) == Op::Call) {
      const std::vector<int64_t>& written = functions.body(srcs[0]).written;
      for (size_t i = 1; i < srcs.size(); ++i)
        if (versions.contains(g.src(old, i)) && !std::ranges::binary_search(written, static_cast<int64_t>(i) - 1)) srcs[i] = copied(g.src(old, i), srcs[i]);
    }
    if (g.op(old) != Op::Load) return g.remake(g, old, srcs);
    bool indexed = g.op(g.src(old, 0)) == Op::Index;
    NodeId version = indexed ? g.src(g.src(old, 0), 0) : g.src(old, 0);
    if (!versions.contains(version)) return g.remake(g, old, sources);
    NodeId copy = copied(version, indexed ? g.src(sources[0], 0) : sources[0]);
    srcs[0] = indexed ? g.indexInto(copy, g.srcs(sources[0]).subspan(1)) : copy;
    return g.remake(g, old, srcs);
  });
  retarget(p, now);
}

// Results that are read after later writes have replaced them are copied when they are right.
bool keepResults(Program& p, const KernelAnalysis& a) {
  Graph& g = p.graph;
  int64_t nextRange = freshIds(g, p.roots()).range;
  bool changed = false;
  for (ResultDef& r : p.results) {
    NodeId place = unshaped(g, r.node);
    if (!g[place].place || a.isRoot(place)) continue;
    auto it = a.writers.find(g[place].base);
    bool stale = it != a.writers.end() && a.writersBefore(place).size() != it->second.size();
    bool scratch = g.op(g[place].base) == Op::Alloc && it == a.writers.end();  // never written: still needs storage
    if (!stale && !scratch) continue;
    r.node = shaped(g, copyOf(g, place, nextRange), g.shape(r.node));
    changed = true;
  }
  return changed;
}

class Splitter {
 public:
  Splitter(Program& p, const KernelAnalysis& a)
      : p_(p), g_(p.graph), a_(a), launches_(g_, freshIds(g_, p.roots())), splicer_(p, launches_), now_(g_.size(), kNoNode), calls_(a.kernels.size()) {}
  void run(const std::vector<uint32_t>& order);

 private:
  NodeId bodyOf(const Kernel& k, std::vector<NodeId>& args);
  NodeId mapNode(const Kernel& k, NodeId n);
  std::vector<NodeId> loopOrder(const Kernel& k) const;
  std::vector<NodeId> orderedBefore(const Kernel& k, std::span<const NodeId> bases) const;
  std::vector<NodeId> callsFor(const Kernel& k);
  NodeId effectOf(uint32_t kernel);
  NodeId resultOf(NodeId n);
  void setParams(const Kernel& k, std::vector<NodeId>& args);
  bool isMapped(NodeId n) const { return now_[n] != kNoNode; }
  void map(NodeId n, NodeId to) { now_[n] = to, mapped_.push_back(n); }
  void forget();

  Program& p_;
  Graph& g_;
  const KernelAnalysis& a_;
  Launches launches_;
  CallSplicer splicer_;
  std::vector<NodeId> now_;                                     // in the kernel being made
  std::vector<NodeId> mapped_;
  std::vector<std::vector<NodeId>> calls_;                      // by kernel
  int64_t nextRange_ = 0, nextAlloc_ = 0;
};

// PARAMs of the body, by ascending id of what they stand for. A place of rank 0 is passed as one of shape [1].
void Splitter::setParams(const Kernel& k, std::vector<NodeId>& args) {
  std::set<NodeId> bases;
  for (const KernelRead& r : k.reads) bases.insert(r.base);
  for (auto [base, at] : k.writes) bases.insert(base);
  for (NodeId n : k.nodes)
    if (g_.op(n) == Op::Param && !g_[n].place) bases.insert(n);
  if (k.makesValues(g_)) bases.insert(k.roots.begin(), k.roots.end());
  for (NodeId base : bases) {
    if (a_.isPrivate(base)) continue;
    Attrs attrs;
    std::vector<Dim> shape(g_.shape(base).begin(), g_.shape(base).end());
    bool flat = shape.empty() && g_[base].place;
    if (flat) shape = {1};
    attrs.set(AttrKey::Slot, static_cast<int64_t>(args.size())).set(AttrKey::DTypeKey, static_cast<int64_t>(g_.dtype(base))).set(AttrKey::Shape, g_.list(shape));
    for (AttrKey bound : {AttrKey::Min, AttrKey::Max})
      if (g_.hasAttr(base, bound)) attrs.set(bound, g_.attr(base, bound));
    NodeId param = g_.make(Op::Param, {}, attrs);
    NodeId zero[] = {g_.index(0)};
    map(base, flat ? g_.indexInto(param, zero) : param);
    args.push_back(base);
  }
}

void Splitter::forget() {
  for (NodeId n : mapped_) now_[n] = kNoNode;
  mapped_.clear();
}

NodeId Splitter::mapNode(const Kernel& k, NodeId n) {
  Op op = g_.op(n);
  std::vector<NodeId> srcs;
  if (op == Op::Alloc) return g_.make(Op::Alloc, {}, g_.attrsOf(n).set(AttrKey::Slot, nextAlloc_++));
  if (op == Op::Sink) {
    for (NodeId s : g_.srcs(n))
      if (isMapped(s)) srcs.push_back(now_[s]);
    return g_.make(Op::Sink, srcs);
  }
  if (op == Op::After) {
    std::vector<NodeId> todo(g_.srcs(n).begin() + 1, g_.srcs(n).end());
    for (NodeId s : todo)
      if (isMapped(s) && !(a_.isRoot(s) && s != k.roots[0])) srcs.push_back(now_[s]);
    return g_.after(now_[g_.src(n, 0)], srcs);
  }
  for (NodeId s : g_.srcs(n)) srcs.push_back(now_[s]);
  if (op == Op::Range) return g_.make(Op::Range, srcs, g_.attrsOf(n).set(AttrKey::Id, nextRange_++));
  return g_.remake(g_, n, srcs);
}

NodeId Splitter::bodyOf(const Kernel& k, std::vector<NodeId>& args) {
  forget();
  nextRange_ = nextAlloc_ = 0;
  setParams(k, args);
  if (k.makesValues(g_))  // a loop of one iteration is none
    for (NodeId root : k.roots)
      for (NodeId r : g_.srcs(root).subspan(1))
        if (runsOnce(g_, r) && !isMapped(r)) map(r, g_.index(0));
  for (NodeId n : k.nodes)
    if (!a_.isRoot(n) && !isMapped(n)) map(n, mapNode(k, n));
  if (!k.makesValues(g_)) return mapNode(k, k.roots[0]);
  std::vector<NodeId> stores, loops, index;
  for (NodeId root : k.roots) {
    index.clear();
    for (NodeId r : g_.srcs(root).subspan(1)) index.push_back(now_[r]);
    NodeId place = now_[root];
    stores.push_back(g_.store(index.empty() ? place : g_.indexInto(place, index), now_[g_.src(root, 0)]));
  }
  for (NodeId r : loopOrder(k)) loops.push_back(now_[r]);
  return g_.end(stores.size() == 1 ? stores[0] : g_.make(Op::Sink, stores), loops);
}

// The loops of a kernel that makes values, outermost first: those that most of what is inside of it is in, so that nothing
// is computed again in a loop that it does not need.
std::vector<NodeId> Splitter::loopOrder(const Kernel& k) const {
  std::vector<NodeId> out;
  for (NodeId r : g_.srcs(k.roots[0]).subspan(1))
    if (!runsOnce(g_, r)) out.push_back(r);
  std::map<NodeId, size_t> inside;
  for (NodeId n : k.nodes)
    if (hasTrait(g_.op(n), trait::ClosesRanges) && !a_.isRoot(n))
      for (NodeId r : g_.open(n)) ++inside[r];
  std::ranges::stable_sort(out, std::greater{}, [&](NodeId r) { return inside[r]; });
  return out;
}

// The CALLs of kernels that come first without leaving anything that is among `bases`.
std::vector<NodeId> Splitter::orderedBefore(const Kernel& k, std::span<const NodeId> bases) const {
  std::vector<NodeId> touching, out;
  for (NodeId b : bases)
    if (NodeId writer = launches_.lastWriter(b); writer != kNoNode) touching.push_back(writer);
  std::ranges::sort(touching);
  for (uint32_t d : k.deps)
    if (std::ranges::none_of(calls_[d], [&](NodeId call) { return std::ranges::binary_search(touching, call); })) out.insert(out.end(), calls_[d].begin(), calls_[d].end());
  return out;
}

std::vector<NodeId> Splitter::callsFor(const Kernel& k) {
  std::vector<NodeId> bases;
  if (k.isCall(g_)) {
    for (const KernelRead& r : k.reads) bases.push_back(r.base);
    return splicer_.splice(k.roots[0], orderedBefore(k, bases));
  }
  NodeId body = bodyOf(k, bases);
  std::set<NodeId> written;
  for (auto [base, at] : k.writes) written.insert(base);
  if (k.makesValues(g_)) written.insert(k.roots.begin(), k.roots.end());
  std::vector<LaunchArgument> arguments;
  for (NodeId base : bases) arguments.push_back({base, written.contains(base)});
  NodeId call = launches_.launch(body, arguments, orderedBefore(k, bases));
  for (NodeId root : k.roots)
    if (p_.hasTag(root)) p_.setTag(call, p_.tag(root));
  return {call};
}

NodeId Splitter::effectOf(uint32_t kernel) {
  const std::vector<NodeId>& calls = calls_[kernel];
  return calls.size() == 1 ? calls[0] : g_.make(Op::Sink, calls);
}

NodeId Splitter::resultOf(NodeId n) {
  if (g_.op(n) == Op::Sink) {
    std::vector<NodeId> srcs;
    for (NodeId s : g_.srcs(n)) srcs.push_back(resultOf(s));
    return g_.make(Op::Sink, srcs);
  }
  if (hasTrait(g_.op(n), trait::Effect)) return effectOf(a_.kernelOf(n));
  if (!g_[n].place) return n;
  NodeId base = g_[n].base, version = unshaped(g_, n);
  std::vector<NodeId> deps;
  if (NodeId writer = launches_.lastWriter(base); writer != kNoNode) deps.push_back(writer);
  for (uint32_t d : a_.closedDeps(version)) {
    bool known = std::ranges::any_of(calls_[d], [&](NodeId call) { return std::ranges::find(deps, call) != deps.end(); });
    if (!known) deps.insert(deps.end(), calls_[d].begin(), calls_[d].end());
  }
  return shaped(g_, g_.after(launches_.place(base), deps), g_.shape(n));
}

void Splitter::run(const std::vector<uint32_t>& order) {
  for (uint32_t k : order) calls_[k] = callsFor(a_.kernels[k]);
  for (ResultDef& r : p_.results) r.node = resultOf(r.node);
}

}  // namespace

static Result<Program> splitFunction(Program p, PassContext& ctx) {
  for (int round = 0; round < kMaxRounds; ++round) {
    KernelAnalysis analysis(p.graph, p.roots());
    if (keepResults(p, analysis)) continue;
    KernelOrder order = orderKernels(p.graph, analysis);
    if (order.snapshots.empty()) {
      Splitter(p, analysis).run(order.order);
      ctx.remarks.push_back(fmt::format("{} kernels", analysis.kernels.size()));
      return p;
    }
    ctx.remarks.push_back(fmt::format("copied before they are overwritten: {} places", order.snapshots.size()));
    readCopies(p, order.snapshots);
  }
  internalError("split-kernels: copying before writes does not come to an end");
}

Result<Program> runSplitKernels(Program p, PassContext& ctx) { return runOnFunctions(std::move(p), ctx, splitFunction); }

}  // namespace uop
