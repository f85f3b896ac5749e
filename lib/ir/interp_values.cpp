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

}  // namespace

void Frame::evalScalar(NodeId n) {
  auto srcs = g_.srcs(n);
  uint64_t s[3] = {};
  for (size_t i = 0; i < srcs.size(); ++i) s[i] = scalar(srcs[i]);
  scalars_[n] = fns_[n](s[0], s[1], s[2]);
  m_.out->ops += m_.planner.isData(n);
  m_.out->flops += isFlop(g_.op(n), g_.dtype(n));
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
    const Value& v = flat ? values_[n] : readable(s);
    if (!flat && v.root) m_.out->loads += static_cast<uint64_t>(count);
    in.emplace_back(flat ? one : v.layout, shape, flat ? held[i] : cells(v));
  }
  EvalFn fn = fns_[n];
  for (uint64_t& o : *out) {
    uint64_t a = in[0].next(), b = in[1].next(), c = in[2].next();
    o = fn(a, b, c);
  }
  if (m_.planner.isData(n)) m_.out->ops += static_cast<uint64_t>(count);
  if (isFlop(g_.op(n), g_.dtype(n))) m_.out->flops += static_cast<uint64_t>(count);
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
  const Value& v = readable(x);
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
  if (g_[n].place) from = values_[x];
  else from = asArray(x);
  Value out{{}, from.data, g_[n].place ? from.root : nullptr};
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
  if (from.layout.offset < 0) out.layout.offset = -1;  // still no place
  if (isFlat(n)) scalars_[n] = (*out.data)[static_cast<size_t>(out.layout.position(out.layout.offset))];
  else values_[n] = std::move(out);
}

void Frame::evalReduce(NodeId n) {
  DType d = g_.dtype(n);
  ReduceOp op = g_.reduceOp(n);
  bool wide = isFloat(d) && op != ReduceOp::Max;  // one rounding at the end
  EvalFn fn = wide ? evalFn(opOf(op), DType::F64, DType::F64) : evalFn(opOf(op), d, d);
  NodeId x = g_.src(n, 0);
  auto shape = g_.shape(n);
  int64_t count = Layout::dense(shape).count();
  auto held = m_.allocate(count, identityOf(op, d).bits);
  Cells& acc = *held;
  auto addAll = [&](int64_t repeats) {
    const Value& v = readable(x);
    Positions p(v.layout);
    const Cells& in = cells(v);
    m_.spend(static_cast<uint64_t>(repeats * count), n);
    for (int64_t r = 0; r < repeats; ++r)
      for (uint64_t& a : acc) a = fn(a, in[static_cast<size_t>(p.next())], 0);
    m_.out->ops += static_cast<uint64_t>(repeats * count);
    if (isFloat(g_.dtype(n))) m_.out->flops += static_cast<uint64_t>(repeats * count);
    if (v.root) m_.out->loads += static_cast<uint64_t>(repeats * count);
  };
  if (plan_->loops.contains(n)) {
    runLoops(n, [&] {
      if (g_.rank(x) > 0) return addAll(1);
      acc[0] = fn(acc[0], scalar(x), 0);
      ++m_.out->ops;
      m_.out->flops += isFloat(g_.dtype(n));
    });
  } else if (g_.rank(x) == 0) {
    acc[0] = scalar(x);
  } else if (count > 0) {
    addAll(Layout::dense(g_.shape(x).first(static_cast<size_t>(g_.attr(n, AttrKey::N)))).count());
  }
  if (wide)
    for (uint64_t& a : acc) a = Scalar::ofDouble(roundTo(std::bit_cast<double>(a), d)).bits;
  if (isFlat(n)) scalars_[n] = acc[0];
  else values_[n] = {Layout::dense(shape), std::move(held), nullptr};
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
  auto out = m_.allocate(place.layout.count());
  m_.spend(out->size(), n);
  Cells alt, gate;
  if (srcs.size() == 3) alt = elements(srcs[1], g_.shape(n)), gate = elements(srcs[2], g_.shape(n));
  Positions from(place.layout);
  for (size_t i = 0; i < out->size(); ++i) {
    int64_t at = from.next();
    (*out)[i] = gate.empty() || gate[i] ? readCell(srcs[0], place, at) : alt[i];
  }
  values_[n] = {Layout::dense(g_.shape(n)), std::move(out), nullptr};
}

