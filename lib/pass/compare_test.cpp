#include "pass/compare.h"

#include <catch2/catch.hpp>
#include <limits>
#include <vector>

namespace uop {
namespace {

template <class T>
std::optional<Difference> compare(DType dtype, const std::vector<T>& got, const std::vector<T>& want, int64_t terms) {
  std::vector<int64_t> shape = {2, static_cast<int64_t>(got.size() / 2)};
  return compareArrays({dtype, shape, std::as_bytes(std::span(got))}, {dtype, shape, std::as_bytes(std::span(want))}, terms);
}

TEST_CASE("integers are compared exactly") {
  std::vector<int32_t> a = {1, 2, 3, 4}, b = {1, 2, 5, 5};
  CHECK_FALSE(compare(DType::I32, a, a, 1));
  auto d = compare(DType::I32, a, b, 1000);
  REQUIRE(d);
  CHECK(d->element == 2);
  CHECK(d->text == "at [1,0]: 3, expected 5 (2 of 4 elements differ)");
}

TEST_CASE("floats are compared within the format's accuracy") {
  std::vector<float> want = {1, -4};
  CHECK_FALSE(compare(DType::F32, {1.00001f, -4}, want, 1));
  CHECK(compare(DType::F32, {1.001f, -4}, want, 1));
  CHECK_FALSE(compare(DType::F32, {1.001f, -4}, want, 10000));
  float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  std::vector<float> odd = {nan, inf};
  CHECK_FALSE(compare(DType::F32, odd, odd, 1));
  CHECK(compare(DType::F32, odd, want, 1));
  CHECK(compare(DType::F32, want, odd, 1));
  CHECK(compare(DType::F32, {nan, -inf}, odd, 1)->element == 1);
}

}  // namespace
}  // namespace uop
