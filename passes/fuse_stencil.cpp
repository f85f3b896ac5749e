// fuse, step 2: values that their user reads in a neighbourhood (at r + c, for several constants c) stay inside its kernel, for
// a block of r at a time: of each value, a block and its margins are computed before the block that reads it. What lies in the
// margins is computed twice. Overlapped tiling (Krishnamoorthy et al., PLDI 2007), Halide's compute_at over a split loop.
#include "passes/fuse.h"
#include "passes/index_math.h"

namespace uop {
namespace {

constexpr double kAgain = 0.125;       // of all rows of the tiles may be computed twice
constexpr int64_t kTiles = 3;          // times the largest tile is what all of them may take
constexpr size_t kMaxMembers = 64;     // of one chain

// A RANGE that is cut into blocks: the root's, or that of a tile, which begins `lo` rows before the root's block.
struct Cut {
  NodeId loop;
  int64_t lo = 0, hi = 0;  // rows about each of the root's that are wanted
  NodeId inner = kNoNode;  // the RANGE within a block
  NodeId row = kNoNode;    // which row that is
  NodeId gate = kNoNode;   // whether there is such a row; kNoNode: always
};

struct Member {
  uint32_t kernel;
  size_t axis;  // of a tile
  Cut cut;
};

// The kernel that keeps its loops, first, and those that become tiles in it.
using Chain = std::vector<Member>;

class Tiler {
 public:
  Tiler(Program& p, const FuseOptions& options) : p_(p), g_(p.graph), options_(options), facts_(p), math_(g_), fresh_(freshIds(g_, p.roots())) {}
  void run();

 private:
  bool isPlain(uint32_t k) const;
  bool canLead(uint32_t k) const;
  Chain chainFrom(uint32_t root, NodeId loop) const;
  std::optional<Member> joining(const Chain&, uint32_t k) const;
  std::optional<int64_t> offset(NodeId index, NodeId loop) const;
  int64_t blockFor(const Chain&) const;
  void cut(Chain&, int64_t block);
  NodeId visit(NodeId old, std::span<const NodeId> sources);
  NodeId tileIndex(NodeId old, std::span<const NodeId> sources);
  NodeId gatedLoad(NodeId old, std::span<const NodeId> sources);
  NodeId rootStage(NodeId old, std::span<const NodeId> sources);
  std::vector<NodeId> cutLoops(NodeId closer, std::span<const NodeId> sources) const;

