// The executor on an artifact in memory whose kernels are functions of this file.
#include <catch2/catch.hpp>
#include <atomic>

#include "runtime/executor.h"
#include "runtime/profile.h"

using namespace uop;
using Catch::Contains;

namespace {

std::atomic<int> g_onceRuns;

// y[i] = x[i] * n + w2[i], one task an element; the state counts runs in element 0.
void step(void* const* places, const int64_t* scalars, int64_t task, void* scratch) {
  auto* x = static_cast<const float*>(places[0]);
  auto* w2 = static_cast<const float*>(places[1]);
  auto* y = static_cast<float*>(places[2]);
  auto* s = static_cast<int32_t*>(places[3]);
  *static_cast<float*>(scratch) = x[task] * static_cast<float>(scalars[0]);
  y[task] = *static_cast<float*>(scratch) + w2[task];
  if (task == 0) ++s[0];
}
// once: w2 = 2 w
void doubled(void* const* places, const int64_t*, int64_t task, void*) {
  ++g_onceRuns;
  static_cast<float*>(places[1])[task] = 2 * static_cast<const float*>(places[0])[task];
}
// x += 1
void bump(void* const* places, const int64_t*, int64_t task, void*) { static_cast<float*>(places[0])[task] += 1; }

LaunchArg at(Base base, int64_t index, int64_t bytes, bool write = false) { return {LaunchArg::Kind::Place, {base, index, 0, bytes}, write, 0, DType::Void}; }

Manifest sample() {
  Manifest m;
  m.name = "sample";
  m.arguments = {{"count", DType::I32, {}, 0, 0, 8}, {"factor", DType::I8, {}, 1, -3, 3}, {"x", DType::F32, {8}, 2, {}, {}}};
  m.buffers = {{"w", DType::F32, {8}, 0, true, 0}, {"s", DType::I32, {1}, 1, false, 0}};
  m.constants = {{"w2", DType::F32, {8}, 0, "", 0}};
  layoutState(m);
  m.memory.arenaBytes = m.memory.peakBytes = 32, m.memory.scratchBytesPerThread = 4;
  m.results = {{"y", DType::F32, {8}, {Base::Arena, 0, 0, 32}}, {"x'", DType::F32, {8}, {Base::Argument, 2, 0, 32}}};
  for (const char* name : {"step", "doubled", "bump"}) m.kernels.push_back({name, "", name, "", 0, ""});
  Launch once;
  once.kernel = 1;
  once.args = {at(Base::Buffer, 0, 32), at(Base::Constant, 0, 32, true)};
  once.grid[0] = {8, ""};
  m.once = {once};
  Launch main;
  main.args = {at(Base::Argument, 2, 32), at(Base::Constant, 0, 32), at(Base::Result, 0, 32, true), at(Base::Buffer, 1, 4, true), {LaunchArg::Kind::Scalar, {}, false, 1, DType::I8}};
  main.grid[0] = {8, "arg0"};
  main.flops = {16, "(MUL arg0 2)"};
  main.bytes = {96, ""};
  Launch after;
  after.kernel = 2;
  after.args = {at(Base::Result, 1, 32, true)};  // by its other name
  after.grid[0] = {8, ""};
  after.threads = 1;
  after.tag = "bump x";
  m.launches = {main, after};
  return m;
}

Result<KernelFn> resolve(const KernelInfo& k) {
  if (k.name == "step") return &step;
  if (k.name == "doubled") return &doubled;
  if (k.name == "bump") return &bump;
  return fail(Diag::KernelLoad, k.name, "not here");
}

Session session(Manifest m = sample(), int threads = 2) {
  auto artifact = Artifact::inMemory(std::move(m), resolve, "text");
  REQUIRE(artifact);
  CHECK(artifact->program() == "text");
  auto s = Session::create(*artifact, {threads});
  REQUIRE(s);
  return std::move(*s);
}

Tensor floats(std::vector<float> values) {
  auto t = Tensor::zeros(DType::F32, {static_cast<int64_t>(values.size())});
  REQUIRE(t);
  std::copy(values.begin(), values.end(), t->as<float>().begin());
  return std::move(*t);
}
Tensor integer(DType d, int64_t v) { return *Tensor::scalar(d, static_cast<uint64_t>(v)); }

std::vector<float> values(const Result<Tensor>& t) {
  REQUIRE(t);
  auto span = t->as<float>();
  return {span.begin(), span.end()};
}
using F = std::vector<float>;
const F kX = {1, 2, 3, 4, 5, 6, 7, 8};

void bindAll(Session& s, int64_t count = 8, int64_t factor = -2) {
  REQUIRE(s.bind("count", integer(DType::I32, count)));
  REQUIRE(s.bind("factor", integer(DType::I8, factor)));
  REQUIRE(s.bind("x", floats(kX)));
  REQUIRE(s.bind("w", floats({1, 1, 1, 1, 1, 1, 1, 1})));
}

}  // namespace

