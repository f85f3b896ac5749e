// Places, versions and functions. Values: interp_values.cpp; loops: interp_loops.cpp.
#include <functional>

#include "ir/interp_frame.h"

namespace uop::interp {
namespace {

uint64_t poisonOf(DType d) { return isFloat(d) ? Scalar::ofDouble(std::nan("")).bits : static_cast<uint64_t>(wrapTo(static_cast<int64_t>(0xa5a5a5a5a5a5a5a5ull), d)); }

}  // namespace

void fault(const Graph& g, NodeId n, std::string_view what) { throw Fault{{Diag::RuntimeFault, fmt::format("{}, at {}", what, nodeText(g, n)), {}}}; }

std::shared_ptr<Cells> Machine::allocate(int64_t count, uint64_t fill) {
  if (count > options.maxBytes / 8 - cells) throw Fault{{Diag::RuntimeFault, fmt::format("the interpreter needs more than {} bytes for this program", options.maxBytes), {}}};
  cells += count;
  return {new Cells(static_cast<size_t>(count), fill), [this](Cells* p) {
            cells -= static_cast<int64_t>(p->size());
            delete p;
          }};
}

void Machine::spend(uint64_t n, NodeId at) {
  steps += n;
  if (steps > options.maxSteps) fault(g, at, fmt::format("the program takes more than {} steps in the interpreter", options.maxSteps));
}

Value& Frame::value(NodeId n) { return values_[n]; }

// A scalar, wherever it lies: computed, or read from a place of rank 0.
uint64_t Frame::scalar(NodeId n) {
  if (!g_[n].place) return scalars_[n];
  Value& v = values_[n];
  int64_t at = v.layout.position(v.layout.offset);
  if (v.layout.offset < 0) fault(g_, n, "an index is outside of its axis");
  noteAccess(v.root, at, false, n);
  ++m_.out->loads;
  return cells(v)[static_cast<size_t>(at)];
}

Storage* Frame::storageOf(NodeId base) {
  if (g_.op(base) == Op::Param) return params_[static_cast<size_t>(g_.attr(base, AttrKey::Slot))].root;
  auto& held = g_.op(base) == Op::Buffer ? m_.buffers : allocs_;
  auto& s = held[base];
  if (!s) {
    uint64_t fill = g_.op(base) == Op::Buffer ? 0 : poisonOf(g_.dtype(base));
    s.reset(new Storage{base, g_.dtype(base), m_.allocate(g_.elements(base), fill), nullptr, false});
    if (g_.op(base) == Op::Buffer) s->init = s->now;
  }
  return s.get();
}

void Frame::poison(NodeId alloc) {
  Storage* s = storageOf(alloc);
  if (s->now.use_count() > 1) s->now = m_.allocate(static_cast<int64_t>(s->now->size()));
  std::ranges::fill(*s->now, poisonOf(s->dtype));
}

void Frame::evalPlace(NodeId n) {
  Value& v = values_[n];
  if (g_.op(n) == Op::Param) {
    v = params_[static_cast<size_t>(g_.attr(n, AttrKey::Slot))];
    return;
  }
  v.layout = Layout::dense(g_.shape(n));
  v.root = storageOf(n);
  if (plan_->contentRead[n]) v.data = initial_.at(n);
}

// The contents that a closed AFTER denotes: memory as it is now if just the right effects have run, else rebuilt.
std::shared_ptr<const Cells> Frame::versionOf(NodeId after, Storage* root) {
  NodeId base = g_[after].base;
  if (!rebuilt_.contains(base)) return root->now;
  auto out = m_.allocate(static_cast<int64_t>(root->now->size()));
  *out = *initial_.at(base);
  const auto& waits = plan_->waits.at(after);
  for (const Write& w : log_[base])
    if (std::ranges::binary_search(waits, w.effect)) (*out)[static_cast<size_t>(w.at)] = w.value;
  return out;
}

void Frame::evalAfter(NodeId n) {
  NodeId x = g_.src(n, 0);
  if (isFlat(n)) {
    scalars_[n] = scalar(x);
    return;
  }
  Value& v = values_[n];
  const Value& from = values_[x];
  if (!g_[n].place) {
    v = from;
    return;
  }
  v.layout = from.layout;
  v.root = from.root;
  bool live = !g_.open(n).empty();
  if (g_.op(g_[n].base) == Op::Stage) v.data = from.data;
  else if (live || !plan_->contentRead[n]) v.data = nullptr;
  else v.data = versionOf(n, v.root);
}

void Frame::beforeEffect(NodeId n) {
  effect_ = n;
  auto it = plan_->writes.find(n);
  if (it == plan_->writes.end()) return;
  for (NodeId base : it->second) {
    Storage* s = storageOf(base);
    s->written = true;
    if (s->now.use_count() == 1) continue;
    auto copy = m_.allocate(static_cast<int64_t>(s->now->size()));
    *copy = *s->now;
    s->now = std::move(copy);
  }
}

void Frame::logWrite(Storage* s, int64_t at, uint64_t v, NodeId n) {
  for (Frame* f = this; f; f = f->caller_)
    for (NodeId base : f->rebuilt_)
      if (f->storageOf(base) == s) f->log_[base].push_back({f->effect_, at, v});
  noteAccess(s, at, true, n);
}

void Frame::evalCall(NodeId n) {
  std::vector<Value> params;
  for (NodeId a : g_.srcs(n).subspan(1)) {
    if (isFlat(a)) params.push_back({Layout::dense({}), m_.allocate(1, scalars_[a]), nullptr});
    else params.push_back(values_[a]);
    // A place behind a live AFTER is passed as it is now.
    if (params.back().root && !params.back().data) params.back().data = params.back().root->now;
  }
  // Only what it writes is worth a copy: the callee's own version of a written place is what it is given.
  Frame callee(m_, std::move(params), this);
  NodeId roots[] = {g_.src(n, 0)};
  NodeId effect = effect_;
  std::vector<Value> result = callee.run(roots);
  effect_ = effect;
  if (g_.dtype(n) == DType::Void || g_.dtype(n) == DType::Tuple) {
    tuples_[n] = std::move(callee.tuples_[roots[0]]);
    return;
  }
  if (isFlat(n)) scalars_[n] = callee.scalarResult(roots[0]);
  else values_[n] = std::move(result[0]);
  values_[n].root = nullptr;
}

uint64_t Frame::scalarResult(NodeId n) { return scalar(n); }

std::vector<Value> Frame::run(std::span<const NodeId> roots) {
  auto plan = m_.planner.plan(roots);
  if (!plan) throw Fault{plan.error()};
  plan_ = *plan;
  size_t count = plan_->contentRead.size();
  values_.resize(count);
  scalars_.resize(count);
  fns_.resize(count);
  for (NodeId base : plan_->bases) {
    if (g_.op(base) == Op::Param && !g_[base].place) continue;
    Storage* s = storageOf(base);
    if (!s) continue;  // a PARAM bound to a value
    bool param = g_.op(base) == Op::Param;
    auto start = param ? params_[static_cast<size_t>(g_.attr(base, AttrKey::Slot))].data : g_.op(base) == Op::Buffer ? s->init : s->now;
    bool stale = start && start != s->now;
    if (plan_->logged.contains(base) || stale) rebuilt_.insert(base);
    bool read = plan_->contentRead[base] || rebuilt_.contains(base);
    if (read) initial_[base] = start ? start : s->now;
  }
  for (NodeId n : plan_->nodes) {
    if (hasTrait(g_.op(n), trait::Effect)) beforeEffect(n);
    evaluate(n);
    auto last = plan_->last.find(n);
    if (last == plan_->last.end()) continue;
    for (NodeId dead : last->second) values_[dead] = {};
  }
  std::vector<Value> out;
  for (NodeId r : roots) {
    Value v = values_[r];
    if (g_[r].place && !v.data && v.root) v.data = v.root->now;
    out.push_back(std::move(v));
  }
  return out;
}

}  // namespace uop::interp
