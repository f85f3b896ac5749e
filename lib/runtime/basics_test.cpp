// Tensors, half floats, random inputs, threads and CPU features.
#include <catch2/catch.hpp>
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>

#include "support/file.h"
#include "runtime/cpu_features.h"
#include "runtime/half.h"
#include "runtime/random.h"
#include "runtime/thread_pool.h"

using namespace uop;
using Catch::Contains;

TEST_CASE("tensors: elements as integers keep their sign") {
  for (DType d : {DType::I8, DType::I16, DType::I32, DType::I64}) {
    auto t = Tensor::scalar(d, static_cast<uint64_t>(-5));
    REQUIRE(t);
    CHECK(t->asInt(0) == -5);
    CHECK(t->bits(0) == -5);
    CHECK(t->asDouble(0) == -5);
  }
  CHECK(Tensor::scalar(DType::U32, UINT64_MAX)->asInt(0) == 0xffffffff);
  CHECK(Tensor::scalar(DType::U8, UINT64_MAX)->asInt(0) == 255);
  CHECK(Tensor::scalar(DType::U64, UINT64_MAX)->asDouble(0) == 0x1p64);
  CHECK(Tensor::scalar(DType::F32, 0xbf800000)->bits(0) == 0xbf800000);
  CHECK(Tensor::scalar(DType::F16, 0xbc00)->asDouble(0) == -1);
  auto t = Tensor::zeros(DType::I16, {3, 2});
  REQUIRE(t);
  for (int i = 0; i < 6; ++i) t->as<int16_t>()[static_cast<size_t>(i)] = static_cast<int16_t>(i);
  auto row = t->slice(2);
  REQUIRE(row);
  CHECK(row->shape == Shape{2});
  CHECK(row->asInt(1) == 5);
  CHECK(reinterpret_cast<uintptr_t>(row->data()) % kAlignment == 0);
  CHECK(Tensor::zeros(DType::F32, {-1}).error().kind == Diag::BadFile);
  CHECK(Tensor::zeros(DType::F32, {int64_t{1} << 47}).error().kind == Diag::OutOfMemory);
  CHECK(byteCount(DType::F32, std::vector<int64_t>{0, int64_t{1} << 47, int64_t{1} << 47}) == 0);
}

TEST_CASE("half floats: every pattern comes back") {
  for (uint32_t i = 0; i < 0x10000; ++i) {
    auto bits = static_cast<uint16_t>(i);
    float h = halfToFloat(bits), b = bfloatToFloat(bits);
    bool good = (std::isnan(h) ? std::isnan(halfToFloat(floatToHalf(h))) : floatToHalf(h) == bits) && (std::isnan(b) ? std::isnan(bfloatToFloat(floatToBfloat(b))) : floatToBfloat(b) == bits);
    if (!good) FAIL("pattern " << i);
  }
  CHECK(floatToHalf(65520) == 0x7c00);
  CHECK(floatToHalf(65519) == 0x7bff);
  CHECK(floatToHalf(0x1p-25f) == 0);
  CHECK(floatToHalf(0x1.8p-25f) == 1);
  CHECK(floatToBfloat(1 + 0x1p-8f) == 0x3f80);  // a tie, to even
}