TEST_CASE("executor: bind, run, results") {
  Session s = session();
  CHECK(s.threads() == 2);
  CHECK(s.unboundArguments() == std::vector<std::string>{"count", "factor", "x"});
  CHECK(s.unboundBuffers() == std::vector<std::string>{"w", "s"});
  auto early = s.run();
  REQUIRE_FALSE(early);
  CHECK(early.error().kind == Diag::Unbound);
  CHECK_THAT(early.error().message, Contains("'count'"));
  CHECK(s.argument("x").error().kind == Diag::Unbound);
  CHECK(s.result("x'").error().kind == Diag::Unbound);

  g_onceRuns = 0;
  bindAll(s);
  CHECK(s.unboundArguments().empty());
  REQUIRE(s.run());
  CHECK(values(s.result("y")) == F{0, -2, -4, -6, -8, -10, -12, -14});
  CHECK(values(s.argument("x")) == F{2, 3, 4, 5, 6, 7, 8, 9});
  CHECK(values(s.result("x'")) == F{2, 3, 4, 5, 6, 7, 8, 9});
  CHECK(s.state("s")->asInt(0) == 1);
  REQUIRE(s.run());
  CHECK(s.state("s")->asInt(0) == 2);
  CHECK(values(s.result("y")) == F{-2, -4, -6, -8, -10, -12, -14, -16});
  CHECK(g_onceRuns == 8);
  REQUIRE(s.bind("w", floats({2, 2, 2, 2, 2, 2, 2, 2})));  // a const buffer: once runs again
  REQUIRE(s.run());
  CHECK(g_onceRuns == 16);
  CHECK(values(s.result("y")) == F{-2, -4, -6, -8, -10, -12, -14, -16});
}

TEST_CASE("executor: a bound tensor stays the caller's") {
  Session s = session();
  bindAll(s);
  Tensor mine = floats(kX);
  REQUIRE(s.bind("x", mine));
  REQUIRE(s.run());
  CHECK(mine.as<float>()[0] == 1);
  CHECK(values(s.argument("x"))[0] == 2);
}

TEST_CASE("executor: what cannot be bound") {
  Session s = session();
  auto refused = [&](std::string_view name, Tensor t, Diag kind, std::string text) {
    auto r = s.bind(name, std::move(t));
    REQUIRE_FALSE(r);
    CHECK(r.error().kind == kind);
    CHECK_THAT(r.error().message, Contains(text));
  };
  refused("factr", integer(DType::I8, 1), Diag::UnknownName, "factor");
  refused("factor", integer(DType::I32, 1), Diag::BindType, "i32 [], but the program wants i8 []");
  refused("x", floats({1}), Diag::BindType, "f32 [1]");
  refused("w", floats({1}), Diag::BindType, "f32 [1]");
  refused("factor", integer(DType::I8, -4), Diag::BindRange, "holds -4, but the program wants values from -3 to 3");
  refused("count", integer(DType::I32, 9), Diag::BindRange, "from 0 to 8");
  refused("count", integer(DType::I32, -1), Diag::BindRange, "holds -1");
  CHECK(s.result("z").error().kind == Diag::UnknownName);
  CHECK(s.state("z").error().kind == Diag::UnknownName);
  CHECK(s.argument("z").error().kind == Diag::UnknownName);
}

