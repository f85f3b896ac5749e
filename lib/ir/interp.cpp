#include "ir/interp.h"

#include <cstring>

#include "ir/interp_frame.h"

namespace uop {
namespace interp {
namespace {

std::shared_ptr<Cells> unpack(Machine& m, const Array& a) {
  size_t bytes = byteSize(a.dtype), count = a.data.size() / bytes;
  auto out = m.allocate(static_cast<int64_t>(count));
  for (size_t i = 0; i < count; ++i) {
    uint64_t bits = 0;
    std::memcpy(&bits, a.data.data() + i * bytes, bytes);
    (*out)[i] = fromStorage(bits, a.dtype).bits;
  }
  return out;
}

Array pack(const Layout& l, const Cells& cells, DType d) {
  Array out{d, l.shape, {}};
  int64_t count = l.count();
  size_t bytes = byteSize(d);
  out.data.resize(static_cast<size_t>(count) * bytes);
  Positions p(l);
  for (int64_t i = 0; i < count; ++i) {
    uint64_t bits = toStorage({cells[static_cast<size_t>(p.next())]}, d);
    std::memcpy(out.data.data() + static_cast<size_t>(i) * bytes, &bits, bytes);
  }
  return out;
}

// The bound contents of a PARAM or BUFFER; null where a BUFFER is left out.
Result<std::shared_ptr<Cells>> bound(Machine& m, NodeId n, const std::map<std::string, Array>& inputs) {
  std::string name = bindingName(m.g, n);
  auto it = inputs.find(name);
  std::string shape = shapeText(m.g.shape(n));
  auto dtype = uop::name(m.g.dtype(n));
  if (it == inputs.end()) {
    if (m.g.op(n) == Op::Buffer) return nullptr;
    return fail(Diag::Unbound, name, dtype, shape, name);
  }
  const Array& a = it->second;
  bool sameType = a.dtype == m.g.dtype(n) || (m.g.dtype(n) == DType::Index && a.dtype == DType::I64);
  if (!sameType || !std::ranges::equal(a.shape, m.g.shape(n))) return fail(Diag::BindType, name, uop::name(a.dtype), shapeText(a.shape), dtype, shape);
  return unpack(m, a);
}

std::unique_ptr<Storage> storage(const Graph& g, NodeId base, std::shared_ptr<Cells> contents) {
  auto s = std::make_unique<Storage>();
  s->base = base;
  s->dtype = g.dtype(base);
  s->now = contents;
  if (g.op(base) == Op::Buffer) s->init = std::move(contents);
  return s;
}

Result<std::vector<Value>> bindAll(Machine& m, const Program& p, const std::map<std::string, Array>& inputs, std::vector<std::unique_ptr<Storage>>& held) {
  std::vector<Value> params;
  for (NodeId n : cone(m.g, p.roots(), true))
    if (m.g.op(n) == Op::Buffer) {
      auto cells = bound(m, n, inputs);
      if (!cells) return std::unexpected(cells.error());
      if (*cells) m.buffers[n] = storage(m.g, n, *cells);
    }
  for (NodeId n : cone(m.g, p.roots())) {
    if (m.g.op(n) != Op::Param) continue;
    auto cells = bound(m, n, inputs);
    if (!cells) return std::unexpected(cells.error());
    auto slot = static_cast<size_t>(m.g.attr(n, AttrKey::Slot));
    if (slot >= params.size()) params.resize(slot + 1);
    held.push_back(storage(m.g, n, *cells));
    params[slot] = {Layout::dense(m.g.shape(n)), *cells, m.g[n].place ? held.back().get() : nullptr};
  }
  return params;
}

}  // namespace
}  // namespace interp

Result<InterpResult> interpret(const Program& p, const std::map<std::string, Array>& inputs, const InterpOptions& options) {
  using namespace interp;
  if (hasLooseEffects(p)) {
    Program inLoops = compacted(p);
    pinEffects(inLoops);
    return interpret(inLoops, inputs, options);
  }
  InterpResult out;
  Machine m(p.graph, options, &out);
  std::vector<std::unique_ptr<Storage>> held;
  try {
    auto params = bindAll(m, p, inputs, held);
    if (!params) return std::unexpected(params.error());
    Frame frame(m, std::move(*params), nullptr);
    auto roots = p.roots();
    std::vector<Value> values = frame.run(roots);
    for (size_t i = 0; i < roots.size(); ++i) {
      DType d = p.graph.dtype(roots[i]);
      if (isValue(d)) out.results[p.results[i].name] = pack(values[i].layout, *values[i].data, d);
    }
    for (auto& [n, s] : m.buffers) out.buffers[bindingName(p.graph, n)] = pack(Layout::dense(p.graph.shape(n)), *s->now, s->dtype);
    for (auto& s : held)
      if (s->written) out.buffers[bindingName(p.graph, s->base)] = pack(Layout::dense(p.graph.shape(s->base)), *s->now, s->dtype);
  } catch (const Fault& f) {
    return std::unexpected(f.error);
  } catch (const std::bad_alloc&) {
    return fail(Diag::RuntimeFault, "the interpreter is out of memory");
  }
  return out;
}

}  // namespace uop
