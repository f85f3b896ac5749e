// Random nests of loops that read and write a few places in a few states, emitted against run statement by statement: the
// order of memory.
#include <random>

#include "backends/cstyle/emit_testing.h"

namespace uop::cstyle {
namespace {

using testing::Kernel;
using testing::Runner;

constexpr int kSize = 8, kArrays = 3, kPlaces = 4;  // the last place is a scalar ALLOC

enum class State { Now, Started, Bare };  // the latest, that at the start of the iteration, that at the program's start

struct Ref {
  size_t place;
  State state;
  int loop;      // the loop whose variable is the index, outermost 0; -1: `constant` is
  int constant;
  int shift;     // -1: the index as it is, else (2 · index + shift) mod 8
};

struct Statement {
  int trips = 0;  // 0: a STORE of constant · 3ⁿ + reads · 3ⁿ⁻¹ …
  std::vector<Statement> body;
  Ref target{};
  int constant = 0;
  std::vector<Ref> reads;
};

class Writer {
 public:
  // Without `oldStates`, running the statements one by one is an order, so there must be one.
  Writer(uint64_t seed, bool oldStates) : random_(seed), oldStates_(oldStates) {}
  std::vector<Statement> block(int depth) {
    std::vector<Statement> out;
    for (int n = 1 + below(4); n-- > 0;) {
      if (depth < 3 && below(3) == 0) out.push_back({2 + below(3), block(depth + 1), {}, 0, {}});
      else out.push_back(store(depth));
    }
    return out;
  }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  Ref ref(int depth, State state, int places) {
    return {static_cast<size_t>(below(places)), state, depth > 0 && below(4) ? below(depth) : -1, below(kSize), below(4) ? -1 : below(3)};
  }
  Statement store(int depth) {
    Statement s;
    s.target = ref(depth, State::Now, initialised_ || depth == 0 ? kPlaces : kArrays);
    s.constant = below(9);
    for (int n = 1 + below(2); n-- > 0;) {
      const int pick = oldStates_ ? below(16) : 0;
      s.reads.push_back(ref(depth, pick < 11 ? State::Now : pick < 15 ? State::Started : State::Bare, initialised_ ? kPlaces : kArrays));
      if (s.reads.back().place == kArrays) s.reads.back().state = State::Now;  // an ALLOC holds nothing at first
    }
    initialised_ |= s.target.place == kArrays;
    return s;
  }
  std::mt19937_64 random_;
  bool oldStates_;
  bool initialised_ = false;
};

using Contents = std::vector<std::vector<uint32_t>>;

// The meaning: statements in order, with copies of what each state saw.
struct Machine {
  Contents now, start;
  std::vector<int> loops;

  uint32_t& at(Contents& places, const Ref& r) {
    const int i = r.loop < 0 ? r.constant : loops[static_cast<size_t>(r.loop)];
    auto& place = places[r.place];
    return place[static_cast<size_t>(r.shift < 0 ? i : (2 * i + r.shift) % kSize) % place.size()];
  }
  void run(const std::vector<Statement>& block, const Contents& before) {
    Contents started = before;
    for (const Statement& s : block) {
      if (s.trips == 0) {
        auto v = static_cast<uint32_t>(s.constant);
        for (const Ref& r : s.reads) v = v * 3 + at(r.state == State::Now ? now : r.state == State::Started ? started : start, r);
        at(now, s.target) = v;
        continue;
      }
      loops.push_back(0);
      for (; loops.back() < s.trips; ++loops.back()) run(s.body, Contents(now));
      loops.pop_back();
    }
  }
};

// The same as a graph: a state is a chain of AFTERs.
class Builder {
 public:
  Kernel make(const std::vector<Statement>& statements) {
    const Dim shape[] = {kSize};
    for (int64_t k = 0; k < kArrays; ++k) roots_.push_back(g().param(k, DType::I32, shape));
    roots_.push_back(g().alloc(0, DType::I32, {}, Space::Reg));
    now_ = started_ = roots_;
    block(statements);
    std::vector<NodeId> effects;
    for (NodeId e : last_)
      if (e != kNoNode) effects.push_back(e);
    const NodeId body = g().make(Op::Sink, effects);
    program_.results.push_back({"out0", body});
    return Kernel(std::move(program_), body);
  }

