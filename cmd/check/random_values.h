// The pool of values that random programs are made from, and the steps that add to it. A new kind of step is one member
// function and one row of the table in random_values.cpp.
#pragma once
#include <cmath>
#include <map>

#include "cmd/check/random_program.h"
#include "cmd/check/rng.h"

namespace uop {

// How far the value of a float can be foretold. A rounded one differs from run to run by its last bits, so nothing that
// jumps (a comparison, a CAST to integers, a difference) may see it.
struct Trust {
  double most = 0;         // magnitude of what is finite; up to exactLimit(dtype): whole numbers. INFINITY: exact, but sums of it are not
  unsigned rounded = 0;    // steps since it was exact
  bool special = false;    // infinities or NaN may be among them
  bool signless = false;   // the sign of its zeros is not foretold
};

double exactLimit(DType d);  // integers up to here are exact

class ValuePool {
 public:
  // `scalars`: of one iteration of a loop, so that no step makes a shape.
  ValuePool(Graph& g, Rng& rng, const RandomOptions& options, bool scalars = false) : g_(g), rng_(rng), options_(options), scalars_(scalars) {}

  void step();  // one more value, from those that there are
  NodeId add(NodeId n, Trust t);
  NodeId leaf(NodeId n) { return add(n, {isFloat(g_.dtype(n)) ? 4.0 : INFINITY}); }
  NodeId any() { return rng_.pick(values_); }
  NodeId exactValue();
  NodeId ofKind(bool (*kind)(DType), DType otherwise);
  const std::vector<NodeId>& values() const { return values_; }
  const std::vector<NodeId>& ends() const { return ends_; }  // too far from exact to compute with
  Trust trust(NodeId n) const { return trust_.at(n); }
  bool exact(NodeId n) const { return trust(n).rounded == 0; }
  bool summable(NodeId n) const;  // any order of additions gives the same

  // x brought to a shape or dtype, by whatever ops it takes.
  NodeId fit(NodeId x, std::span<const Dim> shape);
  NodeId asType(NodeId x, DType d);
  // A value of the type that is exact and at most `most`, made of x where that is so.
  NodeId tame(NodeId x, DType d, std::span<const Dim> shape, double most);
  NodeId filled(DType d, Scalar value, std::span<const Dim> shape);
  NodeId tensor(DType d, double value, std::span<const Dim> shape);
  NodeId wholeNumber(int64_t below);  // a scalar in [0, below), perhaps known at run time only
  NodeId moved(NodeId x);             // by one movement op; a place stays one
  Trust with(DType d, double most, std::initializer_list<NodeId> from, bool rounds = false) const;
  std::vector<Dim> randomShape(size_t mostRank = 5);
  DType randomType();

 private:
  using Step = void (ValuePool::*)();
  struct Row;
  static const Row kSteps[];

  // random_elementwise.cpp
  void unary();
  void unaryFloat(NodeId x);
  void wild(NodeId x);
  void binary();
  void floorBinary();
  void compare();
  void select();
  void convert();
  void bitcast(NodeId x);
  void integer();
  void oddConstant();
  NodeId partner(NodeId x, NodeId y);
  // random_movement.cpp
  void move();
  NodeId permuted(NodeId x);
  NodeId flipped(NodeId x);
  NodeId shrunk(NodeId x);
  NodeId window(NodeId x);
  NodeId reshaped(NodeId x);
  void pad();
  void stencil();
  NodeId shifted(NodeId x, size_t axis, int64_t by);
  void expand();
  void load();
  void stage();
  // random_reduce.cpp
  void reduce();
  void broadcastBack();
  void squares();
  void matrix();
  void normalize();
  void gather();
  void scatter();
  void masked();
  NodeId arange(DType d, std::span<const Dim> shape, size_t axis);
  NodeId missed(std::span<const Dim> shape, size_t axis, size_t other);
  void prefixSum();
  NodeId windows(NodeId x, Dim n);
  NodeId reduceOf(NodeId x, size_t axes);

  NodeId keep(NodeId n, Trust t);
  NodeId listed(Op op, AttrKey key, NodeId x, std::span<const int64_t> list) { return g_.make(op, {x}, Attrs().set(key, g_.list(list))); }

  Graph& g_;
  Rng& rng_;
  const RandomOptions& options_;
  bool scalars_;
  std::vector<NodeId> values_, ends_;
  std::map<NodeId, Trust> trust_;
};

}  // namespace uop
