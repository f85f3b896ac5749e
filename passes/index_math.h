// Index arithmetic with the obvious simplifications made on the way: constants folded, neutral elements dropped.
// The index rules of `simplify` do the rest.
#pragma once
#include "ir/graph.h"

namespace uop {

class IndexMath {
 public:
  explicit IndexMath(Graph& g) : g_(g) {}

  NodeId asIndex(NodeId x) { return g_.constInt(x) && g_.dtype(x) != DType::Index ? g_.index(*g_.constInt(x)) : g_.cast(x, DType::Index); }
  NodeId add(NodeId x, NodeId y);
  NodeId mul(NodeId x, int64_t c);
  NodeId div(NodeId x, int64_t c);  // c > 0
  NodeId mod(NodeId x, int64_t c);  // c > 0
  NodeId lt(NodeId x, NodeId y);
  NodeId both(NodeId a, NodeId b);  // AND of gates; kNoNode stands for true

  // The index of each axis of `from` for the element whose index in `to` is `index`; the shapes hold equally many
  // elements. Axes are cut into groups at common factors, so that div and mod appear only where axes truly merge.
  std::vector<NodeId> reshape(std::span<const NodeId> index, std::span<const Dim> to, std::span<const Dim> from);

 private:
  void reshapeGroup(std::span<const NodeId> index, std::span<const Dim> to, std::span<const Dim> from, std::vector<NodeId>& out);
  Graph& g_;
};

}  // namespace uop