 private:
  Graph& g() { return program_.graph; }
  NodeId cell(const Ref& r) {
    const NodeId place = r.state == State::Now ? now_[r.place] : r.state == State::Started ? started_[r.place] : roots_[r.place];
    if (g().rank(place) == 0) return place;
    NodeId at = r.loop < 0 ? g().index(r.constant) : ranges_[static_cast<size_t>(r.loop)];
    if (r.shift >= 0) at = g().binary(Op::FloorMod, g().binary(Op::Add, g().binary(Op::Mul, at, g().index(2)), g().index(r.shift)), g().index(kSize));
    return g().indexInto(place, std::span(&at, 1));
  }
  void wrote(size_t place, NodeId effect) {
    now_[place] = g().after(now_[place], std::span(&effect, 1));
    last_[place] = effect;
  }
  void loop(const Statement& s) {
    const auto now = now_, started = started_, last = last_;
    const NodeId range = g().range(int64_t{s.trips}, id_++, Kind::Loop);
    for (NodeId& n : now_) n = g().after(n, std::span(&range, 1));
    started_ = now_;
    last_.assign(kPlaces, kNoNode);
    ranges_.push_back(range);
    block(s.body);
    ranges_.pop_back();
    std::vector<NodeId> inside;
    for (NodeId e : last_)
      if (e != kNoNode) inside.push_back(e);
    const NodeId end = g().end(g().make(Op::Sink, inside), std::span(&range, 1));
    const auto written = std::exchange(last_, last);
    now_ = now, started_ = started;
    for (size_t k = 0; k < kPlaces; ++k)
      if (written[k] != kNoNode) wrote(k, end);
  }
  void block(const std::vector<Statement>& statements) {
    for (const Statement& s : statements) {
      if (s.trips) {
        loop(s);
        continue;
      }
      NodeId v = g().constInt(DType::I32, s.constant);
      for (const Ref& r : s.reads) v = g().binary(Op::Add, g().binary(Op::Mul, v, g().constInt(DType::I32, 3)), g().load(cell(r)));
      wrote(s.target.place, g().store(cell(s.target), v));
    }
  }
  Program program_;
  std::vector<NodeId> roots_, now_, started_, ranges_, last_ = std::vector<NodeId>(kPlaces, kNoNode);
  int64_t id_ = 0;
};

// Whether there is an order; if so, its outcome is compared.
bool compare(uint64_t seed, bool oldStates) {
  const std::vector<Statement> statements = Writer(seed, oldStates).block(0);
  Machine machine;
  for (size_t k = 0; k < kPlaces; ++k) machine.now.emplace_back(k < kArrays ? kSize : 1, 0);
  for (size_t k = 0; k < kArrays; ++k)
    for (size_t i = 0; i < kSize; ++i) machine.now[k][i] = static_cast<uint32_t>(seed + k * 100 + i);
  Contents places = machine.start = machine.now;
  machine.run(statements, machine.start);
  const Kernel kernel = Builder().make(statements);
  if (!kernel.emit()) return false;
  Runner run(kernel);
  std::vector<void*> pointers;
  for (NodeId p : run.source.places) pointers.push_back(places[static_cast<size_t>(kernel.program.graph.attr(p, AttrKey::Slot))].data());
  run(pointers);
  places.pop_back(), machine.now.pop_back();
  INFO("seed " << seed << "\n" << printProgram(kernel.program) << run.source.text);
  REQUIRE(places == machine.now);
  return true;
}

}  // namespace

TEST_CASE("random loops read and write memory in the order the format gives") {
  size_t ordered = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) ordered += compare(seed, true);
  CHECK(ordered > 200);
}

TEST_CASE("random loops that can be run as they are written have an order") {
  for (uint64_t seed = 1000; seed < 1200; ++seed) {
    INFO("seed " << seed);
    CHECK(compare(seed, false));
  }
}

}  // namespace uop::cstyle
