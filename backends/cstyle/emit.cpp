#include "backends/cstyle/emit.h"

#include <algorithm>
#include <map>

#include "backends/cstyle/kernel_plan.h"
#include "backends/cstyle/prelude.h"
#include "backends/cstyle/spelling.h"
#include "ir/program.h"
#include "schedule/trip_counts.h"

namespace uop::cstyle {
namespace {

constexpr int64_t kMostUnrolled = 16;
constexpr std::string_view kFunction = "UOP_KERNEL void ";

class Emitter {
 public:
  Emitter(const Graph& graph, const KernelPlan& plan, KernelSource& out)
      : g(graph), p(plan), out_(out), intervals_(graph, plan.nodes),
        spell_(graph, intervals_, [this](NodeId n) { return nameOf(n); }), names_(graph.size()), storage_(graph.size()) {}
  Result<void> run();

 private:
  void line(std::string_view text) { out_.text += std::string(2 * depth_, ' ') + std::string(text) + "\n"; }
  std::string nameOf(NodeId) const;
  void gatherArguments();
  void declareArguments();
  void declareScratch();
  void declareAllocs(uint32_t loop);
  void ignoreUnused();
  Result<void> setGrid();
  void decodeTask();
  void body(uint32_t loop);
  void loop(uint32_t loop);
  void node(NodeId);
  void define(NodeId, const std::string& expression);
  void read(NodeId);
  void store(NodeId);
  std::string element(const Access&);
  std::string index(NodeId);
  std::string bound(uint32_t loop);
  uint64_t trips(uint32_t loop) const;
  void countTraffic();

