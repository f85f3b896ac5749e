// One function of a random program: the program itself, or the body of a CALL. It owns what belongs to a function: slots,
// ids of loops, places and what they hold by now.
#pragma once
#include "cmd/check/random_values.h"

namespace uop {

inline constexpr double kPlaceMost = 64;  // magnitude of floats that are stored in places

// What the functions of one program share.
struct RandomProgram {
  Program program;
  Rng rng;
  RandomOptions options;
  int64_t buffers = 0;
  struct Body {
    NodeId root;
    std::vector<NodeId> params;   // by slot
    std::vector<Trust> trust;     // that the arguments need, and that the results have
    std::vector<Trust> results;
    std::vector<bool> written;
  };
  std::vector<Body> bodies;
};

class FunctionWriter {
 public:
  FunctionWriter(RandomProgram& shared, int depth) : shared_(shared), g_(shared.program.graph), rng_(shared.rng), pool_(g_, rng_, shared.options), depth_(depth) {}

  std::vector<ResultDef> writeProgram();
  // A body for arguments like these; `places`: those that it may write.
  RandomProgram::Body writeBody(std::span<const NodeId> args, std::span<const Trust> trust, const std::vector<bool>& places);

 private:
  struct Place {
    NodeId now;              // as the last write left it
    NodeId effect = kNoNode; // the last write
    int64_t slot = -1;       // of a PARAM
  };
  struct Nest {
    std::vector<NodeId> ranges;
    std::vector<Dim> bounds;
  };
  struct Scalar {
    NodeId node;
    Trust trust;
  };
  using Step = void (FunctionWriter::*)();
  struct Row;
  static const Row kSteps[];

  // What can be said of the contents of any place.
  Trust heldBy(NodeId place) const { return isFloat(g_.dtype(place)) ? Trust{kPlaceMost, 0, false, true} : Trust{INFINITY}; }
  void steps(size_t count);
  NodeId param(DType d, std::span<const Dim> shape, bool named = true);
  NodeId scalarParam();
  void leaves();
  void chooseResults(std::vector<ResultDef>& results);

  // random_memory.cpp
  NodeId newPlace();
  NodeId viewOf(NodeId place);
  void store();
  void wrote(Place& p, NodeId effect);
  void later();
  void call();
  void callBody(const RandomProgram::Body&, std::span<const NodeId> args, Place* place);
  bool fits(NodeId arg, const RandomProgram::Body&, size_t slot);

  // random_loops.cpp
  Nest nest(size_t most, bool sequential, Dim mostBound = 5);
  NodeId indexFor(const Nest&, Dim n);
  NodeId element(NodeId source, const Nest&);
  Scalar scalarIn(const Nest&, std::span<const Scalar> more = {});
  void readInto(ValuePool&, const Nest&);
  void mapLoop();
  void updateLoop();
  void reduceLoop();
  void stageLoop();
  void tileLoop();
  void scanLoop();
  void pairLoop();
  void rowLoop();

  RandomProgram& shared_;
  Graph& g_;
  Rng& rng_;
  ValuePool pool_;
  int depth_;
  std::vector<Place> places_;
  int64_t slots_ = 0, ranges_ = 0, allocs_ = 0;
};

}  // namespace uop
