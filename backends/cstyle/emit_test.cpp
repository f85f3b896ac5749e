#include "backends/cstyle/emit.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "backends/cstyle/emit_testing.h"
#include "support/golden.h"

namespace uop::cstyle {
namespace {

using testing::fileText;
using testing::Kernel;
using testing::Runner;

std::vector<std::string> kernelNames() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(UOPC_TESTDATA "/cstyle"))
    if (entry.path().extension() == ".uop") names.push_back(entry.path().stem());
  std::ranges::sort(names);
  return names;
}

}  // namespace

TEST_CASE("kernels are emitted as the golden files say") {
  REQUIRE(kernelNames().size() > 10);
  for (const std::string& name : kernelNames()) {
    INFO(name);
    const KernelSource source = Kernel::fromFile(name).emit(name).value();
    uop::testing::checkGolden(UOPC_TESTDATA "/cstyle/" + name + ".c", source.text);
  }
}

TEST_CASE("emitted C compiles without a warning") {
  std::vector<KernelSource> all;
  for (const std::string& name : kernelNames()) {
    all.push_back(Kernel::fromFile(name).emit(name).value());
    testing::checkWarningFree(emitTranslationUnit(std::span(&all.back(), 1)), name);
  }
  testing::checkWarningFree(emitTranslationUnit(all), "all");
}

TEST_CASE("tasks of a grid, a register tile, unrolled sums") {
  Runner run(Kernel::fromFile("matmul_tasks"));
  CHECK(run.source.tasks == 18);
  CHECK(run.source.taskBounds.size() == 2);
  CHECK(run.source.flops == 6 * 12 * (8 * 2 + 1));
  CHECK(run.source.bytes == 4 * (6 * 8 + 8 * 12 + 6 * 12));
  std::vector<float> a(48), b(96), c(72);
  for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i % 7) - 3;
  for (size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i % 5) - 2;
  run({a.data(), b.data(), c.data()});
  for (size_t i = 0; i < 6; ++i)
    for (size_t j = 0; j < 12; ++j) {
      float want = 0;
      for (size_t k = 0; k < 8; ++k) want += a[i * 8 + k] * b[k * 12 + j];
      CHECK(c[i * 12 + j] == std::max(want, 0.0f));
    }
}

TEST_CASE("without a grid, every loop is a for") {
  const KernelSource source = Kernel::fromFile("matmul_tasks").emit("k", {.grid = false}).value();
  CHECK(source.tasks == 1);
  CHECK(source.text.find("// thread") != std::string::npos);
}

TEST_CASE("softmax through registers and a tile") {
  Runner run(Kernel::fromFile("softmax_rows"));
  CHECK(run.source.tasks == 4);
  std::vector<float> x(24), out(24);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 7 % 11) / 3;
  run({x.data(), out.data()});
  for (size_t i = 0; i < 4; ++i) {
    double sum = 0;
    for (size_t k = 0; k < 6; ++k) sum += std::exp(double{x[i * 6 + k]});
    for (size_t k = 0; k < 6; ++k) CHECK(out[i * 6 + k] == Approx(std::exp(double{x[i * 6 + k]}) / sum).epsilon(1e-6));
  }
}

TEST_CASE("a bound that an argument tells, and scalar arguments of many types") {
  Runner run(Kernel::fromFile("dynamic_rows"));
  CHECK(run.source.tasks == -1);
  REQUIRE(run.source.taskBounds.size() == 2);
  std::vector<uint16_t> x(24, 0x4040);  // 3 as bf16
  std::vector<double> y(24, 7);
  const int64_t shift = std::bit_cast<int64_t>(0.25);
  run({x.data(), y.data()}, {3, 0x4000, shift, 1}, 4 * 3);  // scale 2 as f16
  for (size_t i = 0; i < 24; ++i) CHECK(y[i] == (i < 12 ? 6.25 : 7));
  run({x.data(), y.data()}, {7, 0x4000, shift, 0}, 8 * 3);
  CHECK(y[23] == 7);
}

TEST_CASE("large local storage is scratch") {
  Runner run(Kernel::fromFile("big_local"));
  CHECK(run.source.scratchBytes == 32768);
  CHECK(run.source.text.find("float a1[2]") != std::string::npos);
  std::vector<float> x(16384, 1.0f), y(16384);
  x[0] = 5;
  run({x.data(), y.data()});
  CHECK(std::signbit(y[8191]));
  CHECK(y[0] == 0);
  CHECK(Kernel::fromFile("big_local").emit("k", {.stackLimit = 1 << 20}).value().scratchBytes == 0);
}

TEST_CASE("in place, reading before writing") {
  std::vector<int32_t> x = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  Runner run(Kernel::fromFile("inplace_bare"));
  CHECK(run.source.tasks == 3);
  run({x.data()});
  CHECK(x == std::vector<int32_t>{2, 4, 6, 16, 10, 36, 14, 64, 18, 100, 22, 144});
  std::vector<uint16_t> h(10, 0x3c00);  // 1
  Runner(Kernel::fromFile("inplace_unrolled"))({h.data()});
  for (size_t i = 0; i < 10; ++i) CHECK(h[i] == (i % 2 ? 0 : 0x4000));
}

