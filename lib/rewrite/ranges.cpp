#include "rewrite/ranges.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "support/hash.h"

namespace uop {
namespace {

// Movement that neither adds elements of its own nor needs run-time offsets: of a constant, the same constant.
bool repeats(const Graph& g, NodeId id) { return hasTrait(g.op(id), trait::Movement) && g.op(id) != Op::Pad && g[id].srcCount == 1; }

Interval declared(const Graph& g, NodeId param) {
  Interval out = fullRange(g.dtype(param));
  if (out.empty()) return out;
  DType d = g.dtype(param);
  if (g.hasAttr(param, AttrKey::Min)) out.lo = std::max<Wide>(out.lo, g.attr(param, AttrKey::Min));
  if (g.hasAttr(param, AttrKey::Max)) {
    int64_t most = g.attr(param, AttrKey::Max);
    out.hi = std::min(out.hi, isUnsigned(d) ? static_cast<Wide>(static_cast<uint64_t>(most)) : static_cast<Wide>(most));
  }
  return out.empty() ? fullRange(d) : out;
}

}  // namespace

Interval ValueRanges::rangeOfLoop(NodeId id) const {
  Interval bound = known(g_.src(id, 0));
  Wide most = fullRange(DType::Index).hi;
  if (bound.empty()) return {0, most};
  return {0, std::clamp<Wide>(bound.hi - 1, 0, most)};
}

Interval ValueRanges::range(NodeId id) const {
  const Node& n = g_[id];
  Interval full = fullRange(n.dtype);
  if (full.empty() || n.place) return full;
  if (n.op == Op::Const) return intervalOf(g_.constValue(id), n.dtype);
  if (n.op == Op::Param) return declared(g_, id);
  if (n.op == Op::Range) return rangeOfLoop(id);
  if (hasTrait(n.op, trait::Elementwise)) {
    std::array<Interval, 3> s;
    for (size_t i = 0; i < n.srcCount; ++i) s[i] = known(n.srcs[i]);
    return applyOp(n.op, g_.dtype(n.srcs[n.srcCount - 1]), n.dtype, std::span(s.data(), n.srcCount));
  }
  if (!hasTrait(n.op, trait::Movement) && n.op != Op::After) return full;
  Interval x = known(n.srcs[0]);
  if (n.op == Op::Pad) return {std::min<Wide>(x.lo, 0), std::max<Wide>(x.hi, 0)};
  return x;
}

uint64_t ValueRanges::hashOf(NodeId id) const {
  uint64_t h = static_cast<uint64_t>(g_.op(id)) * 2 + 1;
  const OpInfo& row = info(g_.op(id));
  for (size_t i = 0; i < row.attrCount; ++i) {
    if (!g_.hasAttr(id, row.attrs[i])) continue;
    int64_t word = g_.attr(id, row.attrs[i]);
    AttrType type = attrType(row.attrs[i]);
    if (type == AttrType::Dims || type == AttrType::Pairs) h = hashSpan(g_.listById(word), h);
    else if (type == AttrType::String) h = hashBytes(g_.stringById(word).data(), g_.stringById(word).size(), h);
    else h = hashMix(h, static_cast<uint64_t>(word) + i);
  }
  for (NodeId s : g_.srcs(id)) h = hashMix(h, table_[s].hash);
  return h;
}

ValueRanges::Facts ValueRanges::compute(NodeId id) {
  Facts f;
  const Node& n = g_[id];
  if (Interval own = range(id); !own.empty()) {
    if (intervals_.back() != own) intervals_.push_back(own);
    f.range = static_cast<uint32_t>(intervals_.size() - 1);
  }
  f.hash = hashOf(id);
  if (n.op == Op::Const) f.constant = id;
  if (repeats(g_, id)) f.constant = table_[n.srcs[0]].constant;
  bool leaf = n.op == Op::Const || n.op == Op::Range || (n.op == Op::Param && !n.place);
  f.gate = leaf || ((n.dtype == DType::Bool || n.dtype == DType::Index) && hasTrait(n.op, trait::Elementwise) && std::ranges::all_of(g_.srcs(id), [&](NodeId s) { return table_[s].gate; }));
  unsigned terms = n.op == Op::Add ? 0 : 1;
  for (NodeId s : g_.srcs(id)) {
    f.height = std::max(f.height, table_[s].height + 1);
    if (n.op == Op::Add) terms += table_[s].terms;
  }
  f.terms = static_cast<uint8_t>(std::min(terms, 255u));
  return f;
}

bool ValueRanges::before(NodeId a, NodeId b) {
  facts(std::max(a, b));
  auto key = [&](NodeId id) {
    const Facts& f = table_[id];
    Op op = g_.op(id);
    int64_t number = op == Op::Range ? g_.attr(id, AttrKey::Id) : g_.attr(id, AttrKey::Slot);
    return std::tuple(f.constant != kNoNode, ~f.height, op, number, f.hash, id);
  };
  return key(a) < key(b);
}

}  // namespace uop
