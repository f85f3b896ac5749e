// The anti-dependences of the format's section 5, as edges between items.
//
// A read at state A (its nearest AFTER, or the program's start) belongs to A's innermost iteration, of loop X. It comes
// before every overlapping STORE in X that A does not wait for, both lifted to items of X. Seen from outside X, the loop X
// itself is an item that reads the place, and comes before what nothing inside it waits for; and so on outwards.
#include <algorithm>
#include <map>
#include <set>

#include "ir/program.h"
#include "schedule/overlap.h"

namespace uop::schedule {
namespace {

// Which STOREs of a group lie in the cone of a state or of a loop's contents.
struct Waited {
  std::vector<NodeId> earlier;  // not waited for, though of smaller id than the reader
  size_t later = 0;             // from here on the ids are greater, so none is waited for
};

class MemoryOrder {
 public:
  MemoryOrder(const Nest& nest, std::vector<Edge>& edges) : n_(nest), g_(nest.g), groups_(nest), edges_(edges), seen_(nest.g.size()) {}
  Result<void> run();

 private:
  struct Reader {
    ItemId item;                // of `level`
    uint32_t level;
    std::vector<NodeId> seeds;  // what it waits for: a state, or what is in a loop; empty for a bare place
    uint64_t key;               // names the seeds
    const Access* access;       // null for a loop
  };
  Result<void> order(const Reader&, GroupId read);
  Result<void> before(const Reader&, NodeId store, bool& placed);
  Result<void> sameLoop(const Access& read, NodeId store, uint32_t level);
  const Waited& waited(const Reader&, GroupId stores);
  const std::vector<bool>& chain(GroupId);
  bool search(std::span<const NodeId> seeds, NodeId least, size_t most, auto&& visit);
  const std::vector<NodeId>& allWaited(const Reader&, NodeId root);
  bool waitedNearby(const Reader&, GroupId stores, std::vector<bool>& hit);
  void gatherContents();
  // An ALLOC of which each iteration has a copy is nobody else's.
  bool seenFromOutside(uint32_t loop, NodeId root) const { return g_.op(root) != Op::Alloc || !privatises(n_.tree.loops[loop].kind, g_.space(root)); }
  const Access& accessOf(NodeId store) const { return *std::ranges::lower_bound(n_.tree.accesses, store, {}, &Access::node); }

