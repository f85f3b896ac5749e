// fuse, step 3: values that one kernel alone reads stay inside it; one that is made of loop variables alone (a table) is made by
// each kernel that reads it, where that adds little. Users come before sources, so that a tile's own reads count as its user's.
#include "passes/fuse.h"
#include "passes/stage_reason.h"
#include "passes/substitute.h"

namespace uop {
namespace {

constexpr double kTableShare = 0.05;  // of a user's own work, which making a table again may add

// What becomes of one STAGE in the kernel that reads it.
struct Tile {
  std::vector<NodeId> at;    // by axis: the user's loop at which it is read, kNoNode where reads differ, the STAGE's own RANGE of one iteration
  LoopChain::Set loops;      // of the user that it is in
  std::vector<size_t> axes;  // that remain; the other RANGEs are the user's
  bool gone = false;         // its user computes it where it reads it
};

// A STAGE as one of several users makes it for itself.
struct Copy {
  NodeId stage;
  Tile tile;
  NodeId made = kNoNode;
};

// A kernel and all that was taken into it.
struct Host {
  std::vector<NodeId> outer;
  LoopChain chain;
  std::unordered_set<NodeId> terms;  // of its products
  std::set<NodeId> writes;
  bool ordered = false;  // its loops may not change places
  bool heavy = false;    // has a reduction, or functions worth keeping
  bool fresh = true;     // nothing was taken into it
  size_t nodes = 0;
  int64_t work = 0;    // iterations of its longest loops
  int64_t all = 0;     // of those of each kernel in it
  double cost = 0;     // operations of all iterations
};

class Localiser {
 public:
  Localiser(Program& p, const FuseOptions& options) : p_(p), g_(p.graph), options_(options), facts_(p), joined_(facts_.count()) {}
  bool run();

 private:
  void findHosts();
  const char* decide(uint32_t k);
  const char* plan(uint32_t k, const Host& host, const std::vector<NodeId>& reads, Tile& tile) const;
  void settle(uint32_t k, Host& host, const Tile& tile);
  const char* copyInto(uint32_t k, const std::map<uint32_t, std::vector<NodeId>>& readsOf);
  std::vector<NodeId> agreed(NodeId stage, const Host& host, const std::vector<NodeId>& reads) const;
  bool hoistsAlike(uint32_t k, const Host& host, const Tile& tile) const;
  const char* objection(uint32_t k, const Host& host, const LoopChain::Set& loops, int64_t tileBytes, bool whole, const std::vector<NodeId>& reads) const;
  NodeId copied(Copy& copy, const std::vector<NodeId>& now);
  NodeId indexed(const Tile& tile, NodeId place, std::span<const NodeId> sources);
  NodeId visit(NodeId old, std::span<const NodeId> sources, const std::vector<NodeId>& now);

