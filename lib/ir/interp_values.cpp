// What each op computes.
#include "ir/interp_frame.h"

namespace uop::interp {
namespace {

// Reads one operand element by element, broadcast to the result's shape.
class Operand {
 public:
  Operand(const Layout& l, std::span<const Dim> shape, const Cells& cells) : positions_(expand(l, shape)), cells_(cells.data()) {}
  uint64_t next() { return cells_[positions_.next()]; }

 private:
  Positions positions_;
  const uint64_t* cells_;
};

bool isData(const Graph& g, NodeId n) { return g.dtype(g.srcs(n).back()) != DType::Index; }

}  // namespace

void Frame::evalScalar(NodeId n) {
  auto srcs = g_.srcs(n);
  uint64_t s[3] = {};
  for (size_t i = 0; i < srcs.size(); ++i) s[i] = scalar(srcs[i]);
  scalars_[n] = fns_[n](s[0], s[1], s[2]);
  m_.out->ops += isData(g_, n);
}

void Frame::evalElementwise(NodeId n) {
  auto srcs = g_.srcs(n);
  if (!fns_[n]) {
    DType operand = g_.dtype(srcs.back());
    if (srcs.size() > 1)
      for (NodeId s : srcs)
        if (g_.dtype(s) == DType::Index) operand = DType::Index;
    fns_[n] = evalFn(g_.op(n), operand, g_.dtype(n));
    if (!fns_[n]) internalError("the interpreter has no meaning for " + nodeText(g_, n));
  }
  if (isFlat(n)) return evalScalar(n);
  auto shape = g_.shape(n);
  int64_t count = Layout::dense(shape).count();
  m_.spend(static_cast<uint64_t>(count), n);
  auto out = m_.allocate(count);
  std::vector<Operand> in;
  Cells flats(3);
  Layout one = Layout::dense({});
  for (size_t i = 0; i < 3; ++i) {
    size_t k = std::min(i, srcs.size() - 1);
    if (isFlat(srcs[k])) flats[i] = scalars_[srcs[k]];
  }
  std::vector<Cells> held(3, Cells(1));
  for (size_t i = 0; i < 3; ++i) {
    NodeId s = srcs[std::min(i, srcs.size() - 1)];
    held[i][0] = flats[i];
    bool flat = isFlat(s) || i >= srcs.size();
    if (!flat && g_[s].place) m_.out->loads += static_cast<uint64_t>(count);
    in.emplace_back(flat ? one : values_[s].layout, shape, flat ? held[i] : cells(values_[s]));
  }
  EvalFn fn = fns_[n];
  for (uint64_t& o : *out) {
    uint64_t a = in[0].next(), b = in[1].next(), c = in[2].next();
    o = fn(a, b, c);
  }
  if (isData(g_, n)) m_.out->ops += static_cast<uint64_t>(count);
  values_[n] = {Layout::dense(shape), std::move(out), nullptr};
}

void Frame::evalPad(NodeId n) {
  NodeId x = g_.src(n, 0);
  if (isFlat(n)) {
    scalars_[n] = scalar(x);
    return;
  }
  Layout to = Layout::dense(g_.shape(n));
  auto out = m_.allocate(to.count(), zeroOf(g_.dtype(n)).bits);
  auto pad = g_.listAttr(n, AttrKey::PadKey);
  std::vector<int64_t> begins;
  for (size_t i = 0; i < pad.size(); i += 2) begins.push_back(pad[i]);
  const Value& v = values_[x];
  int64_t count = v.layout.count();
  Positions from(v.layout), at(window(to, begins, g_.shape(x)));
  const Cells& in = cells(v);
  for (int64_t i = 0; i < count; ++i) (*out)[static_cast<size_t>(at.next())] = in[static_cast<size_t>(from.next())];
  m_.spend(static_cast<uint64_t>(to.count()), n);
  m_.out->ops += static_cast<uint64_t>(to.count());
  values_[n] = {std::move(to), std::move(out), nullptr};
}

void Frame::evalMovement(NodeId n) {
  if (g_.op(n) == Op::Pad) return evalPad(n);
  NodeId x = g_.src(n, 0);
  Value from;
  if (isFlat(x)) from = {Layout::dense({}), m_.allocate(1, scalars_[x]), nullptr};
  else from = values_[x];
  Value out{{}, from.data, g_[n].place ? from.root : nullptr};
  if (!out.data && !g_[n].place) out.data = from.root->now;
  switch (g_.op(n)) {
    case Op::Reshape: out.layout = reshape(from.layout, g_.shape(n)); break;
    case Op::Expand: out.layout = expand(from.layout, g_.shape(n)); break;
    case Op::Permute: out.layout = permute(from.layout, g_.listAttr(n, AttrKey::Axes)); break;
    case Op::Flip: out.layout = flip(from.layout, g_.listAttr(n, AttrKey::Axes)); break;
    default: {
      auto bounds = g_.listAttr(n, AttrKey::Bounds);
      std::vector<int64_t> begins;
      for (size_t i = 0; i < g_.rank(n); ++i) {
        int64_t shift = g_[n].srcCount > 1 ? static_cast<int64_t>(scalar(g_.src(n, 1 + i))) : 0;
        begins.push_back(bounds[2 * i] + shift);
        if (begins.back() < 0 || shift > g_.shape(x)[i] - bounds[2 * i + 1]) fault(g_, n, fmt::format("the SHRINK window of axis {} is outside of it, shifted by {}", i, shift));
      }
      out.layout = window(from.layout, begins, g_.shape(n));
    }
  }
  if (isFlat(n)) scalars_[n] = (*out.data)[static_cast<size_t>(out.layout.position(out.layout.offset))];
  else values_[n] = std::move(out);
}

void Frame::evalReduce(NodeId n) {
  DType d = g_.dtype(n);
  ReduceOp op = g_.reduceOp(n);
  bool wide = isFloat(d) && op != ReduceOp::Max;  // one rounding at the end
  EvalFn fn = wide ? evalFn(opOf(op), DType::F64, DType::F64) : evalFn(opOf(op), d, d);
  NodeId x = g_.src(n, 0);
  auto finish = [&](uint64_t bits) { return wide ? Scalar::ofDouble(roundTo(std::bit_cast<double>(bits), d)).bits : bits; };
  auto shape = g_.shape(n);
  int64_t count = Layout::dense(shape).count();
  Cells acc(static_cast<size_t>(count), identityOf(op, d).bits);
  auto addAll = [&](const Value& v, int64_t repeats) {
    Positions p(v.layout);
    const Cells& in = cells(v);
    for (int64_t r = 0; r < repeats; ++r)
      for (uint64_t& a : acc) a = fn(a, in[static_cast<size_t>(p.next())], 0);
    m_.spend(static_cast<uint64_t>(repeats * count), n);
    m_.out->ops += static_cast<uint64_t>(repeats * count);
    if (v.root) m_.out->loads += static_cast<uint64_t>(repeats * count);
  };
  if (auto loops = plan_->loops.find(n); loops != plan_->loops.end()) {
    runLoops(n, loops->second, 0, [&] {
      if (!isFlat(x) && g_.rank(x) > 0) return addAll(values_[x], 1);
      acc[0] = fn(acc[0], scalar(x), 0);
      ++m_.out->ops;
    });
  } else if (isFlat(x) || g_.rank(x) == 0) {
    acc[0] = scalar(x);
  } else {
    int64_t repeats = 1;
    for (Dim e : g_.shape(x).first(static_cast<size_t>(g_.attr(n, AttrKey::N)))) repeats *= e;
    if (count > 0) addAll(values_[x], repeats);
  }
  for (uint64_t& a : acc) a = finish(a);
  if (isFlat(n)) {
    scalars_[n] = acc[0];
    return;
  }
  auto out = m_.allocate(count);
  *out = std::move(acc);
  values_[n] = {Layout::dense(shape), std::move(out), nullptr};
}

// Outside of its axis it denotes no place: an access faults unless its gate is false.
void Frame::evalIndex(NodeId n) {
  NodeId x = g_.src(n, 0);
  const Value& from = values_[x];
  auto srcs = g_.srcs(n).subspan(1);
  auto shape = g_.shape(x);
  int64_t offset = from.layout.offset;
  bool inside = from.layout.offset >= 0;
  for (size_t i = 0; i < srcs.size(); ++i) {
    auto at = static_cast<int64_t>(scalar(srcs[i]));
    inside &= at >= 0 && at < shape[i];
    if (inside) offset += at * from.layout.strides[i];
  }
  Value& v = values_[n];
  v.layout.offset = inside ? offset : -1;
  v.data = from.data;
  v.root = from.root;
  v.layout.at = from.layout.at;
  if (g_.rank(n) == 0) return;
  v.layout.shape.assign(from.layout.shape.begin() + static_cast<long>(srcs.size()), from.layout.shape.end());
  v.layout.strides.assign(from.layout.strides.begin() + static_cast<long>(srcs.size()), from.layout.strides.end());
}

void Frame::evalLoad(NodeId n) {
  auto srcs = g_.srcs(n);
  if (isFlat(n)) {
    bool on = srcs.size() == 1 || scalar(srcs[2]);
    scalars_[n] = on ? scalar(srcs[0]) : scalar(srcs[1]);
    return;
  }
  const Value& place = values_[srcs[0]];
  int64_t count = place.layout.count();
  auto out = m_.allocate(count);
  Cells flat(1);
  auto operand = [&](size_t i) -> std::pair<Layout, const Cells*> {
    if (!isFlat(srcs[i])) return {expand(values_[srcs[i]].layout, g_.shape(n)), &cells(values_[srcs[i]])};
    return {expand(Layout::dense({}), g_.shape(n)), nullptr};
  };
  std::optional<Positions> alt, gate;
  const Cells *altCells = nullptr, *gateCells = nullptr;
  if (srcs.size() == 3) {
    auto [a, ac] = operand(1);
    auto [g, gc] = operand(2);
    alt.emplace(a), gate.emplace(g), altCells = ac, gateCells = gc;
  }
  Positions from(place.layout);
  for (uint64_t& o : *out) {
    int64_t at = from.next();
    bool on = true;
    uint64_t other = 0;
    if (gate) {
      int64_t gp = gate->next(), ap = alt->next();
      on = gateCells ? (*gateCells)[static_cast<size_t>(gp)] : scalars_[srcs[2]];
      other = altCells ? (*altCells)[static_cast<size_t>(ap)] : scalars_[srcs[1]];
    }
    if (on && place.layout.offset < 0) fault(g_, n, "an index is outside of its axis");
    if (on) noteAccess(place.root, at, false, n), ++m_.out->loads;
    o = on ? cells(place)[static_cast<size_t>(at)] : other;
  }
  values_[n] = {Layout::dense(g_.shape(n)), std::move(out), nullptr};
}

void Frame::evalStore(NodeId n) {
  auto srcs = g_.srcs(n);
  Value& place = values_[srcs[0]];
  int64_t count = place.layout.count();
  // All is read before anything is written: source and target may overlap.
  Cells in(static_cast<size_t>(count)), gates(static_cast<size_t>(count), 1);
  auto read = [&](NodeId s, Cells& to) {
    if (g_.rank(s) == 0) {
      std::ranges::fill(to, count ? scalar(s) : 0);
      return;
    }
    Positions p(expand(values_[s].layout, g_.shape(srcs[0])));
    const Cells& from = cells(values_[s]);
    for (uint64_t& o : to) o = from[static_cast<size_t>(p.next())];
    if (g_[s].place) m_.out->loads += to.size();
  };
  if (srcs.size() == 3) read(srcs[2], gates);
  if (std::ranges::any_of(gates, [](uint64_t b) { return b != 0; })) read(srcs[1], in);
  Positions to(place.layout);
  Cells& now = *place.root->now;
  for (size_t i = 0; i < in.size(); ++i) {
    int64_t at = to.next();
    if (!gates[i]) continue;
    if (place.layout.offset < 0) fault(g_, n, "an index is outside of its axis");
    now[static_cast<size_t>(at)] = in[i];
    logWrite(place.root, at, in[i], n);
  }
  m_.spend(static_cast<uint64_t>(count), n);
}

void Frame::evalStage(NodeId n) {
  NodeId x = g_.src(n, 0);
  Layout layout = Layout::dense(g_.shape(n));
  auto out = m_.allocate(layout.count());
  size_t filled = 0;
  auto take = [&] {
    if (g_.rank(x) == 0) {
      (*out)[filled++] = scalar(x);
      return;
    }
    const Value& v = values_[x];
    Positions p(v.layout);
    for (int64_t i = v.layout.count(); i > 0; --i) (*out)[filled++] = cells(v)[static_cast<size_t>(p.next())];
    if (v.root) m_.out->loads += static_cast<uint64_t>(v.layout.count());
  };
  if (auto loops = plan_->loops.find(n); loops != plan_->loops.end()) runLoops(n, loops->second, 0, take);
  else take();
  values_[n] = {std::move(layout), out, nullptr};
  stages_[n] = std::make_unique<Storage>(Storage{n, g_.dtype(n), out, nullptr, false});
  values_[n].root = stages_[n].get();
}

void Frame::evaluate(NodeId n) {
  Op op = g_.op(n);
  if (hasTrait(op, trait::Elementwise)) return evalElementwise(n);
  if (hasTrait(op, trait::Movement)) return evalMovement(n);
  switch (op) {
    case Op::Const: scalars_[n] = g_.constValue(n).bits; return;
    case Op::Param:
      if (!g_[n].place) {
        const Value& v = params_[static_cast<size_t>(g_.attr(n, AttrKey::Slot))];
        scalars_[n] = cells(v)[static_cast<size_t>(v.layout.position(v.layout.offset))];
        return;
      }
      return evalPlace(n);
    case Op::Buffer:
    case Op::Alloc: return evalPlace(n);
    case Op::After: return evalAfter(n);
    case Op::Index: return evalIndex(n);
    case Op::Load: return evalLoad(n);
    case Op::Store: return evalStore(n);
    case Op::Reduce: return evalReduce(n);
    case Op::Stage: return evalStage(n);
    case Op::Call: return evalCall(n);
    case Op::End:
      if (auto loops = plan_->loops.find(n); loops != plan_->loops.end()) runLoops(n, loops->second, 0, [] {});
      return;
    case Op::Tuple: {
      auto& items = tuples_[n];
      items.clear();
      for (NodeId s : g_.srcs(n)) {
        if (isFlat(s)) items.push_back({Layout::dense({}), m_.allocate(1, scalars_[s]), nullptr});
        else items.push_back(values_[s]);
        if (items.back().root && !items.back().data) items.back().data = items.back().root->now;
      }
      return;
    }
    case Op::Get: {
      NodeId t = g_.src(n, 0);
      while (g_.op(t) == Op::After) t = g_.src(t, 0);
      Value v = tuples_.at(t)[static_cast<size_t>(g_.attr(n, AttrKey::IndexKey))];
      v.root = nullptr;
      if (isFlat(n)) scalars_[n] = cells(v)[static_cast<size_t>(v.layout.position(v.layout.offset))];
      else values_[n] = std::move(v);
      return;
    }
    default: return;  // RANGE is set by its loop, SINK only groups
  }
}

}  // namespace uop::interp
