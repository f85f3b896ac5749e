// What a movement op wants of its source: the same for values and for views of places.
#include "passes/rangeify.h"

namespace uop {

Demand Rangeifier::through(NodeId n, const Demand& d) {
  NodeId x = g_.src(n, 0);
  auto from = g_.shape(x), to = g_.shape(n);
  Demand out = d;
  auto index = at(d.index);
  std::vector<NodeId> inner;
  switch (g_.op(n)) {
    case Op::Reshape: inner = math_.reshape(index, to, from); break;
    case Op::Expand:
      for (size_t i = 0; i < from.size(); ++i) inner.push_back(from[i] == 1 ? g_.index(0) : index[to.size() - from.size() + i]);
      break;
    case Op::Permute: {
      auto axes = g_.listAttr(n, AttrKey::Axes);
      inner.resize(from.size());
      for (size_t i = 0; i < axes.size(); ++i) inner[static_cast<size_t>(axes[i])] = index[i];
      break;
    }
    case Op::Flip:
      inner.assign(index.begin(), index.end());
      for (int64_t a : g_.listAttr(n, AttrKey::Axes)) {
        auto i = static_cast<size_t>(a);
        inner[i] = math_.add(math_.mul(index[i], -1), g_.index(from[i] - 1));
      }
      break;
    case Op::Pad: {
      auto pad = g_.listAttr(n, AttrKey::PadKey);
      for (size_t i = 0; i < from.size(); ++i) {
        int64_t before = pad[2 * i], after = pad[2 * i + 1];
        NodeId at = index[i];
        if (before > 0) out.gate = math_.both(out.gate, math_.lt(g_.index(before - 1), at));
        if (after > 0) out.gate = math_.both(out.gate, math_.lt(at, g_.index(before + from[i])));
        inner.push_back(math_.add(at, g_.index(-before)));
      }
      break;
    }
    case Op::Shrink: {
      auto bounds = g_.listAttr(n, AttrKey::Bounds);
      for (size_t i = 0; i < from.size(); ++i) {
        NodeId at = math_.add(index[i], g_.index(bounds[2 * i]));
        if (g_[n].srcCount > 1) at = math_.add(at, math_.asIndex(g_.src(n, 1 + i)));
        inner.push_back(at);
      }
      break;
    }
    default: internalError("rangeify: no index rule for " + std::string(name(g_.op(n))));
  }
  out.index = listOf(inner);
  return out;
}

}  // namespace uop
