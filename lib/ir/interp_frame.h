// One function being evaluated: the program, or the body of one CALL.
#pragma once
#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

#include "ir/eval.h"
#include "ir/interp.h"
#include "ir/interp_layout.h"
#include "ir/interp_plan.h"

namespace uop::interp {

using Cells = std::vector<uint64_t>;  // Scalar bits, one an element

struct Write {
  NodeId effect;
  int64_t at;
  uint64_t value;
};

// Memory behind a PARAM, BUFFER or ALLOC. `now` is copied before an effect changes it while somebody holds a version.
struct Storage {
  NodeId base = kNoNode;
  DType dtype = DType::F32;
  std::shared_ptr<Cells> now, init;
  bool written = false;
};

struct Value {
  Layout layout;
  std::shared_ptr<const Cells> data;  // a value, or a version of a place; null for a place read as it is now
  Storage* root = nullptr;            // of a place
};

struct Fault {
  Error error;
};
[[noreturn]] void fault(const Graph& g, NodeId n, std::string_view what);

// What all frames of one run share.
struct Machine {
  const Graph& g;
  const InterpOptions& options;
  Planner planner;
  std::map<NodeId, std::unique_ptr<Storage>> buffers;
  InterpResult* out;
  std::mt19937_64 shuffle;
  uint64_t steps = 0;
  int64_t cells = 0;  // live, for maxBytes

  std::shared_ptr<Cells> allocate(int64_t count, uint64_t fill = 0);
  void spend(uint64_t n, NodeId at);
};

class Frame {
 public:
  Frame(Machine& m, std::vector<Value> params, Frame* caller) : m_(m), g_(m.g), params_(std::move(params)), caller_(caller) {}
  // Runs the function; the values of its roots, in order (a void one: empty).
  std::vector<Value> run(std::span<const NodeId> roots);
  uint64_t scalarResult(NodeId n);

 private:
  void evaluate(NodeId n);
  void evalPlace(NodeId n);
  void evalAfter(NodeId n);
  void evalElementwise(NodeId n);
  void evalScalar(NodeId n);
  void evalMovement(NodeId n);
  void evalPad(NodeId n);
  void evalReduce(NodeId n);
  void evalIndex(NodeId n);
  void evalLoad(NodeId n);
  void evalStore(NodeId n);
  void evalStage(NodeId n);
  void evalCall(NodeId n);
  void runLoops(NodeId closer, const LoopPlan& plan, size_t level, const std::function<void()>& body);
  void beforeEffect(NodeId n);
  void poison(NodeId alloc);
  void noteAccess(Storage* s, int64_t at, bool write, NodeId n);
  void logWrite(Storage* s, int64_t at, uint64_t value, NodeId n);
  std::shared_ptr<const Cells> versionOf(NodeId after, Storage* root);

  Value& value(NodeId n);
  uint64_t scalar(NodeId n);
  const Cells& cells(const Value& v) const { return v.data ? *v.data : *v.root->now; }
  Storage* storageOf(NodeId base);
  bool isFlat(NodeId n) const { return g_.rank(n) == 0 && !g_[n].place; }

  Machine& m_;
  const Graph& g_;
  std::vector<Value> params_;
  Frame* caller_;
  const FunctionPlan* plan_ = nullptr;
  std::map<NodeId, std::unique_ptr<Storage>> allocs_;
  std::map<NodeId, std::shared_ptr<const Cells>> initial_;  // base → contents when the function began
  std::map<NodeId, std::vector<Write>> log_;
  std::vector<Value> values_;      // by node id
  std::vector<uint64_t> scalars_;  // by node id: rank-0 values, loop variables
  std::map<NodeId, std::vector<Value>> tuples_;  // items, scalars as arrays of one
  std::map<NodeId, std::unique_ptr<Storage>> stages_;
  std::vector<EvalFn> fns_;        // by node id, filled in when first needed
  std::set<NodeId> rebuilt_;       // bases whose versions are rebuilt from the log
  NodeId effect_ = kNoNode;        // the function-level effect that runs

  // Loops of independent iterations that are open: who touched what.
  struct Race {
    const LoopPlan* plan;
    int64_t iteration;
    std::map<std::pair<Storage*, int64_t>, std::pair<int64_t, bool>> touched;
  };
  std::vector<Race> races_;
};

}  // namespace uop::interp
