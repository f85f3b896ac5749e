#include "rewrite/engine.h"

#include <algorithm>

#include "rewrite/match.h"

namespace uop {
namespace {

// Node states: `normal` is the normal form, once known; `next` what the node was rewritten to, meanwhile.
class Engine {
 public:
  Engine(Graph& g, const RuleSet& rules, const RewriteOptions& o, RewriteStats& stats) : g_(g), rules_(rules), options_(o), stats_(stats), facts_(g) {
    hits_.resize(rules.rules().size());
  }
  Result<std::vector<NodeId>> run(std::span<const NodeId> roots);

 private:
  enum class Step : uint8_t { Done, Wait };

  Result<void> settle(NodeId id);
  Result<Step> visit(NodeId id);
  Result<NodeId> rewriteOnce(NodeId id);
  Result<NodeId> fitted(const CompiledRule& rule, NodeId root, NodeId to);
  Sketch sketchOf(NodeId id);
  bool pushSources(NodeId id);
  NodeId withSources(NodeId id);
  NodeId tryIndex(NodeId id);
  NodeId unmixed(NodeId id);
  NodeId keepOpen(NodeId old, NodeId now);
  std::unexpected<Error> spent(NodeId at) const;
  std::unexpected<Error> circular(NodeId at) const;
  std::unexpected<Error> unsettled(const std::map<uint32_t, int>& counts, NodeId at) const;
  void grow() {
    if (normal_.size() < g_.size()) normal_.resize(g_.size(), kNoNode), next_.resize(g_.size(), kNoNode), why_.resize(g_.size());
  }