  Program& p_;
  Graph& g_;
  const FuseOptions& options_;
  KernelFacts facts_;
  Joined joined_;
  std::vector<Host> hosts_;
  std::unordered_map<NodeId, Tile> tiles_;       // by STAGE
  std::vector<Copy> copies_;
  std::unordered_map<NodeId, size_t> copyAt_;    // INDEX → the copy that it reads
  int64_t nextRange_ = 0;
  std::unordered_map<NodeId, const char*> kept_; // STAGE → why it stays global
};

void Localiser::findHosts() {
  for (uint32_t k = 0; k < facts_.count(); ++k) {
    Host h;
    NodeId root = facts_[k].roots[0];
    h.outer = facts_.outer(k);
    h.ordered = g_.op(root) != Op::Stage;
    h.terms = facts_.productTerms(k);
    for (auto [base, at] : facts_[k].writes) h.writes.insert(base);
    h.nodes = facts_[k].nodes.size();
    h.chain = facts_.hoisted(k);
    for (NodeId n : facts_[k].nodes) {
      h.work = std::max(h.work, facts_.iterations(n));
      h.heavy |= g_.op(n) == Op::Reduce || hasTrait(g_.op(n), trait::Transcendental);
      h.fresh &= g_.op(n) != Op::Stage || facts_.kernels.isRoot(n);
    }
    h.all = h.work;
    h.cost = facts_.operations(k);
    hosts_.push_back(std::move(h));
  }
}

// For each axis the loop of the host at which every read has it, kNoNode where they differ; an axis of one element agrees.
std::vector<NodeId> Localiser::agreed(NodeId stage, const Host& host, const std::vector<NodeId>& reads) const {
  auto ranges = g_.srcs(stage).subspan(1);
  std::vector<NodeId> out(ranges.size(), kNoNode);
  for (size_t i = 0; i < ranges.size(); ++i) {
    NodeId at = joined_.resolve(g_.src(reads[0], i + 1));
    bool same = std::ranges::all_of(reads, [&](NodeId read) { return joined_.resolve(g_.src(read, i + 1)) == at; });
    bool loop = g_.op(at) == Op::Range && g_.kind(at) == Kind::Loop && std::ranges::find(host.outer, at) != host.outer.end();
    if (same && loop && facts_.bound(at) <= facts_.bound(ranges[i])) out[i] = at;
    if (facts_.bound(ranges[i]) == 1) out[i] = ranges[i];
  }
  return out;
}

const char* Localiser::objection(uint32_t k, const Host& host, const LoopChain::Set& loops, int64_t tileBytes, bool whole, const std::vector<NodeId>& reads) const {
  const Host& own = hosts_[k];
  bool operand = std::ranges::any_of(reads, [&](NodeId read) { return host.terms.contains(read); });
  bool everywhere = whole && loops.size() == host.outer.size();
  // A product that one task runs anyway needs no kernel of its own; which other kernels might share, so only few do without.
  bool small = host.all + own.all <= options_.serialWork && host.nodes + own.nodes <= static_cast<size_t>(options_.maxKernelNodes / 4);
  if (host.nodes + own.nodes > static_cast<size_t>(options_.maxKernelNodes)) return "the kernel would grow too large";
  if (!facts_.readsSettled(k)) return "it reads what is overwritten later";
  if (operand && !small && !facts_.isTable(k)) return "an operand of a product";
  if (!own.terms.empty() && !everywhere && !small) return "a product, used at several indices";
  if (tileBytes > options_.localBytes) return "too large to stay in a kernel";
  if (loops.empty() && !host.outer.empty() && std::max(host.work, own.work) > options_.serialWork) return "shared by all iterations of its user";
  // A strided innermost loop costs more than a little arithmetic saves.
  bool turned = !loops.empty() && loops.size() < host.outer.size() && loops.contains(host.outer.back());
  if (turned && !own.heavy) return "its user's loops would have to change places";
  if (host.ordered)
    for (size_t i = 0; i < loops.size(); ++i)
      if (!loops.contains(host.outer[i])) return "its user's loops have an order";
  return nullptr;
}

// Whether what kernel k computes once an iteration of some of its loops is so in the host: these are loops of the host that
// it can put outside, or the first of the tile.
bool Localiser::hoistsAlike(uint32_t k, const Host& host, const Tile& tile) const {
  auto ranges = g_.srcs(facts_[k].roots[0]).subspan(1);
  for (const LoopChain::Set& inner : hosts_[k].chain.sets()) {
    LoopChain::Set outside;
    size_t inTile = 0, shared = 0;
    for (size_t i = 0; i < ranges.size(); ++i) {
      bool remains = std::ranges::find(tile.axes, i) != tile.axes.end();
      if (inner.contains(ranges[i])) remains ? void(++inTile) : void(outside.insert(tile.at[i]));
      shared += !remains && tile.at[i] != ranges[i];
    }
    if (inTile == 0 && host.chain.fits(outside)) continue;
    bool first = outside.size() == shared;
    for (size_t i = 0; i < inTile; ++i) first &= inner.contains(ranges[tile.axes[i]]);
    if (!first) return false;
  }
  return true;
}

// What would become of STAGE k in the host; else why it can't be there.
const char* Localiser::plan(uint32_t k, const Host& host, const std::vector<NodeId>& reads, Tile& tile) const {
  NodeId stage = facts_[k].roots[0];
  auto ranges = g_.srcs(stage).subspan(1);
  tile.at = agreed(stage, host, reads);
  LoopChain::Set wanted;
  for (size_t i = 0; i < tile.at.size(); ++i)
    if (tile.at[i] != kNoNode && tile.at[i] != ranges[i]) wanted.insert(tile.at[i]);
  tile.loops = host.chain.fitting(wanted);
  int64_t bytes = byteSize(g_.dtype(stage));
  for (size_t i = 0; i < tile.at.size(); ++i) {
    if (tile.at[i] == ranges[i] || tile.loops.contains(tile.at[i])) continue;
    tile.axes.push_back(i);
    if (__builtin_mul_overflow(bytes, facts_.bound(ranges[i]), &bytes)) bytes = INT64_MAX;
  }
  tile.gone = tile.axes.empty() && tile.loops.size() == host.outer.size();
  if (!hoistsAlike(k, host, tile)) return "its loops nest otherwise";
  return objection(k, host, tile.loops, bytes, tile.axes.empty(), reads);
}

// STAGE k is in the host from now on.
void Localiser::settle(uint32_t k, Host& host, const Tile& tile) {
  if (tile.loops.size() < host.outer.size()) host.chain.add(tile.loops);
  host.nodes += hosts_[k].nodes;
  host.fresh = false;
  host.work = std::max(host.work, hosts_[k].work);
  host.all += hosts_[k].all;
  host.cost += hosts_[k].cost;
}

// A copy for each kernel that reads it, or none; why not.
const char* Localiser::copyInto(uint32_t k, const std::map<uint32_t, std::vector<NodeId>>& readsOf) {
  constexpr const char* kSeveral = "used by several kernels";
  if (!facts_.isTable(k)) return kSeveral;
  std::set<NodeId> read;
  std::vector<Tile> tiles;
  for (const auto& [user, reads] : readsOf) {
    for (NodeId at : reads)
      if (g_.op(at) != Op::Index || !read.insert(at).second) return kSeveral;
    tiles.emplace_back();
    if (hosts_[k].cost > kTableShare * hosts_[user].cost || plan(k, hosts_[user], reads, tiles.back())) return kSeveral;
  }
  size_t i = 0;
  for (const auto& [user, reads] : readsOf) {
    settle(k, hosts_[user], tiles[i]);
    for (NodeId at : reads) copyAt_[at] = copies_.size();
    copies_.push_back({facts_[k].roots[0], std::move(tiles[i++])});
  }
  return nullptr;
}

// Why it stays global; nullptr where it does not, or is not ours.
const char* Localiser::decide(uint32_t k) {
  if (facts_.decidable(k) == kNoNode) return nullptr;
  std::map<uint32_t, std::vector<NodeId>> readsOf;  // by the kernel that the reader went into
  for (uint32_t user : facts_.readers(k))
    for (NodeId read : facts_.reads(user, k)) readsOf[joined_.find(user)].push_back(read);
  if (readsOf.size() != 1) return copyInto(k, readsOf);
  const auto& [user, reads] = *readsOf.begin();
  Host& host = hosts_[user];
  for (const KernelRead& r : facts_[k].reads)
    if (host.writes.contains(r.base)) return "it reads what its user overwrites";
  Tile tile;
  if (const char* why = plan(k, host, reads, tile)) return why;
  auto ranges = g_.srcs(facts_[k].roots[0]).subspan(1);
  for (size_t i = 0; i < ranges.size(); ++i)
    if (tile.loops.contains(tile.at[i])) joined_.replace(ranges[i], tile.at[i]);
  settle(k, host, tile);
  joined_.join(k, user);
  host.terms.merge(hosts_[k].terms);
  tiles_[facts_[k].roots[0]] = std::move(tile);
  return nullptr;
}

// Its value over fresh RANGEs for the axes that remain, and the user's loops for the others.
NodeId Localiser::copied(Copy& copy, const std::vector<NodeId>& now) {
  if (copy.made != kNoNode) return copy.made;
  std::vector<NodeId> ranges, own;
  Substitution to;
  for (size_t i = 0; i < copy.tile.at.size(); ++i) {
    NodeId old = g_.src(copy.stage, 1 + i), range = now[old];
    ranges.push_back(range);
    bool remains = std::ranges::find(copy.tile.axes, i) != copy.tile.axes.end();
    if (remains) own.push_back(g_.range(facts_.bound(old), nextRange_++, Kind::Loop));
    to[range] = remains ? own.back() : copy.tile.at[i] == old ? g_.index(0) : joined_.resolve(copy.tile.at[i]);
  }
  NodeId value = substituted(g_, now[g_.src(copy.stage, 0)], ranges, to);
  return copy.made = copy.tile.gone ? value : g_.stage(value, own, own.empty() ? Space::Reg : Space::Local);
}

NodeId Localiser::visit(NodeId old, std::span<const NodeId> sources, const std::vector<NodeId>& now) {
  Op op = g_.op(old);
  if (joined_.isReplaced(old)) return joined_.resolve(old);
  if (op == Op::Stage) {
    auto it = tiles_.find(old);
    if (it == tiles_.end()) {
      auto why = kept_.find(old);
      return why == kept_.end() ? g_.remake(g_, old, sources) : stageBecause(g_, sources[0], sources.subspan(1), g_.space(old), why->second);
    }
    if (it->second.gone) return sources[0];
    std::vector<NodeId> ranges;
    for (size_t axis : it->second.axes) ranges.push_back(sources[1 + axis]);
    return g_.stage(sources[0], ranges, ranges.empty() ? Space::Reg : Space::Local);
  }
  const NodeId place = g_[old].srcCount > 0 ? g_.src(old, 0) : kNoNode;
  if (auto at = copyAt_.find(old); at != copyAt_.end()) {
    Copy& copy = copies_[at->second];
    return indexed(copy.tile, copied(copy, now), sources);
  }
  const Tile* tile = nullptr;
  if (auto at = copyAt_.find(place); at != copyAt_.end()) tile = &copies_[at->second].tile;
  else if (auto it = place == kNoNode || !g_[place].place ? tiles_.end() : tiles_.find(g_[place].base); it != tiles_.end()) tile = &it->second;
  if (!tile) return g_.remake(g_, old, sources);
  if (op == Op::Index) return indexed(*tile, sources[0], sources);
  if (!tile->gone) return g_.remake(g_, old, sources);
  return sources.size() == 3 ? g_.where(sources[2], sources[0], sources[1]) : sources[0];
}

// `place` is the tile, or the value where the tile is gone. `sources`: of the INDEX into the STAGE.
NodeId Localiser::indexed(const Tile& tile, NodeId place, std::span<const NodeId> sources) {
  std::vector<NodeId> index;
  for (size_t axis : tile.axes) index.push_back(sources[1 + axis]);
  return index.empty() ? place : g_.indexInto(place, index);
}

bool Localiser::run() {
  findHosts();
  bool parts = false;
  for (uint32_t k = static_cast<uint32_t>(facts_.count()); k-- > 0;) {
    const char* why = decide(k);
    if (!why) continue;
    kept_[facts_[k].roots[0]] = why;
    parts |= hosts_[k].fresh && !hosts_[k].chain.sets().empty();
  }
  auto roots = p_.roots();
  if (!copies_.empty()) nextRange_ = freshIds(g_, roots).range;
  retarget(p_, rebuildNodes(g_, roots, [&](NodeId old, std::span<const NodeId> sources, const auto& now) { return visit(old, sources, now); }));
  return parts;
}

}  // namespace

bool fuseLocal(Program& p, const FuseOptions& options) { return Localiser(p, options).run(); }

}  // namespace uop
