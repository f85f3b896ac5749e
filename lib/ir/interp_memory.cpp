// Reads and writes of single elements, and what is wrong with them: outside of an axis, in no order, in a race.
#include <bit>

#include "ir/interp_frame.h"

namespace uop::interp {

// Whether `after` waits for `store`, directly or through others, CALLs among them.
bool Machine::waitsFor(NodeId after, NodeId store) {
  auto [it, fresh] = waits.try_emplace(uint64_t{after} << 32 | store, false);
  if (!fresh) return it->second;
  std::vector<NodeId> todo{after};
  std::unordered_set<NodeId> seen;
  while (!todo.empty() && !it->second) {
    NodeId n = todo.back();
    todo.pop_back();
    if (n < store || !seen.insert(n).second) continue;
    it->second = n == store;
    for (NodeId s : g.srcs(n)) todo.push_back(s);
  }
  return it->second;
}

// A place in a loop has the contents that its AFTER's innermost iteration began with, and those of the STOREs that it
// waits for: whatever else has been stored since comes too early.
void Frame::checkOrder(NodeId place, Storage* s, int64_t at) {
  const Stored& last = s->stored[static_cast<size_t>(at)];
  if (last.store == kNoNode) return;
  NodeId after = m_.planner.state(place);
  uint64_t began = 0;
  for (NodeId r : g_.open(after)) began = std::max(began, m_.began[r]);
  if (began == 0 || last.time < began || m_.waitsFor(after, last.store)) return;
  fault(g_, place, fmt::format("no order exists: this is read after '{}' has overwritten it, which it does not wait for", nodeText(g_, last.store)));
}

void Frame::noteAccess(Storage* s, int64_t at, bool write, NodeId n) {
  if (!s || !s->watched) return;
  Touched& t = s->touched[static_cast<size_t>(at)];
  // By another iteration of a loop that is open.
  auto other = [&](uint64_t time) {
    for (uint64_t w = s->watched; w; w &= w - 1) {
      const OpenLoop& l = m_.loops[static_cast<size_t>(std::countr_zero(w))];
      if (time >= l.start && time < l.iteration) return true;
    }
    return false;
  };
  if (other(t.write) || (write && (other(t.read) || other(t.other))))
    fault(g_, n, "a race: two iterations of an independent loop touch one element, and one of them writes it");
  if (write) {
    t.write = m_.clock;
    return;
  }
  if (t.read < m_.loops.back().iteration && !other(t.other)) t.other = t.read;
  t.read = m_.clock;
}

uint64_t Frame::readCell(NodeId place, const Value& v, int64_t at) {
  if (v.layout.offset < 0) fault(g_, place, "an index is outside of its axis");
  noteAccess(v.root, at, false, place);
  if (!v.data && !v.root->stored.empty()) checkOrder(place, v.root, at);
  ++m_.out->loads;
  return cells(v)[static_cast<size_t>(at)];
}

void Frame::writeCell(Storage* s, int64_t at, uint64_t value, NodeId store) {
  (*s->now)[static_cast<size_t>(at)] = value;
  noteAccess(s, at, true, store);
  if (!s->stored.empty()) s->stored[static_cast<size_t>(at)] = {m_.clock, store};
  logWrite(s, at, value);
}

void Frame::noteReads(NodeId place) {
  const Value& v = values_[place];
  if (!v.root) return;
  int64_t count = v.layout.count();
  if (count > 0 && v.layout.offset < 0) fault(g_, place, "an index is outside of its axis");
  bool order = !v.data && !v.root->stored.empty() && !g_.open(place).empty();
  if (!v.root->watched && !order) return;
  Positions p(v.layout);
  for (int64_t i = 0; i < count; ++i) {
    int64_t at = p.next();
    noteAccess(v.root, at, false, place);
    if (order) checkOrder(place, v.root, at);
  }
}

// Reads a place at the moment it denotes, for whoever uses its contents without a LOAD later in the iteration.
void Frame::fetch(NodeId n) {
  const Value& v = values_[n];
  if (g_.rank(n) == 0) {
    scalars_[n] = readCell(n, v, v.layout.offset < 0 ? 0 : v.layout.position(v.layout.offset));
    fetched_[n] = {Layout::dense({}), m_.allocate(1, scalars_[n]), nullptr};
    return;
  }
  noteReads(n);
  int64_t count = v.layout.count();
  auto out = m_.allocate(count);
  Positions p(v.layout);
  const Cells& from = cells(v);
  for (uint64_t& o : *out) o = from[static_cast<size_t>(p.next())];
  m_.out->loads += static_cast<uint64_t>(count);
  m_.spend(static_cast<uint64_t>(count), n);
  fetched_[n] = {Layout::dense(g_.shape(n)), std::move(out), nullptr};
}

// A scalar, wherever it lies: computed, or read from a place of rank 0.
uint64_t Frame::scalar(NodeId n) {
  if (!g_[n].place || m_.planner.fetched(n)) return scalars_[n];
  const Value& v = values_[n];
  return readCell(n, v, v.layout.offset < 0 ? 0 : v.layout.position(v.layout.offset));
}

const Value& Frame::readable(NodeId n) {
  if (!g_[n].place) return values_[n];
  if (m_.planner.fetched(n)) return fetched_.at(n);
  noteReads(n);
  return values_[n];
}

}  // namespace uop::interp
