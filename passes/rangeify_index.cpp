// What a movement op wants of its source: the same for values and for views of places.
#include "passes/rangeify.h"

namespace uop {

Demand Rangeifier::through(NodeId n, const Demand& d) {
  NodeId x = g_.src(n, 0);
  auto from = g_.shape(x), to = g_.shape(n);
  Demand out{{}, d.gate, d.region, d.loops};
  switch (g_.op(n)) {
    case Op::Reshape: out.index = math_.reshape(d.index, to, from); break;
    case Op::Expand:
      for (size_t i = 0; i < from.size(); ++i) out.index.push_back(from[i] == 1 ? g_.index(0) : d.index[to.size() - from.size() + i]);
      break;
    case Op::Permute: {
      auto axes = g_.listAttr(n, AttrKey::Axes);
      out.index.resize(from.size());
      for (size_t i = 0; i < axes.size(); ++i) out.index[static_cast<size_t>(axes[i])] = d.index[i];
      break;
    }
    case Op::Flip:
      out.index = d.index;
      for (int64_t a : g_.listAttr(n, AttrKey::Axes)) {
        auto i = static_cast<size_t>(a);
        out.index[i] = math_.add(math_.mul(d.index[i], -1), g_.index(from[i] - 1));
      }
      break;
    case Op::Pad: {
      auto pad = g_.listAttr(n, AttrKey::PadKey);
      for (size_t i = 0; i < from.size(); ++i) {
        int64_t before = pad[2 * i], after = pad[2 * i + 1];
        NodeId at = d.index[i];
        if (before > 0) out.gate = math_.both(out.gate, math_.lt(g_.index(before - 1), at));
        if (after > 0) out.gate = math_.both(out.gate, math_.lt(at, g_.index(before + from[i])));
        out.index.push_back(math_.add(at, g_.index(-before)));
      }
      break;
    }
    case Op::Shrink: {
      auto bounds = g_.listAttr(n, AttrKey::Bounds);
      for (size_t i = 0; i < from.size(); ++i) {
        NodeId at = math_.add(d.index[i], g_.index(bounds[2 * i]));
        if (g_[n].srcCount > 1) at = math_.add(at, math_.asIndex(g_.src(n, 1 + i)));
        out.index.push_back(at);
      }
      break;
    }
    default: internalError("rangeify: no index rule for " + std::string(name(g_.op(n))));
  }
  return out;
}

}  // namespace uop
