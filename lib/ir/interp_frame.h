// One function being evaluated: the program, or the body of one CALL.
#pragma once
#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <unordered_map>
#include <utility>

#include "ir/eval.h"
#include "ir/interp.h"
#include "ir/interp_layout.h"
#include "ir/interp_plan.h"

namespace uop::interp {

using Cells = std::vector<uint64_t>;  // Scalar bits, one an element

struct Write {
  uint32_t effect;  // its number among the effects on the base
  int64_t at;
  uint64_t value;
};

// When an element was touched last, by the clock of Machine. `other`: the last read of an earlier iteration than `read`.
struct Touched {
  uint64_t write = 0, read = 0, other = 0;
};
struct Stored {
  uint64_t time = 0;
  NodeId store = kNoNode;
};

// Memory behind a PARAM, BUFFER or ALLOC. `now` is copied before an effect changes it while somebody holds a version.
struct Storage {
  NodeId base = kNoNode;
  DType dtype = DType::F32;
  std::shared_ptr<Cells> now, init;
  bool written = false;
  uint64_t watched = 0;            // bit d: the d-th open loop of independent iterations looks for races on it
  std::vector<Touched> touched;    // by element, while watched
  std::vector<Stored> stored;      // by element, where loops write it
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

// An open loop of independent iterations: when it and its present iteration began.
struct OpenLoop {
  uint64_t start, iteration;
};

// What all frames of one run share. Values lie by node id: a function saves those that it shares with its caller.
struct Machine {
  Machine(const Graph& graph, const InterpOptions& o, InterpResult* result) : g(graph), options(o), planner(graph), out(result), shuffle(o.shuffleSeed) {
    values.resize(g.size());
    scalars.resize(g.size());
    fns.resize(g.size());
    began.resize(g.size());
  }
  std::shared_ptr<Cells> allocate(int64_t count, uint64_t fill = 0);
  void charge(int64_t count);  // for maxBytes
  void spend(uint64_t n, NodeId at);
  bool waitsFor(NodeId after, NodeId store);

  const Graph& g;
  const InterpOptions& options;
  Planner planner;
  InterpResult* out;
  std::mt19937_64 shuffle;
  uint64_t steps = 0;
  int64_t cells = 0;                  // live
  uint64_t clock = 1;                 // counts iterations
  uint32_t calls = 0;                 // open
  std::vector<OpenLoop> loops;        // of independent iterations
  std::vector<Value> values;
  std::vector<uint64_t> scalars;      // rank-0 values, loop variables
  std::vector<EvalFn> fns;            // filled in when first needed
  std::vector<uint64_t> began;        // RANGE → when its present iteration began
  std::unordered_map<uint64_t, bool> waits;
  std::map<NodeId, std::unique_ptr<Storage>> buffers;
};

class Frame {
 public:
  Frame(Machine& m, std::vector<Value> params, Frame* caller)
      : m_(m), g_(m.g), params_(std::move(params)), caller_(caller), values_(m.values), scalars_(m.scalars), fns_(m.fns) {}
  ~Frame();
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;
  // Runs the function; the values of its roots, in order: a scalar as an array of one, a void one empty.
  std::vector<Value> run(std::span<const NodeId> roots);

 private:
  void begin();
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
  void evalTuple(NodeId n);
  void evalGet(NodeId n);

  // `body` runs once an iteration, after what the plan's last level holds.
  void runLoops(NodeId closer, const std::function<void()>& body);
  void runLevel(const LoopPlan&, size_t level, const std::function<void()>& body);
  void iterate(const LoopPlan&, size_t level, int64_t i, const std::function<void()>& body);
  void watch(const LoopPlan&, size_t level, bool on);
  void poison(Storage*);

  void beforeEffect(NodeId n);
  void release(NodeId effect);
  void ownNow(Storage* s);
  std::shared_ptr<const Cells> versionOf(NodeId after, Storage* root);
  void logWrite(Storage* s, int64_t at, uint64_t value);

  uint64_t readCell(NodeId place, const Value& v, int64_t at);
  void writeCell(Storage* s, int64_t at, uint64_t value, NodeId store);
  void noteReads(NodeId place);  // of all its elements
  void noteAccess(Storage* s, int64_t at, bool write, NodeId n);
  void checkOrder(NodeId place, Storage* s, int64_t at);
  void fetch(NodeId place);

  uint64_t scalar(NodeId n);
  const Value& readable(NodeId n);  // as an operand: what fetch() has read, if it has
  Value asArray(NodeId n);
  Cells elements(NodeId n, std::span<const Dim> shape);
  NodeId tupleOf(NodeId n) const;
  const Cells& cells(const Value& v) const { return v.data ? *v.data : *v.root->now; }
  Storage* storageOf(NodeId base);
  bool isFlat(NodeId n) const { return g_.rank(n) == 0 && !g_[n].place; }

  Machine& m_;
  const Graph& g_;
  std::vector<Value> params_;
  Frame* caller_;
  std::vector<Value>& values_;
  std::vector<uint64_t>& scalars_;
  std::vector<EvalFn>& fns_;
  const FunctionPlan* plan_ = nullptr;
  uint32_t depth_ = 0;  // of loops
  std::map<NodeId, std::unique_ptr<Storage>> allocs_, stages_;
  std::map<NodeId, std::shared_ptr<const Cells>> initial_;  // base → contents when the function began
  struct Log {
    bool stale;              // no version is what memory holds
    uint32_t effects = 0;    // that have run
    std::vector<Write> writes;
  };
  std::map<Storage*, Log> logs_;
  std::unordered_map<NodeId, Value> fetched_;               // arrays
  std::map<NodeId, std::vector<Value>> tuples_;             // items, scalars as arrays of one
};

}  // namespace uop::interp
