// Functions, their storage, and the versions of its contents. Values: interp_values.cpp; memory: interp_memory.cpp;
// loops: interp_loops.cpp.
#include "ir/interp_frame.h"

namespace uop::interp {
namespace {

constexpr uint32_t kMaxCalls = 1000;  // nested: each takes some of the machine's own stack

uint64_t poisonOf(DType d) {
  return isFloat(d) ? Scalar::ofDouble(std::nan("")).bits : static_cast<uint64_t>(wrapTo(static_cast<int64_t>(0xa5a5a5a5a5a5a5a5ull), d));
}

}  // namespace

void fault(const Graph& g, NodeId n, std::string_view what) { throw Fault{{Diag::RuntimeFault, fmt::format("{}, at {}", what, nodeText(g, n)), {}}}; }

void Machine::charge(int64_t count) {
  if (count > options.maxBytes / 8 - cells) throw Fault{{Diag::RuntimeFault, fmt::format("the interpreter needs more than {} bytes for this program", options.maxBytes), {}}};
  cells += count;
}

std::shared_ptr<Cells> Machine::allocate(int64_t count, uint64_t fill) {
  charge(count);
  return {new Cells(static_cast<size_t>(count), fill), [this](Cells* p) {
            cells -= static_cast<int64_t>(p->size());
            delete p;
          }};
}

void Machine::spend(uint64_t n, NodeId at) {
  steps += n;
  if (steps > options.maxSteps) fault(g, at, fmt::format("the program takes more than {} steps in the interpreter", options.maxSteps));
}

Storage* Frame::storageOf(NodeId base) {
  if (g_.op(base) == Op::Param) return params_[static_cast<size_t>(g_.attr(base, AttrKey::Slot))].root;
  auto& held = g_.op(base) == Op::Buffer ? m_.buffers : allocs_;
  auto& s = held[base];
  if (!s) {
    s = std::make_unique<Storage>();
    s->base = base;
    s->dtype = g_.dtype(base);
    s->now = m_.allocate(Layout::dense(g_.shape(base)).count(), g_.op(base) == Op::Buffer ? 0 : poisonOf(s->dtype));
    if (g_.op(base) == Op::Buffer) s->init = s->now;
  }
  return s.get();
}

void Frame::poison(Storage* s) {
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
  v.data = plan_->contentRead.contains(n) ? initial_.at(n) : nullptr;
}

// The contents that a closed AFTER denotes: memory as it is now if just the right effects have run, else rebuilt.
std::shared_ptr<const Cells> Frame::versionOf(NodeId after, Storage* root) {
  auto log = logs_.find(root);
  if (log == logs_.end() || !(log->second.stale || plan_->rebuilt.contains(after))) return root->now;
  auto out = m_.allocate(static_cast<int64_t>(root->now->size()));
  *out = *initial_.at(g_[after].base);
  m_.spend(log->second.writes.size(), after);
  auto waits = plan_->waits.find(after);
  if (waits == plan_->waits.end()) return out;
  for (const Write& w : log->second.writes)
    if (waits->second.contains(w.effect)) (*out)[static_cast<size_t>(w.at)] = w.value;
  return out;
}

void Frame::evalAfter(NodeId n) {
  NodeId x = g_.src(n, 0);
  if (isFlat(n)) {
    scalars_[n] = scalar(x);
    return;
  }
  Value& v = values_[n];
  if (!g_[n].place) {
    if (g_.dtype(n) != DType::Tuple) v = values_[x];
    return;
  }
  const Value& from = values_[x];
  v.layout = from.layout;
  v.root = from.root;
  if (g_.op(g_[n].base) == Op::Stage || !v.root) v.data = from.data;  // a PARAM bound to a value has no storage
  else if (!g_.open(n).empty() || !plan_->contentRead.contains(n)) v.data = nullptr;
  else v.data = versionOf(n, v.root);
}

// Memory that is nobody else's version, to write to.
void Frame::ownNow(Storage* s) {
  s->written = true;
  if (s->now.use_count() == 1) return;
  auto copy = m_.allocate(static_cast<int64_t>(s->now->size()));
  *copy = *s->now;
  s->now = std::move(copy);
}

void Frame::beforeEffect(NodeId n) {
  auto it = plan_->writes.find(n);
  if (it == plan_->writes.end()) return;
  for (NodeId base : it->second) {
    Storage* s = storageOf(base);
    if (auto log = logs_.find(s); log != logs_.end()) ++log->second.effects;
    if (g_.op(n) != Op::Store) ownNow(s);  // a STORE reads first, then lets go of what it has read
  }
}

// Frees what nothing needs after n.
void Frame::release(NodeId n) {
  auto last = plan_->last.find(n);
  if (last == plan_->last.end()) return;
  for (NodeId dead : last->second) values_[dead] = {};
}

void Frame::logWrite(Storage* s, int64_t at, uint64_t v) {
  for (Frame* f = this; f; f = f->caller_) {
    auto log = f->logs_.find(s);
    if (log == f->logs_.end()) continue;
    m_.charge(sizeof(Write) / 8);
    log->second.writes.push_back({log->second.effects, at, v});
  }
}

Value Frame::asArray(NodeId n) {
  if (isFlat(n)) return {Layout::dense({}), m_.allocate(1, scalars_[n]), nullptr};
  Value v = readable(n);
  if (v.root && !v.data) v.data = v.root->now;
  return v;
}

void Frame::evalCall(NodeId n) {
  std::vector<Value> params;
  for (NodeId a : g_.srcs(n).subspan(1)) {
    params.push_back(g_[a].place ? values_[a] : asArray(a));
    if (g_[a].place && g_.op(g_[a].base) == Op::Stage) params.back().root = nullptr;  // a value: nothing writes it
    // A place behind a live AFTER is passed as it is now.
    if (params.back().root && !params.back().data) params.back().data = params.back().root->now;
  }
  if (++m_.calls > kMaxCalls) fault(g_, n, fmt::format("CALLs are nested more than {} deep", kMaxCalls));
  NodeId roots[] = {g_.src(n, 0)};
  std::vector<Value> items;
  Value result;
  {
    Frame callee(m_, std::move(params), this);
    result = std::move(callee.run(roots)[0]);
    if (g_.dtype(n) == DType::Tuple) items = std::move(callee.tuples_[callee.tupleOf(roots[0])]);
  }
  --m_.calls;
  result.root = nullptr;
  if (!isValue(g_.dtype(n))) tuples_[n] = std::move(items);
  else if (isFlat(n)) scalars_[n] = (*result.data)[static_cast<size_t>(result.layout.position(result.layout.offset))];
  else values_[n] = std::move(result);
}

void Frame::evalTuple(NodeId n) {
  std::vector<Value> items;
  for (NodeId s : g_.srcs(n)) items.push_back(asArray(s));
  tuples_[n] = std::move(items);
}

NodeId Frame::tupleOf(NodeId n) const {
  while (g_.op(n) == Op::After) n = g_.src(n, 0);
  return n;
}

void Frame::evalGet(NodeId n) {
  Value v = tuples_.at(tupleOf(g_.src(n, 0)))[static_cast<size_t>(g_.attr(n, AttrKey::IndexKey))];
  v.root = nullptr;
  if (isFlat(n)) scalars_[n] = cells(v)[static_cast<size_t>(v.layout.position(v.layout.offset))];
  else values_[n] = std::move(v);
}

Frame::~Frame() {
  for (auto& [base, s] : allocs_) m_.cells -= static_cast<int64_t>(2 * s->stored.size() + 3 * s->touched.size());
  for (auto& [s, log] : logs_) m_.cells -= static_cast<int64_t>(log.writes.size() * (sizeof(Write) / 8));
}

// What the function finds in its storage.
void Frame::begin() {
  std::map<NodeId, std::shared_ptr<const Cells>> starts;
  for (NodeId base : plan_->bases) {
    Op op = g_.op(base);
    if (op == Op::Param && !g_[base].place) continue;
    Storage* s = storageOf(base);
    if (!s) continue;  // a PARAM bound to a value
    const Value* arg = op == Op::Param ? &params_[static_cast<size_t>(g_.attr(base, AttrKey::Slot))] : nullptr;
    auto& start = starts[base] = arg && arg->data ? arg->data : op == Op::Buffer ? s->init : s->now;
    bool stale = start != s->now;
    if (plan_->logged.contains(base) || stale) logs_.emplace(s, Log{stale, 0, {}});
  }
  // Two PARAMs may be two versions of one storage, so what is logged is known only now.
  for (auto& [base, start] : starts) {
    Storage* s = storageOf(base);
    if (plan_->contentRead.contains(base) || logs_.contains(s)) initial_[base] = std::move(start);
    else if (g_.op(base) == Op::Param) params_[static_cast<size_t>(g_.attr(base, AttrKey::Slot))].data = nullptr;
    if (!plan_->inLoops.contains(base) || !s->stored.empty()) continue;
    m_.charge(static_cast<int64_t>(2 * s->now->size()));
    s->stored.resize(s->now->size());
  }
}

std::vector<Value> Frame::run(std::span<const NodeId> roots) {
  auto plan = m_.planner.plan(roots);
  if (!plan) throw Fault{plan.error()};
  plan_ = *plan;
  struct Saved {
    Value value;
    uint64_t scalar, began;
  };
  std::vector<Saved> callers;
  if (caller_)
    for (NodeId n : plan_->all) callers.push_back({std::exchange(values_[n], {}), scalars_[n], m_.began[n]});
  begin();
  for (NodeId n : plan_->nodes) {
    if (hasTrait(g_.op(n), trait::Effect)) beforeEffect(n);
    evaluate(n);
    release(n);
  }
  std::vector<Value> out;
  for (NodeId r : roots) out.push_back(isValue(g_.dtype(r)) ? asArray(r) : Value{});
  for (size_t i = 0; i < callers.size(); ++i) {
    NodeId n = plan_->all[i];
    values_[n] = std::move(callers[i].value);
    scalars_[n] = callers[i].scalar;
    m_.began[n] = callers[i].began;
  }
  return out;
}

}  // namespace uop::interp