  Program& p_;
  Graph& g_;
  const FuseOptions& options_;
  KernelFacts facts_;
  IndexMath math_;
  FreshIds fresh_;
  std::unordered_map<NodeId, Member> tiles_;   // by STAGE
  std::unordered_map<NodeId, NodeId> roots_;   // STAGE or END → the loop over its blocks
  std::unordered_map<NodeId, Cut> cuts_;       // by RANGE
};

// Whether a kernel is arithmetic and LOADs alone, which may as well be done block by block.
bool Tiler::isPlain(uint32_t k) const {
  return std::ranges::all_of(facts_[k].nodes, [&](NodeId n) {
    Op op = g_.op(n);
    if (facts_.kernels.isRoot(n)) return true;
    bool closed = op != Op::After || g_.open(n).empty();
    bool heavy = hasTrait(op, trait::Transcendental) || hasTrait(op, trait::ClosesRanges);
    return closed && !heavy && (op == Op::Store || op == Op::Sink || !hasTrait(op, trait::Effect));
  });
}

bool Tiler::canLead(uint32_t k) const {
  const Kernel& kernel = facts_[k];
  bool live = std::ranges::any_of(kernel.reads, &KernelRead::live);
  bool serial = std::ranges::all_of(facts_.outer(k), [&](NodeId r) { return g_.kind(r) == Kind::Loop; });  // a tile is no other task's
  return (facts_.ours(k) || g_.op(kernel.roots[0]) == Op::End) && !live && serial && isPlain(k);
}

std::optional<int64_t> Tiler::offset(NodeId index, NodeId loop) const {
  if (index == loop) return 0;
  return g_.op(index) == Op::Add && g_.src(index, 0) == loop ? g_.constInt(g_.src(index, 1)) : std::nullopt;
}

// Kernel k as a tile of the chain, all of its readers being members.
std::optional<Member> Tiler::joining(const Chain& chain, uint32_t k) const {
  NodeId stage = facts_.decidable(k);
  if (stage == kNoNode || facts_.bytes(stage) <= options_.localBytes || !isPlain(k) || !facts_.readsSettled(k)) return std::nullopt;
  std::set<NodeId> written;
  for (auto [base, at] : facts_[chain[0].kernel].writes) written.insert(base);
  if (std::ranges::any_of(facts_[k].reads, [&](const KernelRead& r) { return written.contains(r.base); })) return std::nullopt;
  auto ranges = g_.srcs(stage).subspan(1);
  for (size_t axis = 0; axis < ranges.size(); ++axis) {
    Member out{k, axis, {ranges[axis], INT64_MAX, INT64_MIN}};
    auto all = facts_.readers(k);
    std::set<uint32_t> readers(all.begin(), all.end());
    size_t fitting = 0, reads = 0;
    for (const Member& m : chain) {
      if (readers.erase(m.kernel) == 0) continue;
      for (NodeId read : facts_.reads(m.kernel, k)) {
        ++reads;
        auto c = g_.op(read) == Op::Index && g_.src(read, 0) == stage ? offset(g_.src(read, 1 + axis), m.cut.loop) : std::nullopt;
        if (!c) continue;
        ++fitting;
        out.cut.lo = std::min(out.cut.lo, m.cut.lo + *c);
        out.cut.hi = std::max(out.cut.hi, m.cut.hi + *c);
      }
    }
    if (!readers.empty()) return std::nullopt;
    if (fitting == reads) return out;
  }
  return std::nullopt;
}

// Rows in a block; 0 where no size will do.
int64_t Tiler::blockFor(const Chain& chain) const {
  int64_t rows = facts_.bound(chain[0].cut.loop), most = (rows + 1) / 2, perRow = 0, margins = 0, span = 0;
  if (rows >= KernelFacts::kUnknown) return 0;
  for (const Member& m : std::span(chain).subspan(1)) {
    int64_t bytes = facts_.bytes(facts_[m.kernel].roots[0]) / facts_.bound(m.cut.loop), margin = m.cut.hi - m.cut.lo;
    most = std::min(most, options_.localBytes / bytes - margin);
    perRow += bytes;
    margins += bytes * margin;
    span += margin;
  }
  most = std::min(most, (kTiles * options_.localBytes - margins) / perRow);
  int64_t block = most;
  while (block > most / 2 && block > 0 && rows % block != 0) --block;
  if (block <= most / 2) block = most;
  bool little = static_cast<double>(span) <= kAgain * static_cast<double>(block) * static_cast<double>(chain.size() - 1);
  return block > 1 && little ? block : 0;
}

// The longest chain of tiles for one loop of a kernel: each that joins is read by members alone.
Chain Tiler::chainFrom(uint32_t root, NodeId loop) const {
  Chain chain{{root, 0, {loop}}};
  for (size_t i = 0; i < chain.size() && chain.size() < kMaxMembers; ++i)
    for (uint32_t d : facts_[chain[i].kernel].deps) {
      bool known = std::ranges::any_of(chain, [&](const Member& m) { return m.kernel == d; });
      auto member = known ? std::nullopt : joining(chain, d);
      if (!member) continue;
      chain.push_back(*member);
      if (blockFor(chain) == 0) chain.pop_back();
    }
  return chain;
}

void Tiler::cut(Chain& chain, int64_t block) {
  Cut& root = chain[0].cut;
  int64_t rows = facts_.bound(root.loop);
  NodeId blocks = g_.range((rows + block - 1) / block, fresh_.range++, Kind::Loop), begin = math_.mul(blocks, block), bound = g_.index(block);
  if (rows % block != 0) {
    NodeId left = math_.add(math_.mul(begin, -1), g_.index(rows));
    bound = g_.where(g_.binary(Op::CmpLt, left, bound), left, bound);
  }
  root.inner = g_.range(bound, fresh_.range++, g_.kind(root.loop));
  root.row = math_.add(begin, root.inner);
  cuts_[root.loop] = root;
  roots_[facts_[chain[0].kernel].roots[0]] = blocks;
  int64_t last = (rows + block - 1) / block * block - 1;
  for (Member& m : std::span(chain).subspan(1)) {
    Cut& c = m.cut;
    c.inner = g_.range(block + c.hi - c.lo, fresh_.range++, Kind::Loop);
    c.row = math_.add(math_.add(begin, c.inner), g_.index(c.lo));
    if (c.lo < 0) c.gate = math_.lt(g_.index(-1), c.row);
    if (last + c.hi >= facts_.bound(c.loop)) c.gate = math_.both(c.gate, math_.lt(c.row, g_.index(facts_.bound(c.loop))));
    cuts_[c.loop] = c;
    tiles_.emplace(facts_[m.kernel].roots[0], m);
  }
}

// The loops that a closer had, those over blocks outermost.
std::vector<NodeId> Tiler::cutLoops(NodeId closer, std::span<const NodeId> sources) const {
  std::vector<NodeId> out{roots_.at(closer)};
  for (size_t i = 1; i < sources.size(); ++i) {
    auto it = cuts_.find(g_.src(closer, i));
    if (it != cuts_.end()) out.push_back(it->second.inner);
    else if (facts_.bound(sources[i]) != 1 || g_.op(closer) == Op::End) out.push_back(sources[i]);
  }
  return out;
}

// Loops that no STAGE can have, since its shape is theirs, need a place and a STORE.
NodeId Tiler::rootStage(NodeId old, std::span<const NodeId> sources) {
  NodeId place = g_.alloc(fresh_.slot++, g_.dtype(old), g_.shape(old), Space::Global);
  std::vector<NodeId> index;
  for (NodeId r : sources.subspan(1)) index.push_back(g_.op(r) == Op::Range && facts_.bound(r) == 1 ? g_.index(0) : r);
  NodeId end[] = {g_.end(g_.store(g_.indexInto(place, index), sources[0]), cutLoops(old, sources))};
  return g_.after(place, end);
}

NodeId Tiler::tileIndex(NodeId old, std::span<const NodeId> sources) {
  const Member& tile = tiles_.at(g_.src(old, 0));
  NodeId at = g_.src(old, 1 + tile.axis), loop = g_.op(at) == Op::Range ? at : g_.src(at, 0);
  const Cut& reader = cuts_.at(loop);
  std::vector<NodeId> index(sources.begin() + 1, sources.end());
  index[tile.axis] = math_.add(reader.inner, g_.index(reader.lo + *offset(at, loop) - tile.cut.lo));
  return g_.indexInto(sources[0], index);
}

// Rows of a margin that are none read nothing.
NodeId Tiler::gatedLoad(NodeId old, std::span<const NodeId> sources) {
  for (NodeId r : g_.open(old)) {
    auto it = cuts_.find(r);
    if (it == cuts_.end() || it->second.gate == kNoNode || tiles_.contains(g_[g_.src(old, 0)].base)) continue;
    NodeId alt = sources.size() == 3 ? sources[1] : g_.constant(g_.dtype(old), zeroOf(g_.dtype(old)));
    return g_.make(Op::Load, {sources[0], alt, sources.size() == 3 ? math_.both(sources[2], it->second.gate) : it->second.gate});
  }
  return g_.remake(g_, old, sources);
}

NodeId Tiler::visit(NodeId old, std::span<const NodeId> sources) {
  Op op = g_.op(old);
  if (auto it = cuts_.find(old); it != cuts_.end()) return it->second.row;
  if (op == Op::Index && tiles_.contains(g_.src(old, 0))) return tileIndex(old, sources);
  if (op == Op::Load) return gatedLoad(old, sources);
  if (auto it = tiles_.find(old); it != tiles_.end()) {
    std::vector<NodeId> ranges(sources.begin() + 1, sources.end());
    ranges[it->second.axis] = it->second.cut.inner;
    return g_.stage(sources[0], ranges, Space::Local);
  }
  if (!roots_.contains(old)) return g_.remake(g_, old, sources);
  return op == Op::Stage ? rootStage(old, sources) : g_.end(sources[0], cutLoops(old, sources));
}

void Tiler::run() {
  std::unordered_set<uint32_t> taken;
  for (uint32_t k = static_cast<uint32_t>(facts_.count()); k-- > 0;) {
    if (taken.contains(k) || !canLead(k)) continue;
    Chain best;
    for (NodeId loop : facts_.outer(k)) {
      Chain chain = chainFrom(k, loop);
      if (chain.size() > std::max<size_t>(best.size(), 1)) best = std::move(chain);
      if (g_.op(facts_[k].roots[0]) == Op::End) break;  // the order of its other loops stays
    }
    if (best.empty()) continue;
    for (const Member& m : best) taken.insert(m.kernel);
    cut(best, blockFor(best));
  }
  if (cuts_.empty()) return;
  retarget(p_, rebuildNodes(g_, p_.roots(), [&](NodeId old, std::span<const NodeId> sources, const auto&) { return visit(old, sources); }));
}

}  // namespace

void fuseStencil(Program& p, const FuseOptions& options) { Tiler(p, options).run(); }

}  // namespace uop
