// The pool of values that random programs are made from, and the steps that add to it.
#pragma once
#include <map>

#include "cmd/check/random_program.h"
#include "cmd/check/rng.h"

namespace uop {

// How far a value can be trusted: integers in floats that no order of sums changes, or rounded ones after so many steps.
struct Trust {
  double most = 0;      // magnitude
  unsigned rounded = 0; // steps since it was exact; 0: exact
};

class ValuePool {
 public:
  ValuePool(Graph& g, Rng& rng, const RandomOptions& options) : g_(g), rng_(rng), options_(options) {}

  // One more value, from those that there are.
  void step();
  NodeId add(NodeId n, Trust t);
  NodeId any() { return rng_.pick(values_); }
  const std::vector<NodeId>& values() const { return values_; }
  Trust trust(NodeId n) const { return trust_.at(n); }
  bool exact(NodeId n) const { return !isFloat(g_.dtype(n)) || trust(n).rounded == 0; }

  // x brought to a shape or dtype, by whatever ops it takes.
  NodeId fit(NodeId x, std::span<const Dim> shape);
  NodeId asType(NodeId x, DType d);
  NodeId leaf(NodeId n) { return add(n, {leafMost(g_.dtype(n)), 0}); }
  std::vector<Dim> randomShape();
  DType randomType();

 private:
  using Step = void (ValuePool::*)();
  void unary();
  void binary();
  void compare();
  void select();
  void convert();
  void move();
  void reduce();
  void integer();
  void matrix();
  void normalize();
  void gather();
  void prefixSum();
  void stage();

  static double leafMost(DType d);
  NodeId keep(NodeId n, Trust t);
  Trust with(DType d, double most, std::initializer_list<NodeId> from, bool rounds = false) const;
  NodeId tensor(DType d, double value, std::span<const Dim> shape);
  NodeId windows(NodeId x, Dim n);
  NodeId permuteToFront(NodeId x, size_t axis);
  NodeId exactValue();
  NodeId ofKind(bool (*kind)(DType), DType otherwise);

  Graph& g_;
  Rng& rng_;
  const RandomOptions& options_;
  std::vector<NodeId> values_;
  std::map<NodeId, Trust> trust_;
};

}  // namespace uop