TEST_CASE("executor: grids by expression") {
  Session s = session();
  bindAll(s, 3);
  REQUIRE(s.run());
  CHECK(values(s.result("y")) == F{0, -2, -4, 0, 0, 0, 0, 0});
  REQUIRE(s.bind("count", integer(DType::I32, 0)));
  REQUIRE(s.run());
  CHECK(s.state("s")->asInt(0) == 1);

  Manifest m = sample();
  m.launches[0].grid[0] = {4, "arg0"};
  Session t = session(m);
  bindAll(t, 5);
  auto over = t.run();
  REQUIRE_FALSE(over);
  CHECK(over.error().kind == Diag::RuntimeFault);
  CHECK_THAT(over.error().message, Contains("launch 0 of 'step' asks for 5 tasks, its maximum is 4"));
  m.launches[0].grid[0] = {4, "(ADD arg0 -6)"};
  Session u = session(m);
  bindAll(u, 5);
  CHECK_FALSE(u.run());
}

TEST_CASE("executor: snapshot and restore") {
  Session s = session();
  bindAll(s);
  REQUIRE(s.snapshot());
  for (int i = 0; i < 3; ++i) REQUIRE(s.run());
  CHECK(s.state("s")->asInt(0) == 3);
  CHECK(values(s.argument("x"))[0] == 4);
  s.restore();
  CHECK(s.state("s")->asInt(0) == 0);
  CHECK(values(s.argument("x")) == kX);
  // A new block in place of a kept one: nothing is written to the old.
  REQUIRE(s.bind("x", floats({9, 9, 9, 9, 9, 9, 9, 9})));
  s.restore();
  CHECK(values(s.argument("x"))[0] == 9);
}

TEST_CASE("executor: timings and the trace") {
  Session s = session();
  bindAll(s, 3);
  REQUIRE(s.run());
  CHECK(s.timings().empty());
  s.setTiming(true);
  REQUIRE(s.run());
  auto times = s.timings();
  REQUIRE(times.size() == 2);
  CHECK(times[0].tasks == 3);
  CHECK(times[0].flops == 6);
  CHECK(times[0].bytes == 96);
  CHECK(times[1].tasks == 8);
  CHECK(times[0].begin <= times[0].end);
  CHECK(times[0].end <= times[1].begin);
  Trace trace;
  trace.addRun(s.manifest(), times);
  CHECK_THAT(trace.json("p"), Contains("\"step\"") && Contains("\"bump x\"") && Contains("traceEvents"));
}

TEST_CASE("executor: artifacts that cannot run") {
  Manifest m = sample();
  m.kernels[0].name = "other";
  auto a = Artifact::inMemory(m, resolve);
  REQUIRE(a);
  CHECK(Session::create(*a).error().kind == Diag::KernelLoad);
  m = sample();
  m.target.features = {"not-a-feature"};
  a = Artifact::inMemory(m, resolve);
  REQUIRE(a);
  CHECK(Session::create(*a).error().kind == Diag::MissingFeature);
  m = sample();
  m.memory.arenaBytes = int64_t{1} << 49;
  a = Artifact::inMemory(m, resolve);
  REQUIRE(a);
  CHECK(Session::create(*a).error().kind == Diag::OutOfMemory);
  m.launches[0].kernel = 9;
  CHECK(Artifact::inMemory(m, resolve).error().kind == Diag::ManifestError);
  CHECK(Artifact::open("/nonexistent").error().kind == Diag::CannotOpen);
}
