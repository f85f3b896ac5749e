// inline-calls: every CALL becomes its body with arguments in place of PARAMs. Exact, since a body's place not behind an
// AFTER reads what its argument denotes. ALLOCs and RANGEs of a body are fresh in each call.
#include "ir/rebuild.h"
#include "passes/passes.h"

namespace uop {
namespace {

// What a CALL gives is a value, but its body's result may be a place, which an AFTER would read at another time.
NodeId asValue(Graph& g, NodeId n) { return g[n].place && isValue(g.dtype(n)) ? g.load(n) : n; }

NodeId remakeValue(Graph& g, NodeId old, std::span<const NodeId> sources) {
  if (g.op(old) != Op::After || g[old].place) return g.remake(g, old, sources);
  std::vector<NodeId> srcs(sources.begin(), sources.end());
  srcs[0] = asValue(g, srcs[0]);
  return g.remake(g, old, srcs);
}

class Inliner {
 public:
  Inliner(Graph& g, FreshIds fresh, int64_t limit) : g_(g), fresh_(fresh), limit_(limit) {}
  bool overLimit() const { return made_ > limit_; }

  // `body` holds no CALL any more: bodies have smaller ids than their CALLs and are flattened first.
  NodeId instantiate(NodeId body, std::span<const NodeId> args) {
    std::vector<NodeId> roots{body};
    std::vector<NodeId> order = cone(g_, roots);
    std::unordered_map<NodeId, NodeId> now;
    std::vector<NodeId> sources;
    if (overLimit()) return body;
    made_ += static_cast<int64_t>(order.size());
    for (NodeId id : order) {
      sources.clear();
      for (NodeId s : g_.srcs(id)) sources.push_back(now.at(s));
      now[id] = copy(id, sources, args);
    }
    return now.at(body);
  }

 private:
  NodeId copy(NodeId id, std::span<const NodeId> sources, std::span<const NodeId> args) {
    Attrs attrs = g_.attrsOf(id);
    switch (g_.op(id)) {
      case Op::Param: return args[static_cast<size_t>(g_.attr(id, AttrKey::Slot))];
      case Op::Alloc: return g_.make(Op::Alloc, sources, attrs.set(AttrKey::Slot, fresh_.slot++));
      case Op::Range: return g_.make(Op::Range, sources, attrs.set(AttrKey::Id, fresh_.range++));
      case Op::Index:
      case Op::Load: {
        // A value argument that the body indexes needs a place.
        std::vector<NodeId> srcs(sources.begin(), sources.end());
        if (!g_[srcs[0]].place) {
          if (g_.op(id) == Op::Load && srcs.size() == 1) return srcs[0];
          srcs[0] = g_.stage(srcs[0], {}, g_.open(srcs[0]).empty() ? Space::Global : Space::Local);
        }
        return g_.remake(g_, id, srcs);
      }
      default: return remakeValue(g_, id, sources);
    }
  }

  Graph& g_;
  FreshIds fresh_;
  int64_t limit_, made_ = 0;
};

}  // namespace

Result<Program> runInlineCalls(Program p, PassContext& ctx) {
  Graph& g = p.graph;
  Inliner inliner(g, freshIds(g, p.roots()), ctx.options.integer("limit"));
  auto now = rebuildNodes(g, p.roots(), [&](NodeId old, std::span<const NodeId> sources, const auto&) {
    if (inliner.overLimit()) return old;
    if (g.op(old) == Op::Call) return inliner.instantiate(sources[0], sources.subspan(1));
    if (g.op(old) == Op::Get && g.op(g[sources[0]].base) == Op::Tuple && g.dtype(sources[0]) == DType::Tuple) {
      NodeId item = g.tupleItems(sources[0])[static_cast<size_t>(g.attr(old, AttrKey::IndexKey))];
      if (g.op(sources[0]) == Op::Tuple) return item;
      // AFTER of a tuple: its items are ordered the same way.
      return g.dtype(item) == DType::Void ? item : g.after(asValue(g, item), g.srcs(sources[0]).subspan(1));
    }
    return remakeValue(g, old, sources);
  });
  if (inliner.overLimit())
    return fail(Diag::PassError, fmt::format("inline-calls: the program grows beyond {} nodes; raise it with --set inline-calls.limit=N", ctx.options.integer("limit")));
  retarget(p, now);
  return p;
}

}  // namespace uop
