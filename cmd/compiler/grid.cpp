#include "cmd/compiler/grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace uop {
namespace {

// Text and the interval of values of one node. Saturated, so that a maximum too large to be true stays a maximum.
struct Value {
  std::string text;
  __int128 least = 0, most = 0;
};

constexpr __int128 kFar = INT64_MAX;
__int128 clip(__int128 v) { return std::clamp(v, -kFar, kFar); }

Value product(const Value& a, const Value& b) {
  __int128 corners[] = {a.least * b.least, a.least * b.most, a.most * b.least, a.most * b.most};
  return {fmt::format("(MUL {} {})", a.text, b.text), clip(*std::ranges::min_element(corners)), clip(*std::ranges::max_element(corners))};
}

class Writer {
 public:
  Writer(const Graph& g, const std::function<int64_t(NodeId)>& argument) : g_(g), argument_(argument) {}

  Value value(NodeId root) {
    NodeId roots[] = {root};
    for (NodeId id : cone(g_, roots)) values_[id] = make(id);
    return values_.at(root);
  }

 private:
  Value make(NodeId id) {
    switch (g_.op(id)) {
      case Op::Const: return {fmt::format("{}", *g_.constInt(id)), *g_.constInt(id), *g_.constInt(id)};
      case Op::Param: return param(id);
      case Op::Cast: return of(id, 0);
      case Op::Neg: return {fmt::format("(NEG {})", of(id, 0).text), -of(id, 0).most, -of(id, 0).least};
      case Op::Add:
        return {binary("ADD", id), clip(of(id, 0).least + of(id, 1).least), clip(of(id, 0).most + of(id, 1).most)};
      case Op::Mul: return product(of(id, 0), of(id, 1));
      case Op::Max:
        return {binary("MAX", id), std::max(of(id, 0).least, of(id, 1).least), std::max(of(id, 0).most, of(id, 1).most)};
      case Op::FloorDiv: {
        __int128 far = std::max(std::max(of(id, 0).most, -of(id, 0).least), __int128{0});
        return {binary("FLOORDIV", id), -far - 1, far};
      }
      case Op::FloorMod: {
        __int128 far = std::max(std::max(of(id, 1).most, -of(id, 1).least), __int128{0});
        return {binary("FLOORMOD", id), -far, far};
      }
      default: internalError(fmt::format("a kernel's grid depends on {}", name(g_.op(id))));
    }
  }
  Value param(NodeId id) {
    DType d = g_.dtype(id);
    return {fmt::format("arg{}", argument_(id)), g_.attr(id, AttrKey::Min, minValue(d)),
            g_.attr(id, AttrKey::Max, static_cast<int64_t>(std::min<uint64_t>(maxValue(d), INT64_MAX)))};
  }
  const Value& of(NodeId id, size_t i) const { return values_.at(g_.src(id, i)); }
  std::string binary(std::string_view op, NodeId id) const { return fmt::format("({} {} {})", op, of(id, 0).text, of(id, 1).text); }

  const Graph& g_;
  const std::function<int64_t(NodeId)>& argument_;
  std::map<NodeId, Value> values_;
};

}  // namespace

Amount gridAmount(const Graph& g, std::span<const NodeId> bounds, const std::function<int64_t(NodeId)>& argument) {
  Writer writer(g, argument);
  Value all{"1", 1, 1};
  for (NodeId bound : bounds) {
    Value v = writer.value(bound);
    // A negative bound means no iteration.
    if (v.least < 0) v = {fmt::format("(MAX 0 {})", v.text), 0, std::max(v.most, __int128{0})};
    all = all.text == "1" ? v : product(all, v);
  }
  return {static_cast<int64_t>(all.most), all.text};
}

}  // namespace uop
