// fuse, step 3: values that one kernel alone reads stay inside it. Users come before sources, so that a tile's own reads
// count as its user's.
#include "passes/fuse.h"
#include "passes/stage_reason.h"

namespace uop {
namespace {

// What becomes of one STAGE.
struct Tile {
  std::vector<size_t> axes;  // that remain; the other RANGEs are the user's
  bool gone = false;         // its user computes it where it reads it
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
};

class Localiser {
 public:
  Localiser(Program& p, const FuseOptions& options) : p_(p), g_(p.graph), options_(options), facts_(p), joined_(facts_.count()) {}
  bool run();

 private:
  void findHosts();
  const char* decide(uint32_t k);
  const char* place(uint32_t k, Host& host, const std::vector<NodeId>& reads);
  std::vector<NodeId> agreed(NodeId stage, const Host& host, const std::vector<NodeId>& reads) const;
  bool hoistsAlike(uint32_t k, const Host& host, const std::vector<NodeId>& at, const Tile& tile) const;
  const char* objection(uint32_t k, const Host& host, const LoopChain::Set& loops, int64_t tileBytes, bool whole, const std::vector<NodeId>& reads) const;
  NodeId visit(NodeId old, std::span<const NodeId> sources);

  Program& p_;
  Graph& g_;
  const FuseOptions& options_;
  KernelFacts facts_;
  Joined joined_;
  std::vector<Host> hosts_;
  std::unordered_map<NodeId, Tile> tiles_;       // by STAGE
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
  if (operand && !small) return "an operand of a product";
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
bool Localiser::hoistsAlike(uint32_t k, const Host& host, const std::vector<NodeId>& at, const Tile& tile) const {
  auto ranges = g_.srcs(facts_[k].roots[0]).subspan(1);
  for (const LoopChain::Set& inner : hosts_[k].chain.sets()) {
    LoopChain::Set outside;
    size_t inTile = 0, shared = 0;
    for (size_t i = 0; i < ranges.size(); ++i) {
      bool remains = std::ranges::find(tile.axes, i) != tile.axes.end();
      if (inner.contains(ranges[i])) remains ? void(++inTile) : void(outside.insert(at[i]));
      shared += !remains && at[i] != ranges[i];
    }
    if (inTile == 0 && host.chain.fits(outside)) continue;
    bool first = outside.size() == shared;
    for (size_t i = 0; i < inTile; ++i) first &= inner.contains(ranges[tile.axes[i]]);
    if (!first) return false;
  }
  return true;
}

const char* Localiser::place(uint32_t k, Host& host, const std::vector<NodeId>& reads) {
  NodeId stage = facts_[k].roots[0];
  auto ranges = g_.srcs(stage).subspan(1);
  std::vector<NodeId> at = agreed(stage, host, reads);
  LoopChain::Set wanted;
  for (size_t i = 0; i < at.size(); ++i)
    if (at[i] != kNoNode && at[i] != ranges[i]) wanted.insert(at[i]);
  LoopChain::Set loops = host.chain.fitting(wanted);
  Tile tile;
  int64_t bytes = byteSize(g_.dtype(stage));
  for (size_t i = 0; i < at.size(); ++i) {
    if (at[i] == ranges[i] || loops.contains(at[i])) continue;
    tile.axes.push_back(i);
    if (__builtin_mul_overflow(bytes, facts_.bound(ranges[i]), &bytes)) bytes = INT64_MAX;
  }
  if (!hoistsAlike(k, host, at, tile)) return "its loops nest otherwise";
  if (const char* why = objection(k, host, loops, bytes, tile.axes.empty(), reads)) return why;
  for (size_t i = 0; i < at.size(); ++i)
    if (at[i] != kNoNode && at[i] != ranges[i] && loops.contains(at[i])) joined_.replace(ranges[i], at[i]);
  tile.gone = tile.axes.empty() && loops.size() == host.outer.size();
  if (loops.size() < host.outer.size()) host.chain.add(loops);
  tiles_[stage] = std::move(tile);
  return nullptr;
}

// Why it stays global; nullptr where it does not, or is not ours.
const char* Localiser::decide(uint32_t k) {
  if (facts_.decidable(k) == kNoNode) return nullptr;
  std::set<uint32_t> users;
  std::vector<NodeId> reads;
  for (uint32_t user : facts_.readers(k)) {
    users.insert(joined_.find(user));
    for (NodeId read : facts_.reads(user, k)) reads.push_back(read);
  }
  if (users.size() != 1) return "used by several kernels";
  Host& host = hosts_[*users.begin()];
  for (const KernelRead& r : facts_[k].reads)
    if (host.writes.contains(r.base)) return "it reads what its user overwrites";
  if (const char* why = place(k, host, reads)) return why;
  joined_.join(k, *users.begin());
  host.nodes += hosts_[k].nodes;
  host.fresh = false;
  host.work = std::max(host.work, hosts_[k].work);
  host.all += hosts_[k].all;
  host.terms.merge(hosts_[k].terms);
  return nullptr;
}

NodeId Localiser::visit(NodeId old, std::span<const NodeId> sources) {
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
  NodeId base = g_[old].srcCount > 0 && g_[g_.src(old, 0)].place ? g_[g_.src(old, 0)].base : kNoNode;
  auto it = tiles_.find(base);
  if (it == tiles_.end()) return g_.remake(g_, old, sources);
  if (op == Op::Index) {
    if (it->second.gone) return sources[0];
    std::vector<NodeId> index;
    for (size_t axis : it->second.axes) index.push_back(sources[1 + axis]);
    return index.empty() ? sources[0] : g_.indexInto(sources[0], index);
  }
  if (!it->second.gone) return g_.remake(g_, old, sources);
  return sources.size() == 3 ? g_.where(sources[2], sources[0], sources[1]) : sources[0];
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
  retarget(p_, rebuildNodes(g_, roots, [&](NodeId old, std::span<const NodeId> sources, const auto&) { return visit(old, sources); }));
  return parts;
}

}  // namespace

bool fuseLocal(Program& p, const FuseOptions& options) { return Localiser(p, options).run(); }

}  // namespace uop