  const Nest& n_;
  const Graph& g_;
  Groups groups_;
  std::vector<Edge>& edges_;
  std::vector<uint32_t> seen_;
  uint32_t stamp_ = 0;
  std::map<std::pair<uint64_t, GroupId>, Waited> waited_;
  std::map<std::pair<uint64_t, NodeId>, std::vector<NodeId>> allWaited_;
  std::unordered_map<GroupId, std::vector<bool>> chains_;
  std::vector<std::vector<NodeId>> contents_;  // by loop: nodes directly in it
};

// Visits the cone of the seeds down to id `least`, at most `most` nodes; `visit` says how to go on. False: cut short.
enum class Walk { Down, Skip, Stop };
constexpr size_t kAll = ~size_t{0}, kShort = 256;
bool MemoryOrder::search(std::span<const NodeId> seeds, NodeId least, size_t most, auto&& visit) {
  ++stamp_;
  std::vector<NodeId> stack(seeds.begin(), seeds.end());
  for (size_t steps = 0; !stack.empty();) {
    const NodeId at = stack.back();
    stack.pop_back();
    if (at < least || seen_[at] == stamp_) continue;
    if (++steps > most) return false;
    seen_[at] = stamp_;
    const Walk go = visit(at);
    if (go == Walk::Stop) return true;
    if (go == Walk::Down) stack.insert(stack.end(), g_.srcs(at).begin(), g_.srcs(at).end());
  }
  return true;
}

// chain(group)[j]: the j-th STORE waits for the one before it.
const std::vector<bool>& MemoryOrder::chain(GroupId id) {
  auto [at, fresh] = chains_.try_emplace(id);
  if (!fresh) return at->second;
  const auto& stores = groups_[id].stores;
  at->second.assign(stores.size(), false);
  for (size_t j = 1; j < stores.size(); ++j)
    search(std::span(&stores[j], 1), stores[j - 1], kAll, [&, j](NodeId n) {
      if (n != stores[j - 1]) return Walk::Down;
      at->second[j] = true;
      return Walk::Stop;
    });
  return at->second;
}

// Marks which of the group's first STOREs the reader waits for; usually the latest is near and, by its chain, stands for
// all before it. False: the search was cut short.
bool MemoryOrder::waitedNearby(const Reader& reader, GroupId id, std::vector<bool>& hit) {
  const auto& stores = groups_[id].stores;
  const auto& chained = chain(id);
  const auto whole = static_cast<size_t>(std::find(chained.begin() + 1, chained.end(), false) - chained.begin());
  size_t missing = hit.size();
  return search(reader.seeds, stores.front(), kShort, [&](NodeId n) {
    auto found = std::ranges::lower_bound(stores, n);
    if (found == stores.end() || *found != n) return Walk::Down;
    const auto j = static_cast<size_t>(found - stores.begin());
    for (size_t k = j + 1; k-- > (j < whole ? 0 : j) && !hit[k];) hit[k] = true, --missing;
    if (missing == 0) return Walk::Stop;
    return j < whole ? Walk::Skip : Walk::Down;
  });
}

// Every STORE of the root that the reader waits for: one long search serves all groups.
const std::vector<NodeId>& MemoryOrder::allWaited(const Reader& reader, NodeId root) {
  auto [at, fresh] = allWaited_.try_emplace({reader.key, root});
  if (!fresh) return at->second;
  search(reader.seeds, root, kAll, [&](NodeId n) {
    if (g_.op(n) == Op::Store && g_[g_.src(n, 0)].base == root) at->second.push_back(n);
    return Walk::Down;
  });
  std::ranges::sort(at->second);
  return at->second;
}

const Waited& MemoryOrder::waited(const Reader& reader, GroupId id) {
  auto [at, fresh] = waited_.try_emplace({reader.key, id});
  Waited& out = at->second;
  if (!fresh || reader.seeds.empty()) return out;
  const auto& stores = groups_[id].stores;
  const NodeId last = *std::ranges::max_element(reader.seeds);
  out.later = static_cast<size_t>(std::ranges::upper_bound(stores, last) - stores.begin());
  if (out.later == 0) return out;
  std::vector<bool> hit(out.later);
  if (!waitedNearby(reader, id, hit)) {
    const auto& all = allWaited(reader, groups_[id].root);
    for (size_t j = 0; j < hit.size(); ++j) hit[j] = std::ranges::binary_search(all, stores[j]);
  }
  for (size_t j = 0; j < hit.size(); ++j)
    if (!hit[j]) out.earlier.push_back(stores[j]);
  return out;
}

// A read of a state from outside a loop that also writes the place.
Result<void> MemoryOrder::sameLoop(const Access& read, NodeId store, uint32_t level) {
  if (auto why = whyOverwritten(g_, n_.tree, read, accessOf(store), level); !why.empty())
    return fail(Diag::PassError, fmt::format("no order exists: {} reads what was in {} before a loop that overwrites it ({}): {}", nodeText(g_, read.node),
                                             nodeText(g_, read.place.root), nodeText(g_, store), why));
  const uint32_t both = n_.tree.common(n_.tree.levels[read.node], n_.tree.levels[store]);
  edges_.push_back({n_.lift(read.node, both), n_.lift(n_.itemOf(store), both)});
  return {};
}

Result<void> MemoryOrder::before(const Reader& reader, NodeId store, bool& placed) {
  placed = false;
  if (!n_.tree.encloses(reader.level, n_.tree.levels[store])) return {};  // an outer loop's business
  const ItemId item = n_.lift(store, reader.level);
  if (item != reader.item) {
    edges_.push_back({reader.item, item});
    placed = true;
    return {};
  }
  return reader.access ? sameLoop(*reader.access, store, reader.level) : Result<void>{};
}

Result<void> MemoryOrder::order(const Reader& reader, GroupId read) {
  for (GroupId id : groups_.overlapping(read, reader.level)) {
    const Waited& w = waited(reader, id);
    const auto& stores = groups_[id].stores;
    const auto& chained = chain(id);
    bool placed = false;
    for (NodeId store : w.earlier)
      if (auto r = before(reader, store, placed); !r) return r;
    placed = false;
    for (size_t j = w.later; j < stores.size(); ++j)
      if (!placed || !chained[j])  // else it follows one that is placed
        if (auto r = before(reader, stores[j], placed); !r) return r;
  }
  return {};
}

void MemoryOrder::gatherContents() {
  contents_.resize(n_.tree.loops.size());
  for (NodeId n : n_.nodes) contents_[n_.tree.levels[n]].push_back(n);
  for (size_t loop = contents_.size(); loop-- > 1;) {  // inner loops come after outer ones
    auto& parent = contents_[n_.tree.loops[loop].parent];
    if (n_.tree.loops[loop].parent != 0) parent.insert(parent.end(), contents_[loop].begin(), contents_[loop].end());
  }
}

Result<void> MemoryOrder::run() {
  const LoopTree& tree = n_.tree;
  std::set<std::pair<uint32_t, GroupId>> loopReads;
  for (size_t i = 0; i < tree.accesses.size(); ++i) {
    const Access& access = tree.accesses[i];
    if (access.write) continue;
    const NodeId state = access.place.state;
    const uint32_t level = state == kNoNode ? 0 : tree.levels[state];
    Reader reader{n_.lift(access.node, level), level, {}, state, &access};
    if (state != kNoNode) reader.seeds = {state};
    if (auto r = order(reader, groups_.of(i)); !r) return r;
    if (level != 0 && seenFromOutside(level, access.place.root)) loopReads.emplace(level, groups_.of(i));
  }
  if (!loopReads.empty()) gatherContents();
  while (!loopReads.empty()) {  // innermost first: a parent's number is smaller
    auto [loop, group] = loopReads.extract(std::prev(loopReads.end())).value();
    const uint32_t parent = tree.loops[loop].parent;
    Reader reader{n_.loopItem(loop), parent, contents_[loop], uint64_t{loop} << 32 | kNoNode, nullptr};
    if (auto r = order(reader, group); !r) return r;
    if (parent != 0 && seenFromOutside(parent, groups_[group].root)) loopReads.emplace(parent, group);
  }
  return {};
}

}  // namespace

std::string_view whyOverwritten(const Graph& g, const LoopTree& tree, const Access& read, const Access& write, uint32_t level) {
  std::set<NodeId> rows;
  bool differ = false;
  for (size_t axis = 0; axis < read.place.indices.size(); ++axis) {
    const NodeId a = read.place.indices[axis], b = write.place.indices[axis];
    if (a != b && !(g.constInt(a) && g.constInt(a) == g.constInt(b))) differ = true;
    else for (NodeId r : digitsOf(g, affineOf(g, a))) rows.insert(r);
  }
  for (uint32_t loop = tree.common(tree.levels[read.node], tree.levels[write.node]); loop != level; loop = tree.loops[loop].parent) {
    const NodeId range = tree.loops[loop].range;
    if (auto bound = g.constInt(g.src(range, 0)); bound && *bound <= 1) continue;
    if (differ && !rows.contains(range)) return "the indices differ";
    if (std::ranges::none_of(read.place.indices, [&](NodeId i) { return g.isOpen(i, range); })) return "the index is the same in several iterations";
  }
  return "";
}

Result<void> addAntiDependences(const Nest& nest, std::vector<Edge>& edges) { return MemoryOrder(nest, edges).run(); }

}  // namespace uop::schedule