// A value or the contents of a place, broadcast.
Cells Frame::elements(NodeId n, std::span<const Dim> shape) {
  Cells out(static_cast<size_t>(Layout::dense(shape).count()));
  if (out.empty()) return out;
  if (g_.rank(n) == 0) {
    std::ranges::fill(out, scalar(n));
    return out;
  }
  const Value& v = readable(n);
  Positions p(expand(v.layout, shape));
  const Cells& from = cells(v);
  for (uint64_t& o : out) o = from[static_cast<size_t>(p.next())];
  if (v.root) m_.out->loads += out.size();
  return out;
}

// All is read before anything is written: source and target may overlap.
void Frame::evalStore(NodeId n) {
  auto srcs = g_.srcs(n);
  const Value& place = values_[srcs[0]];
  Storage* root = place.root;
  if (g_.rank(srcs[0]) == 0) {
    if (srcs.size() == 3 && !scalar(srcs[2])) return;
    uint64_t value = scalar(srcs[1]);
    if (place.layout.offset < 0) fault(g_, n, "an index is outside of its axis");
    int64_t at = place.layout.position(place.layout.offset);
    if (depth_ == 0) release(n), ownNow(root);
    return writeCell(root, at, value, n);
  }
  Cells gates, in;
  if (srcs.size() == 3) gates = elements(srcs[2], g_.shape(srcs[0]));
  if (gates.empty() || std::ranges::any_of(gates, [](uint64_t b) { return b != 0; })) in = elements(srcs[1], g_.shape(srcs[0]));
  m_.spend(in.size(), n);
  Layout layout = place.layout;
  if (depth_ == 0) release(n), ownNow(root);
  Positions to(layout);
  for (size_t i = 0; i < in.size(); ++i) {
    int64_t at = to.next();
    if (!gates.empty() && !gates[i]) continue;
    if (layout.offset < 0) fault(g_, n, "an index is outside of its axis");
    writeCell(root, at, in[i], n);
  }
}

void Frame::evalStage(NodeId n) {
  NodeId x = g_.src(n, 0);
  Layout layout = Layout::dense(g_.shape(n));
  auto out = m_.allocate(layout.count());
  auto ranges = g_.srcs(n).subspan(1);
  auto take = [&] {
    // Independent iterations come in any order.
    auto at = static_cast<size_t>(0);
    for (size_t i = 0; i < ranges.size(); ++i) at = at * static_cast<size_t>(layout.shape[i]) + static_cast<size_t>(scalar(ranges[i]));
    if (g_.rank(x) == 0) {
      (*out)[at] = scalar(x);
      return;
    }
    const Value& v = readable(x);
    Positions p(v.layout);
    at *= static_cast<size_t>(v.layout.count());
    for (int64_t i = v.layout.count(); i > 0; --i) (*out)[at++] = cells(v)[static_cast<size_t>(p.next())];
    if (v.root) m_.out->loads += static_cast<uint64_t>(v.layout.count());
  };
  if (plan_->loops.contains(n)) runLoops(n, take);
  else take();
  auto& held = stages_[n];
  if (!held) held = std::make_unique<Storage>();
  held->base = n;
  held->dtype = g_.dtype(n);
  values_[n] = {std::move(layout), std::move(out), held.get()};
}

void Frame::evaluate(NodeId n) {
  Op op = g_.op(n);
  if (hasTrait(op, trait::Elementwise)) return evalElementwise(n);
  switch (op) {
    case Op::Const: scalars_[n] = g_.constValue(n).bits; return;
    case Op::Param:
      if (g_[n].place) return evalPlace(n);
      {
        const Value& v = params_[static_cast<size_t>(g_.attr(n, AttrKey::Slot))];
        scalars_[n] = cells(v)[static_cast<size_t>(v.layout.position(v.layout.offset))];
      }
      return;
    case Op::Buffer:
    case Op::Alloc: return evalPlace(n);
    case Op::After: evalAfter(n); break;
    case Op::Index: evalIndex(n); break;
    case Op::Load: return evalLoad(n);
    case Op::Store: return evalStore(n);
    case Op::Reduce: return evalReduce(n);
    case Op::Stage: return evalStage(n);
    case Op::Call: return evalCall(n);
    case Op::End:
      if (plan_->loops.contains(n)) runLoops(n, [] {});
      return;
    case Op::Tuple: return evalTuple(n);
    case Op::Get: return evalGet(n);
    default:
      if (!hasTrait(op, trait::Movement)) return;  // RANGE is set by its loop, SINK only groups
      evalMovement(n);
  }
  if (m_.planner.fetched(n)) fetch(n);
}

}  // namespace uop::interp
