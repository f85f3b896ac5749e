#include "schedule/trip_counts.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "ir/eval.h"

namespace uop {
namespace {

constexpr size_t kMostSteps = 1 << 16;  // bounds that are worked out for one loop

uint64_t saturated(unsigned __int128 n) { return n > UINT64_MAX ? UINT64_MAX : static_cast<uint64_t>(n); }

// A bound as a list of steps, each over the results of earlier ones.
class Bound {
 public:
  Bound(const Graph& g, NodeId bound) {
    NodeId roots[] = {bound};
    std::vector<NodeId> todo(roots, roots + 1), order;
    std::unordered_map<NodeId, size_t> at;
    // A RANGE is a leaf here, whatever its own bound is.
    while (!todo.empty()) {
      NodeId n = todo.back();
      size_t before = todo.size();
      const bool leaf = g.op(n) == Op::Range;
      for (NodeId s : leaf ? std::span<const NodeId>{} : g.srcs(n))
        if (!at.contains(s)) todo.push_back(s);
      if (todo.size() != before) continue;
      todo.pop_back();
      if (!at.try_emplace(n, steps_.size()).second) continue;
      add(g, n, at);
    }
  }

  // Whether constants and loops alone decide it.
  bool known() const { return known_; }
  bool constant() const { return ranges_.empty(); }
  const std::vector<NodeId>& ranges() const { return ranges_; }

  uint64_t operator()(const std::unordered_map<NodeId, int64_t>& loops) {
    for (Step& s : steps_) {
      if (s.range != kNoNode) s.value = Scalar::ofInt(loops.at(s.range));
      if (!s.eval) continue;
      uint64_t in[3] = {};
      for (size_t i = 0; i < s.count; ++i) in[i] = steps_[s.srcs[i]].value.bits;
      s.value.bits = s.eval(in[0], in[1], in[2]);
    }
    return static_cast<uint64_t>(std::max<int64_t>(0, steps_.back().value.asInt()));
  }

 private:
  struct Step {
    EvalFn eval = nullptr;
    std::array<size_t, 3> srcs{};
    size_t count = 0;
    NodeId range = kNoNode;
    Scalar value;
  };

  void add(const Graph& g, NodeId n, const std::unordered_map<NodeId, size_t>& at) {
    Step s;
    if (g.op(n) == Op::Range) ranges_.push_back(s.range = n);
    else if (g.isConst(n)) s.value = g.constValue(n);
    else if (hasTrait(g.op(n), trait::Elementwise) && g[n].srcCount <= s.srcs.size()) {
      for (NodeId src : g.srcs(n)) s.srcs[s.count++] = at.at(src);
      s.eval = evalFn(g.op(n), g.dtype(g.srcs(n).back()), g.dtype(n));
    }
    known_ &= s.range != kNoNode || g.isConst(n) || s.eval;
    steps_.push_back(s);
  }

  std::vector<Step> steps_;
  std::vector<NodeId> ranges_;
  bool known_ = true;
};

// The loops around one, outermost first, and itself.
class Nest {
 public:
  Nest(const Graph& g, const LoopTree& tree, uint32_t loop) {
    for (uint32_t l = loop; l != 0; l = tree.loops[l].parent) levels_.push_back({tree.loops[l].range, Bound(g, g.src(tree.loops[l].range, 0))});
    std::ranges::reverse(levels_);
    for (const Level& level : levels_)
      for (NodeId r : level.bound.ranges())
        for (Level& outer : levels_) outer.decides |= outer.range == r;
  }

  std::optional<uint64_t> iterations() {
    if (!std::ranges::all_of(levels_, [](const Level& l) { return l.bound.known(); })) return std::nullopt;
    count(0, 1);
    if (steps_ > kMostSteps) return std::nullopt;
    return total_;
  }

 private:
  struct Level {
    NodeId range;
    Bound bound;
    bool decides = false;  // the bound of another
  };

  // Loops nest no deeper than the format allows, and so does this.
  void count(size_t level, uint64_t outer) {
    if (level == levels_.size()) {
      total_ = saturated(static_cast<unsigned __int128>(total_) + outer);
      return;
    }
    Level& l = levels_[level];
    const uint64_t trips = l.bound(at_);
    if (!l.decides) return count(level + 1, saturated(static_cast<unsigned __int128>(outer) * trips));
    for (uint64_t i = 0; i < trips && ++steps_ <= kMostSteps; ++i) {
      at_[l.range] = static_cast<int64_t>(i);
      count(level + 1, outer);
    }
  }

  std::vector<Level> levels_;
  std::unordered_map<NodeId, int64_t> at_;
  uint64_t total_ = 0;
  size_t steps_ = 0;
};

}  // namespace

std::vector<std::optional<uint64_t>> tripCounts(const Graph& g, const LoopTree& tree) {
  std::vector<std::optional<uint64_t>> out(tree.loops.size(), 1);
  for (uint32_t l = 1; l < tree.loops.size(); ++l) {
    const auto& outer = out[tree.loops[l].parent];
    const auto trips = g.constInt(g.src(tree.loops[l].range, 0));
    if (trips && outer) out[l] = saturated(static_cast<unsigned __int128>(*outer) * static_cast<uint64_t>(std::max<int64_t>(0, *trips)));
    else out[l] = Nest(g, tree, l).iterations();
  }
  return out;
}

}  // namespace uop