TEST_CASE("random: reproducible, in range") {
  for (DType d : {DType::Bool, DType::I8, DType::U16, DType::I32, DType::I64, DType::U64, DType::F16, DType::BF16, DType::F32, DType::F64}) {
    CAPTURE(name(d));
    auto a = randomTensor(d, {5000}, 7, "x"), b = randomTensor(d, {5000}, 7, "x"), c = randomTensor(d, {5000}, 8, "x"), e = randomTensor(d, {5000}, 7, "y"), start = randomTensor(d, {10}, 7, "x");
    REQUIRE((a && b && c && e && start));
    CHECK(std::memcmp(a->data(), b->data(), a->bytes) == 0);
    CHECK(std::memcmp(a->data(), c->data(), a->bytes) != 0);
    CHECK(std::memcmp(a->data(), e->data(), a->bytes) != 0);
    CHECK(std::memcmp(a->data(), start->data(), start->bytes) == 0);
    double least = 1e9, most = -1e9;
    for (int64_t i = 0; i < a->elements(); ++i) least = std::min(least, a->asDouble(i)), most = std::max(most, a->asDouble(i));
    if (isFloat(d)) {
      CHECK((least >= -1 && least < -0.9 && most > 0.9 && most < 1));
    } else {
      CHECK((least == 0 && most == (d == DType::Bool ? 1 : 9)));
    }
  }
  auto range = [](DType d, std::optional<int64_t> min, std::optional<int64_t> max) {
    auto t = randomTensor(d, {4000}, 1, "n", min, max);
    REQUIRE(t);
    std::pair<int64_t, int64_t> out = {INT64_MAX, INT64_MIN};
    for (int64_t i = 0; i < t->elements(); ++i) out = {std::min(out.first, t->asInt(i)), std::max(out.second, t->asInt(i))};
    return out;
  };
  using P = std::pair<int64_t, int64_t>;
  CHECK(range(DType::I32, -3, 3) == P{-3, 3});
  CHECK(range(DType::I32, 100, {}) == P{100, 109});
  CHECK(range(DType::I32, {}, -5) == P{-14, -5});
  CHECK(range(DType::I8, -1000, 1000) == P{-128, 127});
  CHECK(range(DType::U8, -5, 2) == P{0, 2});
  CHECK(range(DType::I64, 4, 4) == P{4, 4});
  auto wide = range(DType::I64, INT64_MIN, INT64_MAX);
  CHECK((wide.first < INT64_MIN / 2 && wide.second > INT64_MAX / 2));
}

TEST_CASE("thread pool: every task once, sums") {
  for (int threads : {1, 2, 3, 8}) {
    ThreadPool pool(threads);
    CHECK(pool.threads() == threads);
    for (int64_t tasks : {0, 1, 2, 7, 1000}) {
      std::vector<std::atomic<int>> seen(static_cast<size_t>(tasks));
      std::atomic<int64_t> sum = 0;
      std::atomic<bool> bad = false;
      pool.run(tasks, [&](int64_t t, int worker) {
        if (worker < 0 || worker >= threads) bad = true;
        ++seen[static_cast<size_t>(t)];
        sum += t;
      });
      CHECK_FALSE(bad);
      CHECK(sum == tasks * (tasks - 1) / 2);
      CHECK(std::ranges::all_of(seen, [](auto& n) { return n == 1; }));
    }
    std::atomic<bool> other = false;
    pool.run(100, [&](int64_t, int worker) { if (worker != 0) other = true; }, 1);
    CHECK_FALSE(other);
  }
}

TEST_CASE("thread pool: more runs than generations") {
  ThreadPool pool(3);
  std::atomic<int64_t> sum = 0;
  for (int i = 0; i < 70000; ++i) pool.run(2, [&](int64_t t, int) { sum.fetch_add(t + 1, std::memory_order_relaxed); });
  CHECK(sum == 3 * 70000);
}

TEST_CASE("a file that cannot be written leaves nothing") {
  auto done = writeFileAtomically("/no such folder/x", "text");
  REQUIRE_FALSE(done);
  CHECK(done.error().kind == Diag::CannotWrite);
}

TEST_CASE("CPU features") {
  auto known = knownCpuFeatures();
  CHECK(std::ranges::is_sorted(known));
  CHECK(std::ranges::adjacent_find(known) == known.end());
  for (std::string_view f : {"adx", "avx2", "avx512f", "avx512bf16", "fma", "sha", "sse2"}) CHECK(std::ranges::binary_search(known, f));
  for (std::string_view f : known) CHECK(cpuHasFeature(f));
  CHECK(cpuHasFeature("sse2") == true);  // of every x86-64
  CHECK(requireCpuFeatures({}));
  auto r = requireCpuFeatures(std::vector<std::string>{"sse2", "quantum"});
  REQUIRE_FALSE(r);
  CHECK(r.error().kind == Diag::MissingFeature);
  CHECK_THAT(r.error().message, Contains("quantum (not a known feature)") && !Contains("sse2"));
}