  Graph& g_;
  const RuleSet& rules_;
  const RewriteOptions& options_;
  RewriteStats& stats_;
  ValueRanges facts_;
  std::vector<NodeId> normal_, next_, stack_, sources_;
  std::vector<uint32_t> why_;  // 1 + the rule that made `next_`, 0 if only sources changed
  std::vector<uint64_t> hits_;
  uint64_t rewrites_ = 0, limit_ = 0;
  static constexpr size_t kRecent = 64;
  std::array<uint32_t, kRecent> recent_{};  // the rules that fired last, to name in the error
};

// Names the rules that fired last.
std::unexpected<Error> Engine::spent(NodeId at) const {
  std::map<uint32_t, int> counts;
  for (size_t i = 0; i < std::min<uint64_t>(rewrites_, kRecent); ++i) ++counts[recent_[i]];
  return unsettled(counts, at);
}

// Names the rules between a node and itself.
std::unexpected<Error> Engine::circular(NodeId at) const {
  std::map<uint32_t, int> counts;
  for (size_t i = stack_.size() - 1; i-- > 0;) {
    if (next_[stack_[i]] != kNoNode && why_[stack_[i]] != 0) ++counts[why_[stack_[i]] - 1];
    if (stack_[i] == at) break;
  }
  return unsettled(counts, at);
}

std::unexpected<Error> Engine::unsettled(const std::map<uint32_t, int>& counts, NodeId at) const {
  std::vector<std::pair<int, uint32_t>> order;
  for (auto [rule, n] : counts) order.push_back({-n, rule});
  std::ranges::sort(order);
  std::string names;
  for (auto [n, rule] : order) names += (names.empty() ? "" : ", ") + rules_.rules()[rule].rule.name;
  return fail(Diag::FuelSpent, rewrites_, names, nodeText(g_, at));
}

bool Engine::pushSources(NodeId id) {
  size_t before = stack_.size();
  for (NodeId s : g_.srcs(id))
    if (normal_[s] == kNoNode) stack_.push_back(s);
  return stack_.size() != before;
}

// An index that is now provably outside stays as it was: under a false gate it is legal, and elsewhere the run reports it.
NodeId Engine::tryIndex(NodeId id) {
  if (auto made = g_.tryMake(g_.op(id), sources_, g_.attrsOf(id))) return *made;
  for (size_t i = 1; i < sources_.size(); ++i) sources_[i] = g_.src(id, i);
  return g_.make(g_.op(id), sources_, g_.attrsOf(id));
}

// The node over its sources' normal forms.
NodeId Engine::withSources(NodeId id) {
  sources_.clear();
  bool changed = false;
  for (NodeId s : g_.srcs(id)) {
    sources_.push_back(normal_[s]);
    changed |= normal_[s] != s;
  }
  if (!changed) return id;
  NodeId now = g_.op(id) == Op::Index ? tryIndex(id) : g_.remake(g_, id, sources_);
  return keepOpen(id, now);
}

// What changes memory or waits stays inside its loops, even when no operand needs the loop's variable any more.
NodeId Engine::keepOpen(NodeId old, NodeId now) {
  Op op = g_.op(now);
  if ((op != Op::Store && op != Op::Call && op != Op::After) || g_[old].open == g_[now].open || g_[now].srcCount == 0) return now;
  std::vector<NodeId> lost;
  for (NodeId r : g_.open(old))
    if (NodeId range = normal_[r]; range != kNoNode && g_.op(range) == Op::Range && !g_.isOpen(now, range)) lost.push_back(range);
  if (lost.empty()) return now;
  std::vector<NodeId> sources(g_.srcs(now).begin(), g_.srcs(now).end());
  if (op == Op::After) sources.insert(sources.end(), lost.begin(), lost.end());
  else if (size_t at = op == Op::Call ? 1 : 0; at < sources.size()) sources[at] = g_.after(sources[at], lost);
  return g_.remake(g_, now, sources);
}

// Element-wise operands `index` beside constants of another integer dtype: the constants become `index`.
NodeId Engine::unmixed(NodeId id) {
  if (!hasTrait(g_.op(id), trait::Elementwise) || g_[id].srcCount < 2) return id;
  size_t first = g_.op(id) == Op::Where ? 1 : 0;
  auto srcs = g_.srcs(id).subspan(first);
  if (g_.dtype(srcs[0]) == g_.dtype(srcs[1])) return id;
  sources_.assign(g_.srcs(id).begin(), g_.srcs(id).end());
  for (size_t i = first; i < sources_.size(); ++i)
    if (g_.dtype(sources_[i]) != DType::Index) sources_[i] = g_.constant(DType::Index, g_.constValue(sources_[i]));
  return g_.remake(g_, id, sources_);
}

// What replaces the root has its dtype, its shape and denotes what it did: a place stays one, a value that would become a
// place is loaded (a later AFTER must not reach it).
Result<NodeId> Engine::fitted(const CompiledRule& rule, NodeId root, NodeId to) {
  auto bad = [&](std::string what) -> Result<NodeId> {
    auto e = fail(Diag::RuleError, rule.rule.name, fmt::format("{} at {}", what, nodeText(g_, root)));
    if (rule.builtin) internalError(e.error().message);
    return e;
  };
  if (g_.dtype(to) != g_.dtype(root)) return bad(fmt::format("the replacement's dtype {} is not {}", name(g_.dtype(to)), name(g_.dtype(root))));
  if (!std::ranges::equal(g_.shape(to), g_.shape(root))) {
    std::optional<NodeId> wide;
    if (hasTrait(g_.op(root), trait::Elementwise) || g_.op(root) == Op::Load || g_.isConst(to)) wide = broadcastTo(g_, to, g_.shape(root));
    if (!wide) return bad(fmt::format("the replacement's shape {} is not {}", shapeText(g_.shape(to)), shapeText(g_.shape(root))));
    to = *wide;
  }
  if (g_[root].place && (!g_[to].place || g_[to].base != g_[root].base)) return bad("the replacement denotes another place");
  if (!g_[root].place && g_[to].place) to = g_.load(to);
  return to;
}

Sketch Engine::sketchOf(NodeId id) {
  Sketch out;
  out.fill(~uint64_t{0});
  auto srcs = g_.srcs(id);
  for (size_t i = 0; i < std::min(srcs.size(), kSketchSources); ++i) out[i] = sketchBit(g_.op(srcs[i])) | (facts_.constant(srcs[i]) != kNoNode ? kConstantBit : 0);
  return out;
}

// One rewrite at a node whose sources are in normal form; the node itself where no rule applies.
Result<NodeId> Engine::rewriteOnce(NodeId id) {
  const auto candidates = rules_.at(g_.op(id));
  if (candidates.empty()) return id;
  const Sketch sketch = sketchOf(id);
  for (uint32_t index : candidates) {
    const CompiledRule& rule = rules_.rules()[index];
    if (!rule.mayMatch(sketch)) continue;
    if (rule.rule.fastOnly && !options_.fast) continue;
    auto to = applyRule(g_, facts_, rule, id);
    if (!to && rule.builtin) internalError(to.error().message);
    if (!to) return to;
    if (*to == kNoNode) continue;
    to = fitted(rule, id, *to);
    if (!to) return to;
    if (*to == id) continue;
    ++hits_[index];
    recent_[rewrites_++ % kRecent] = index;
    why_[id] = index + 1;
    return to;
  }
  return id;
}

// One step towards the normal form of the node on top of the stack.
Result<Engine::Step> Engine::visit(NodeId id) {
  if (next_[id] == kNoNode) {
    if (pushSources(id)) return Step::Wait;
    ++stats_.nodes;
    NodeId now = unmixed(withSources(id));
    if (now == id) {
      auto to = rewriteOnce(id);
      if (!to) return std::unexpected(to.error());
      if (rewrites_ > limit_) return spent(id);
      now = *to;
    }
    grow();
    if (now == id) {
      normal_[id] = id;
      return Step::Done;
    }
    next_[id] = now;
  }
  NodeId next = next_[id];
  if (normal_[next] != kNoNode) {
    normal_[id] = normal_[next];
    return Step::Done;
  }
  stack_.push_back(next);
  return Step::Wait;
}

Result<void> Engine::settle(NodeId root) {
  stack_.push_back(root);
  while (!stack_.empty()) {
    NodeId id = stack_.back();
    if (normal_[id] != kNoNode) {
      stack_.pop_back();
      continue;
    }
    size_t depth = stack_.size();
    auto step = visit(id);
    if (!step) return std::unexpected(step.error());
    if (*step == Step::Done) {
      stack_.pop_back();
      continue;
    }
    // A node that waits for itself, through rewrites or through sources of what it was rewritten to, never settles.
    for (size_t i = depth; i < stack_.size(); ++i)
      if (next_[stack_[i]] != kNoNode) return circular(stack_[i]);
  }
  return {};
}

Result<std::vector<NodeId>> Engine::run(std::span<const NodeId> roots) {
  std::vector<NodeId> order = cone(g_, roots, true);
  for (auto* table : {&normal_, &next_, &why_}) table->reserve(withRoom(g_.size()));
  limit_ = options_.limit ? options_.limit : 10000 + 32 * order.size();
  grow();
  for (NodeId id : order)
    if (auto ok = settle(id); !ok) return std::unexpected(ok.error());
  stats_.rewrites += rewrites_;
  for (size_t i = 0; i < hits_.size(); ++i)
    if (hits_[i]) stats_.hits[rules_.rules()[i].rule.name] += hits_[i];
  return std::move(normal_);
}

}  // namespace

Result<std::vector<NodeId>> rewrite(Graph& g, std::span<const NodeId> roots, const RuleSet& rules, const RewriteOptions& options, RewriteStats& stats) {
  return Engine(g, rules, options, stats).run(roots);
}

Result<Program> rewriteProgram(Program p, const RuleSet& rules, const RewriteOptions& options, RewriteStats& stats) {
  auto roots = p.roots();
  auto now = rewrite(p.graph, roots, rules, options, stats);
  if (!now) return std::unexpected(now.error());
  retarget(p, *now);
  return p;
}

}  // namespace uop