  const Graph& g;
  const KernelPlan& p;
  KernelSource& out_;
  Intervals intervals_;
  Speller spell_;
  std::vector<std::string> names_;    // of values
  std::vector<std::string> storage_;  // of roots
  std::vector<std::optional<uint64_t>> counted_;
  std::vector<uint64_t> iterations_;  // by loop: how often its body runs, in all; at most, where that can't be counted
  std::map<std::pair<NodeId, bool>, uint64_t> touched_;  // of arguments, for writing?
  size_t depth_ = 1, values_ = 0;
  bool usesPlaces_ = false, usesScalars_ = false;
};

uint64_t times(uint64_t a, uint64_t b) {
  uint64_t r;
  return __builtin_mul_overflow(a, b, &r) ? UINT64_MAX : r;
}
uint64_t plus(uint64_t a, uint64_t b) {
  uint64_t r;
  return __builtin_add_overflow(a, b, &r) ? UINT64_MAX : r;
}

std::string Emitter::nameOf(NodeId n) const {
  if (names_[n].empty()) internalError(fmt::format("{} is used before it is computed", nodeText(g, n)));
  return names_[n];
}

void Emitter::gatherArguments() {
  for (NodeId n : p.nodes)
    if (g.op(n) == Op::Param) (g.rank(n) ? out_.places : out_.scalars).push_back(n);
  auto slot = [&](NodeId n) { return g.attr(n, AttrKey::Slot); };
  std::ranges::sort(out_.places, {}, slot);
  std::ranges::sort(out_.scalars, {}, slot);
}

void Emitter::declareArguments() {
  for (size_t k = 0; k < out_.places.size(); ++k) {
    const NodeId n = out_.places[k];
    if (!p.written[n] && !p.read[n]) continue;
    usesPlaces_ = true;
    storage_[n] = fmt::format("p{}", g.attr(n, AttrKey::Slot));
    const std::string type = fmt::format("{}{} *", p.written[n] ? "" : "const ", storageType(g.dtype(n)));
    line(fmt::format("{}restrict {} = ({})places[{}];", type, storage_[n], type, k));
  }
  for (size_t k = 0; k < out_.scalars.size(); ++k) {
    const NodeId n = out_.scalars[k];
    if (!p.needed[n]) continue;
    usesScalars_ = true;
    names_[n] = fmt::format("s{}", g.attr(n, AttrKey::Slot));
    line(fmt::format("const {} {} = {};", valueType(g.dtype(n)), names_[n], spell_.fromBits(g.dtype(n), fmt::format("scalars[{}]", k))));
  }
}

void Emitter::declareScratch() {
  for (const AllocPlan& a : p.allocs) {
    storage_[a.node] = fmt::format("a{}", g.attr(a.node, AttrKey::Slot));
    if (a.scratchOffset < 0) continue;
    const auto type = storageType(g.dtype(a.node));
    line(fmt::format("{} *restrict {} = ({} *)((char *)scratch + {});", type, storage_[a.node], type, a.scratchOffset));
  }
}

void Emitter::declareAllocs(uint32_t loop) {
  for (const AllocPlan& a : p.allocs) {
    if (a.level != loop || a.scratchOffset >= 0) continue;
    const auto type = storageType(g.dtype(a.node));
    if (g.rank(a.node) == 0) line(fmt::format("{} {};", type, storage_[a.node]));
    else line(fmt::format("_Alignas(64) {} {}[{}];", type, storage_[a.node], std::max<int64_t>(1, g.elements(a.node))));
  }
}

void Emitter::ignoreUnused() {
  std::string text;
  if (!usesPlaces_) text += "(void)places; ";
  if (!usesScalars_) text += "(void)scalars; ";
  const bool usesTask = std::ranges::any_of(p.grid, [&](uint32_t l) { return p.needed[p.tree.loops[l].range]; });
  if (!usesTask) text += "(void)task; ";
  if (p.scratchBytes == 0) text += "(void)scratch; ";
  if (!text.empty()) line(text.substr(0, text.size() - 1));
}

Result<void> Emitter::setGrid() {
  bool constant = true;
  for (uint32_t l : p.grid) {
    out_.taskBounds.push_back(g.src(p.tree.loops[l].range, 0));
    auto n = g.constInt(out_.taskBounds.back());
    constant &= n.has_value();
    if (n && __builtin_mul_overflow(out_.tasks, std::max<int64_t>(0, *n), &out_.tasks)) return fail(Diag::Unsupported, "a kernel has more than 2^63 tasks");
  }
  if (!constant) out_.tasks = -1;
  return {};
}

// The last loop of the grid runs fastest. Called where the outermost begins: all bounds are known by then.
void Emitter::decodeTask() {
  std::string rest = "task";
  size_t outer = 0;  // needed variables of this loop and those around it
  for (uint32_t l : p.grid) outer += p.needed[p.tree.loops[l].range];
  for (size_t i = p.grid.size(); i-- > 0;) {
    const NodeId range = p.tree.loops[p.grid[i]].range;
    if (p.needed[range]) line(fmt::format("const int64_t {} = {}{};", nameOf(range), rest, i == 0 ? "" : " % " + bound(p.grid[i])));
    if (i == 0) return;
    if (outer == 0 && !g.isConst(g.src(range, 0))) line(fmt::format("(void){};", bound(p.grid[i])));
    outer -= p.needed[range];
    rest += " / " + bound(p.grid[i]);
  }
}

// A value of any integer type as int64_t.
std::string Emitter::index(NodeId n) {
  const std::string text = spell_.operand(n, DType::Index);
  const DType d = g.dtype(n);
  return g.isConst(n) || d == DType::Index || d == DType::I64 ? text : "(int64_t)" + text;
}

std::string Emitter::bound(uint32_t loop) { return index(g.src(p.tree.loops[loop].range, 0)); }

uint64_t Emitter::trips(uint32_t loop) const {
  const __int128 most = intervals_.of(g.src(p.tree.loops[loop].range, 0)).hi;
  return most <= 0 ? 0 : static_cast<uint64_t>(most);
}

void Emitter::loop(uint32_t l) {
  const LoopTree::Loop& loop = p.tree.loops[l];
  iterations_[l] = counted_[l].value_or(times(iterations_[loop.parent], trips(l)));
  if (p.isGrid[l]) {
    if (l == p.grid.front()) decodeTask();
    return body(l);
  }
  const std::string& r = names_[loop.range];
  auto constant = g.constInt(g.src(loop.range, 0));
  if (loop.kind == Kind::Unroll && constant && *constant > 1 && *constant <= kMostUnrolled) out_.text += fmt::format("#pragma GCC unroll {}\n", *constant);
  const std::string tag = loop.kind == Kind::Loop ? "" : fmt::format("  // {}", kKindNames[static_cast<size_t>(loop.kind)]);
  line(fmt::format("for (int64_t {} = 0; {} < {}; {}++) {{{}", r, r, bound(l), r, tag));
  ++depth_;
  body(l);
  --depth_;
  line("}");
}

void Emitter::body(uint32_t l) {
  declareAllocs(l);
  for (const LoopTree::Item& item : p.tree.loops[l].body) {
    if (!item.isLoop) node(item.node);
    else if (p.busy[item.loop]) loop(item.loop);
  }
}

void Emitter::node(NodeId n) {
  if (!p.needed[n]) return;
  const Op op = g.op(n);
  if (op == Op::Store) return store(n);
  if (p.isAccess(n)) return read(n);
  if (op == Op::After || op == Op::Detach) {
    if (!g.isConst(g.src(n, 0))) names_[n] = nameOf(g.src(n, 0));
    else names_[n] = literal(g.dtype(n), g.constValue(g.src(n, 0)));
    return;
  }
  if (!hasTrait(op, trait::Elementwise)) return;
  if (isFlop(op, g.dtype(n))) out_.flops = plus(out_.flops, iterations_[p.tree.levels[n]]);
  define(n, spell_.expression(n));
}

void Emitter::define(NodeId n, const std::string& expression) {
  names_[n] = fmt::format("v{}", values_++);
  line(fmt::format("const {} {} = {};", valueType(g.dtype(n)), names_[n], expression));
}

// Row-major: ((i0 · d1 + i1) · d2 + i2) …, constants folded.
std::string Emitter::element(const Access& access) {
  const NodeId root = access.place.root;
  if (g.rank(root) == 0) return storage_[root];
  std::string sum;        // what is not constant, "" for nothing
  bool compound = false;  // it needs parentheses as a factor
  int64_t constant = 0;
  for (size_t axis = 0; axis < access.place.indices.size(); ++axis) {
    if (!indexMatters(g, root, axis)) continue;
    const Dim size = g.shape(root)[axis];
    const NodeId i = access.place.indices[axis];
    if (!sum.empty()) sum = fmt::format("{} * {}", compound ? "(" + sum + ")" : sum, literal(DType::I64, Scalar::ofInt(size))), compound = false;
    constant *= size;
    if (auto v = g.constInt(i)) {
      constant += *v;
      continue;
    }
    compound = !sum.empty();
    sum = sum.empty() ? index(i) : sum + " + " + index(i);
  }
  const std::string offset = literal(DType::I64, Scalar::ofInt(constant));
  return fmt::format("{}[{}]", storage_[root], sum.empty() ? offset : constant == 0 ? sum : sum + " + " + offset);
}

void Emitter::read(NodeId n) {
  const Access& access = p.access(n);
  std::string value = spell_.fromStorage(g.dtype(n), element(access));
  if (g.op(n) == Op::Load && g[n].srcCount == 3) value = fmt::format("{} ? {} : {}", spell_.operand(g.src(n, 2)), value, spell_.operand(g.src(n, 1)));
  auto& count = touched_[{access.place.root, false}];
  count = plus(count, iterations_[p.tree.levels[n]]);
  define(n, value);
}

void Emitter::store(NodeId n) {
  const Access& access = p.access(n);
  const std::string gate = g[n].srcCount == 3 ? fmt::format("if ({}) ", spell_.operand(g.src(n, 2))) : "";
  auto& count = touched_[{access.place.root, true}];
  count = plus(count, iterations_[p.tree.levels[n]]);
  const DType d = g.dtype(access.place.root);
  line(fmt::format("{}{} = {};", gate, element(access), spell_.toStorage(d, spell_.operand(g.src(n, 1), d))));
}

void Emitter::countTraffic() {
  for (const auto& [key, count] : touched_)
    if (g.op(key.first) == Op::Param) out_.bytes = plus(out_.bytes, times(std::min(count, static_cast<uint64_t>(g.elements(key.first))), byteSize(g.dtype(key.first))));
}

Result<void> Emitter::run() {
  gatherArguments();
  if (auto r = setGrid(); !r) return r;
  counted_ = tripCounts(g, p.tree);
  iterations_.assign(p.tree.loops.size(), 1);
  for (size_t l = 1; l < p.tree.loops.size(); ++l) names_[p.tree.loops[l].range] = fmt::format("r{}", g.attr(p.tree.loops[l].range, AttrKey::Id));
  out_.text = fmt::format("{}{}(void *const *places, const int64_t *scalars, int64_t task, void *scratch) {{\n", kFunction, out_.symbol);
  declareArguments();
  declareScratch();
  ignoreUnused();
  body(0);
  out_.text += "}\n";
  out_.scratchBytes = p.scratchBytes;
  countTraffic();
  out_.preludeUsed = spell_.used();
  return {};
}

}  // namespace

Result<KernelSource> emitKernel(const Graph& g, NodeId body, std::string_view symbol, const EmitOptions& options) {
  auto plan = planKernel(g, body, options);
  if (!plan) return std::unexpected(plan.error());
  KernelSource out;
  out.symbol = symbol;
  if (auto r = Emitter(g, *plan, out).run(); !r) return std::unexpected(r.error());
  return out;
}

void renameKernel(KernelSource& kernel, std::string_view symbol) {
  kernel.text.replace(kFunction.size(), kernel.symbol.size(), symbol);
  kernel.symbol = symbol;
}

std::string emitTranslationUnit(std::span<const KernelSource> kernels) {
  std::set<std::string_view> used;
  for (const KernelSource& k : kernels) used.insert(k.preludeUsed.begin(), k.preludeUsed.end());
  std::string text = preludeText(used);
  for (const KernelSource& k : kernels) text += "\n" + k.text;
  return text;
}

}  // namespace uop::cstyle
