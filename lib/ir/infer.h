// Type and shape rules: one function a TypeRule of ops.def, from the format's sections 3, 4 and 6. Private to the graph;
// infer.cpp holds what every op has in common, infer_*.cpp the rules by family.
#pragma once
#include "ir/graph.h"

namespace uop {

// The node under construction. Each rule fills in what derives from sources and attributes, or says what is wrong.
class Inferrer {
 public:
  Inferrer(Graph& g, Op op, std::span<const NodeId> srcs, const Attrs& attrs) : g_(g), op_(op), srcs_(srcs), attrs_(attrs) {}
  Result<Node> run();

 private:
  using R = Result<void>;
  const Node& s(size_t i) const { return g_[srcs_[i]]; }
  std::span<const Dim> shp(size_t i) const { return g_.shape(srcs_[i]); }
  std::string shpText(size_t i) const { return shapeText(shp(i)); }
  std::span<const int64_t> dims(AttrKey key) const { return g_.listById(attrs_.get(key)); }
  void setShape(std::span<const Dim> d) { node_.shapeList = static_cast<uint32_t>(g_.list(d)); }
  void view() { node_.place = s(0).place, node_.base = s(0).base, node_.stretched = s(0).stretched; }

  R checkSources();
  R checkShape();
  void inferOpen();
  R dispatch();
  R storage();
  R constant();
  R cast();
  R bitcast();
  R elementwise();
  R wantKind(DType d, bool ok, std::string_view what);
  R sameDtypes(size_t first);
  R broadcast();
  R reshape();
  R expand();
  R permute();
  R flip();
  R pad();
  R shrink();
  R index();
  R load();
  R store();
  R gate(size_t at);
  R after();
  R range();
  R closers();
  R reduce();
  R stage();
  R call();
  R get();
  R pairCount(AttrKey);
  R distinctAxes();

  Graph& g_;
  Op op_;
  std::span<const NodeId> srcs_;
  const Attrs& attrs_;
  Node node_{};
};

}  // namespace uop
