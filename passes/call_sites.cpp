#include "passes/call_sites.h"

namespace uop {
namespace {

constexpr size_t kMaxVisits = 4096;            // of nodes, when looking for the write before
constexpr size_t kMaxTable = size_t{1} << 24;  // of bits: nodes of a body by its arguments

}  // namespace

BodyArguments bodyArguments(const Graph& g, Functions& functions, NodeId body) {
  const FunctionInfo& info = functions.body(body);
  std::map<int64_t, NodeId> bySlot;
  BodyArguments out;
  for (NodeId n : info.params) bySlot.emplace(g.attr(n, AttrKey::Slot), n);
  for (auto [slot, n] : bySlot) {
    out.params.push_back(n);
    out.written.push_back(std::ranges::binary_search(info.written, slot));
  }
  for (NodeId n : cone(g, std::span(&body, 1))) {
    if (g.op(n) != Op::Buffer) continue;
    out.buffers.push_back(n);
    out.written.push_back(std::ranges::binary_search(info.buffersWritten, n));
    out.fits &= g.rank(n) > 0;  // a PARAM of rank 0 is a value
  }
  return out;
}

CallSites::CallSites(const Program& p, const std::unordered_map<NodeId, NodeId>& leaves) : g_(p.graph), leaves_(leaves), functions_(g_) {
  std::vector<NodeId> order = cone(g_, p.roots());
  inLoop_ = effectsInLoops(g_, order);
  for (NodeId n : order) {
    if (g_.op(n) == Op::Store || g_.op(n) == Op::Call) recordWrites(n, g_.open(n).empty() && !inLoop_[n]);
    if (g_.op(n) != Op::After || g_.dtype(n) != DType::Tuple) continue;
    NodeId tuple = n;
    while (g_.op(tuple) == Op::After) tuple = g_.src(tuple, 0);
    tuplesAfter_.insert(tuple);
  }
}

void CallSites::recordWrites(NodeId effect, bool atTop) {
  auto record = [&](NodeId version) {
    NodeId base = g_[version].base;
    writes_[base].push_back({effect, version});
    if (!atTop) chains_[base] = false;
  };
  if (g_.op(effect) == Op::Store) return record(g_.src(effect, 0));
  const BodyArguments& body = arguments(effect);
  std::vector<NodeId> args = given(effect);
  for (size_t i = 0; i < args.size(); ++i)
    if (body.written[i]) record(args[i]);
}

const BodyArguments& CallSites::arguments(NodeId call) {
  NodeId body = leaves_.at(g_.src(call, 0));
  auto it = bodies_.find(body);
  return it != bodies_.end() ? it->second : bodies_.emplace(body, bodyArguments(g_, functions_, body)).first->second;
}

std::vector<NodeId> CallSites::given(NodeId call) {
  const BodyArguments& body = arguments(call);
  std::vector<NodeId> out;
  for (NodeId param : body.params) out.push_back(g_.src(call, 1 + static_cast<size_t>(g_.attr(param, AttrKey::Slot))));
  out.insert(out.end(), body.buffers.begin(), body.buffers.end());
  return out;
}

// A PARAM of rank 0 is a value.
bool CallSites::isStorage(NodeId place) const {
  const NodeId base = g_[place].base;
  return g_[place].place && isWholeStorage(g_, place) && g_.rank(place) > 0 && g_.open(base).empty();
}

NodeId CallSites::wholePlace(NodeId argument) const {
  NodeId place = g_.op(argument) == Op::Load && g_[argument].srcCount == 1 ? g_.src(argument, 0) : argument;
  return isStorage(place) ? place : kNoNode;
}

// Whether an argument that is read alone may as well be a place: a view would be copied, and what EXPAND repeats would be
// stored so.
bool CallSites::canPass(NodeId argument) const {
  if (wholePlace(argument) != kNoNode) return true;
  if (g_.rank(argument) == 0) return g_.op(argument) == Op::Param;
  NodeId x = argument;
  while (hasTrait(g_.op(x), trait::Movement) || g_.op(x) == Op::Detach || g_.op(x) == Op::After || g_.op(x) == Op::Load) x = g_.src(x, 0);
  return !g_[x].place && g_.elements(x) >= g_.elements(argument);
}

// Whether it writes what it is given otherwise, too.
bool CallSites::overlaps(NodeId call, const std::vector<NodeId>& given) {
  const BodyArguments& body = arguments(call);
  std::unordered_map<NodeId, size_t> uses;
  for (NodeId a : given)
    if (g_[a].place) ++uses[g_[a].base];
  for (size_t i = 0; i < given.size(); ++i)
    if (body.written[i] && uses[g_[given[i]].base] > 1) return true;
  return false;
}

bool CallSites::follows(NodeId version, NodeId effect) const {
  std::vector<NodeId> todo{version};
  std::unordered_set<NodeId> seen;
  while (!todo.empty() && seen.size() <= kMaxVisits) {
    NodeId n = todo.back();
    todo.pop_back();
    if (n == effect) return true;
    for (NodeId s : ownSources(g_, n))
      if (s >= effect && seen.insert(s).second) todo.push_back(s);
  }
  return false;
}

// Whether the writes to a place follow each other: then a CALL that writes it comes as a whole between its neighbours.
bool CallSites::isChain(NodeId base) {
  auto [known, fresh] = chains_.try_emplace(base, true);
  const std::vector<Write>& writes = writes_.at(base);
  for (size_t i = 1; fresh && i < writes.size(); ++i)
    if (!follows(writes[i].version, writes[i - 1].effect)) return known->second = false;
  return known->second;
}

bool CallSites::canPlace(NodeId call) {
  const BodyArguments& body = arguments(call);
  if (!body.fits || !g_.open(call).empty() || inLoop_[call] || tuplesAfter_.contains(call)) return false;
  std::vector<NodeId> args = given(call);
  for (size_t i = 0; i < args.size(); ++i) {
    bool fits = body.written[i] ? isStorage(args[i]) && isChain(g_[args[i]].base) : canPass(args[i]);
    if (!fits) return false;
  }
  return !overlaps(call, args);
}

const std::set<CallSites::ArgumentSet>& CallSites::reductions(NodeId call) {
  NodeId body = leaves_.at(g_.src(call, 0));
  auto [it, fresh] = reductions_.try_emplace(body);
  if (!fresh) return it->second;
  const BodyArguments& args = arguments(call);
  std::vector<NodeId> order = cone(g_, std::span(&body, 1));
  if (order.size() * args.written.size() > kMaxTable) return it->second;
  std::unordered_map<NodeId, ArgumentSet> depends;
  size_t next = 0;
  for (const auto* list : {&args.params, &args.buffers})
    for (NodeId n : *list) depends.try_emplace(n, args.written.size()).first->second[next++] = true;
  for (NodeId n : order) {
    ArgumentSet& mine = depends.try_emplace(n, args.written.size()).first->second;
    for (NodeId s : g_.srcs(n))
      for (size_t i = 0; i < mine.size(); ++i) mine[i] = mine[i] || depends.at(s)[i];
    if (g_.op(n) == Op::Reduce && std::ranges::find(mine, true) != mine.end()) it->second.insert(mine);
  }
  return it->second;
}

std::unordered_set<NodeId> CallSites::sharing(std::span<const NodeId> calls) {
  std::map<std::vector<NodeId>, NodeId> first;
  std::unordered_set<NodeId> out;
  for (NodeId call : calls) {
    std::vector<NodeId> args = given(call), key;
    for (const ArgumentSet& of : reductions(call)) {
      key = {leaves_.at(g_.src(call, 0))};
      for (size_t i = 0; i < args.size(); ++i) key.push_back(of[i] ? args[i] : kNoNode);
      if (auto [it, fresh] = first.emplace(key, call); !fresh) out.insert({call, it->second});
    }
  }
  return out;
}

}  // namespace uop
