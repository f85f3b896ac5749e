// A run allocates nothing between its first launch and its last: every allocation of this program is counted.
#include <atomic>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <new>

#include "runtime/executor.h"

namespace {
std::atomic<int64_t> g_allocations{0};
}  // namespace

#ifndef UOPC_SANITIZED  // whose allocator has to stay
namespace {
void* counted(std::size_t bytes, std::size_t alignment) {
  ++g_allocations;
  void* p = alignment <= alignof(std::max_align_t) ? std::malloc(bytes ? bytes : 1) : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  return p ? p : throw std::bad_alloc();
}
}  // namespace

void* operator new(std::size_t bytes) { return counted(bytes, 0); }
void* operator new(std::size_t bytes, std::align_val_t alignment) { return counted(bytes, static_cast<std::size_t>(alignment)); }
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
#endif

namespace uop {
namespace {

std::atomic<int64_t> g_first, g_last;

void note(void* const* places, const int64_t*, int64_t task, void*) {
  if (task == 0 && static_cast<float*>(places[0])[0] == 0) g_first = g_allocations.load();
  static_cast<float*>(places[0])[task] += 1;
  g_last = g_allocations.load();
}

Manifest manifest() {
  Manifest m;
  m.arguments = {{"count", DType::I32, {}, 0, 0, 64}};
  m.buffers = {{"x", DType::F32, {64}, 0, false, 0}};
  layoutState(m);
  m.memory.scratchBytesPerThread = 64;
  m.kernels.push_back({"note", "", "note", "", 0, ""});
  Launch launch;
  launch.args = {{LaunchArg::Kind::Place, {Base::Buffer, 0, 0, 256}, true, 0, DType::Void}};
  launch.grid[0] = {64, "arg0"};
  launch.flops = {64, "(MUL arg0 1)"};
  Launch alone = launch;
  alone.grid[0] = {1, ""};
  m.launches = {alone, launch, launch, launch};
  return m;
}

TEST_CASE("executor: nothing is allocated between the first launch and the last") {
#ifdef UOPC_SANITIZED
  WARN("skipped in part: allocations are not counted under sanitizers");
#endif
  auto artifact = Artifact::inMemory(manifest(), [](const KernelInfo&) -> Result<KernelFn> { return &note; });
  REQUIRE(artifact);
  for (int threads : {1, 3}) {
    for (bool timing : {false, true}) {
      auto session = Session::create(*artifact, {threads});
      REQUIRE(session);
      session->setTiming(timing);
      REQUIRE(session->bind("count", *Tensor::scalar(DType::I32, 64)));
      INFO(threads << " threads, timing " << timing);
      for (int run = 0; run < 3; ++run) {
        REQUIRE(session->bind("x", *Tensor::zeros(DType::F32, {64})));
        REQUIRE(session->run());  // the first one too, which starts the threads
        CHECK(g_first.load() == g_last.load());
        CHECK(session->state("x")->as<float>()[63] == 3);
      }
    }
  }
}

}  // namespace
}  // namespace uop