TEST_CASE("values carried through memory") {
  std::vector<int32_t> x = {1, 2, 3, 4, 5, 6, 7}, o(7);
  Runner(Kernel::fromFile("two_stage_carry"))({x.data(), o.data()});
  CHECK(o == std::vector<int32_t>{1, 3, 5, 7, 9, 11, 13});
  std::vector<int32_t> x9 = {1, 1, 1, 1, 1, 1, 1, 1, 1}, sums(9);
  Runner(Kernel::fromFile("prefix_sum"))({x9.data(), sums.data()});
  CHECK(sums == std::vector<int32_t>{1, 2, 3, 4, 5, 6, 7, 8, 9});
  std::vector<uint32_t> fib(50);
  Runner(Kernel::fromFile("fibonacci_in_memory"))({fib.data()});
  CHECK(fib[49] == 3996334433u);
  std::vector<int32_t> acc(3);
  Runner(Kernel::fromFile("accumulator_read_then_write"))({acc.data()});
  CHECK(acc == std::vector<int32_t>{100, 1, 3});
}

TEST_CASE("gates touch no memory") {
  std::vector<int32_t> idx = {4, -1000000000, 2, 1000000000, 0, 5, 1};
  std::vector<float> x = {1, 2, 3, 4, 5, 6, 7}, out(5);
  Runner(Kernel::fromFile("scatter_gated"))({idx.data(), x.data(), out.data()});
  CHECK(out == std::vector<float>{5, 7, 3, 0, 1});
  std::vector<float> s(10, 1.0f), t(10);
  Runner(Kernel::fromFile("stencil_gated"))({s.data(), t.data()});
  CHECK(t == std::vector<float>{2, 3, 3, 3, 3, 3, 3, 3, 3, 2});
}

TEST_CASE("integer arithmetic wraps") {
  std::vector<uint8_t> x(16);
  std::vector<int16_t> y(16);
  std::vector<int32_t> z(16);
  std::vector<int64_t> w(16), o(16);
  for (size_t i = 0; i < 16; ++i) {
    x[i] = static_cast<uint8_t>(i * 37 + 200), y[i] = static_cast<int16_t>(i * 7919), z[i] = static_cast<int32_t>(i * 0x1234567u);
    w[i] = static_cast<int64_t>(i * 0x123456789abcdefull) - 5;
  }
  Runner(Kernel::fromFile("integers"))({x.data(), y.data(), z.data(), w.data(), o.data()});
  auto floorDiv = [](int64_t a, int64_t b) { return a / b - (a % b != 0 && (a % b < 0) != (b < 0)); };
  for (size_t i = 0; i < 16; ++i) {
    const auto a = static_cast<uint8_t>(x[i] - 1), b = static_cast<uint8_t>(a * a);
    const auto c = static_cast<int16_t>(static_cast<uint32_t>(y[i]) * static_cast<uint32_t>(y[i]));
    const int64_t d = floorDiv(c, -7), e = y[i] - floorDiv(y[i], -7) * -7;
    const uint32_t g = 0u - (static_cast<uint32_t>(z[i]) + 0x80000000u);
    const int64_t h = static_cast<int32_t>(g << 3), k = z[i] >> 3;
    const uint64_t q = static_cast<uint64_t>(w[i]) + 0x8000000000000000ull;
    const uint64_t want = (static_cast<uint64_t>((((b + d) ^ e) + h) ^ k)) + q;
    CHECK(static_cast<uint64_t>(o[i]) == want);
  }
}

TEST_CASE("a hundred thousand statements are emitted in a moment") {
  Program program;
  Graph& g = program.graph;
  const Dim shape[] = {16};
  const NodeId place = g.param(0, DType::I64, shape);
  NodeId state = place, store = kNoNode;
  for (int64_t i = 0; i < 100'000; ++i) {
    const NodeId at = g.index(i % 16), cell = g.indexInto(state, std::span(&at, 1));
    store = g.store(cell, g.binary(Op::Add, g.load(cell), g.constInt(DType::I64, i)));
    state = g.after(state, std::span(&store, 1));
  }
  const KernelSource source = emitKernel(g, store, "k").value();
  CHECK(std::ranges::count(source.text, '\n') == 3 * 100'000 + 4);
}

TEST_CASE("a grid is refused where tasks would see each other") {
  const std::string head = R"(uop 1
%x = PARAM slot=0 dtype=i32 shape=[4] name="x"
%y = PARAM slot=1 dtype=i32 shape=[4] name="y"
%n = CONST value=4 dtype=index
%c0 = CONST value=0 dtype=index
%i = RANGE %n id=0 kind=thread
%p = INDEX %x %c0
%v = LOAD %p
)";
  const Kernel own(head + "%q = INDEX %y %i\n%s = STORE %q %v\n%e = END %s %i\nreturn %e\n");
  CHECK(own.emit().value().tasks == 4);
  const Kernel other(head + "%q = INDEX %x %i\n%s = STORE %q %v\n%e = END %s %i\nreturn %e\n");
  CHECK(other.emit().value().tasks == 1);
  const Kernel beside(head + "%q = INDEX %y %i\n%s = STORE %q %v\n%e = END %s %i\n%z = AFTER %y %e\n%w = INDEX %z %c0\n%t = STORE %w %v\nreturn %t\n");
  CHECK(beside.emit().value().tasks == 1);
}

}  // namespace uop::cstyle
