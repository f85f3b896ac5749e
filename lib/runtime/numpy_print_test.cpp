// formatTensor against what numpy 1.24 prints.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

#include "runtime/half.h"
#include "runtime/numpy_print.h"

using namespace uop;

namespace {

template <class T>
std::string text(DType dtype, Shape shape, const std::vector<T>& values) {
  auto t = Tensor::zeros(dtype, std::move(shape));
  REQUIRE(t);
  REQUIRE(t->bytes == values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(t->data(), values.data(), t->bytes);
  return formatTensor(*t);
}

template <class T>
std::vector<T> counted(size_t n, T scale = 1) {
  std::vector<T> out;
  for (size_t i = 0; i < n; ++i) out.push_back(static_cast<T>(i) * scale);
  return out;
}

}  // namespace

TEST_CASE("formatTensor: scalars") {
  CHECK(text<float>(DType::F32, {}, {0.1f}) == "0.1");
  CHECK(text<double>(DType::F64, {}, {1e16}) == "1e+16");
  CHECK(text<double>(DType::F64, {}, {3}) == "3.0");
  CHECK(text<double>(DType::F64, {}, {0.00012345678901234567}) == "0.00012345678901234567");
  CHECK(text<double>(DType::F64, {}, {1.5e-5}) == "1.5e-05");
  CHECK(text<double>(DType::F64, {}, {-INFINITY}) == "-inf");
  CHECK(text<int64_t>(DType::I64, {}, {INT64_MIN}) == "-9223372036854775808");
  CHECK(text<uint64_t>(DType::U64, {}, {UINT64_MAX}) == "18446744073709551615");
  CHECK(text<uint8_t>(DType::Bool, {}, {1}) == "True");
  CHECK(text<float>(DType::F32, {}, {99999992.f}) == "99999990.0");
  CHECK(text<uint16_t>(DType::F16, {}, {floatToHalf(24128)}) == "24130.0");
}

TEST_CASE("formatTensor: arrays") {
  CHECK(text<float>(DType::F32, {4}, {1.5f, -2, NAN, INFINITY}) == "[ 1.5 -2.   nan  inf]");
  CHECK(text<double>(DType::F64, {3}, {1e-5, 1, 1e10}) == "[1.e-05 1.e+00 1.e+10]");
  CHECK(text<double>(DType::F64, {2}, {1e100, 1.5}) == "[1.0e+100 1.5e+000]");
  CHECK(text<int64_t>(DType::I64, {2, 3}, counted<int64_t>(6)) == "[[0 1 2]\n [3 4 5]]");
  CHECK(text<uint8_t>(DType::Bool, {2, 1}, {1, 0}) == "[[ True]\n [False]]");
  CHECK(text<uint8_t>(DType::U8, {1}, {255}) == "[255]");
  CHECK(text<double>(DType::F64, {0, 3}, {}) == "[]");
  CHECK(text<uint16_t>(DType::F16, {2}, {floatToHalf(0.1f), floatToHalf(0.25f)}) == "[0.1  0.25]");
  CHECK(text<uint16_t>(DType::BF16, {2}, {floatToBfloat(0.1f), floatToBfloat(0.25f)}) == "[0.1  0.25]");
  CHECK(text<uint16_t>(DType::F16, {1}, {floatToHalf(24128)}) == "[24128.]");
  CHECK(text<uint8_t>(DType::Bool, {1}, {1}) == "[ True]");
  std::vector<float> thirds;
  for (int i = 0; i < 8; ++i) thirds.push_back(static_cast<float>(i) / 3);
  CHECK(text<float>(DType::F32, {2, 2, 2}, thirds) == R"([[[0.         0.33333334]
  [0.6666667  1.        ]]

 [[1.3333334  1.6666666 ]
  [2.         2.3333333 ]]])");
}

TEST_CASE("formatTensor: lines and summaries") {
  CHECK(text<int64_t>(DType::I64, {1001}, counted<int64_t>(1001)) == "[   0    1    2 ...  998  999 1000]");
  CHECK(text<float>(DType::F32, {40, 50}, counted<float>(2000)) == R"([[0.000e+00 1.000e+00 2.000e+00 ... 4.700e+01 4.800e+01 4.900e+01]
 [5.000e+01 5.100e+01 5.200e+01 ... 9.700e+01 9.800e+01 9.900e+01]
 [1.000e+02 1.010e+02 1.020e+02 ... 1.470e+02 1.480e+02 1.490e+02]
 ...
 [1.850e+03 1.851e+03 1.852e+03 ... 1.897e+03 1.898e+03 1.899e+03]
 [1.900e+03 1.901e+03 1.902e+03 ... 1.947e+03 1.948e+03 1.949e+03]
 [1.950e+03 1.951e+03 1.952e+03 ... 1.997e+03 1.998e+03 1.999e+03]])");
  std::vector<double> line;
  for (int i = 0; i < 20; ++i) line.push_back(i / 19.0);
  CHECK(text<double>(DType::F64, {20}, line) == R"([0.         0.05263158 0.10526316 0.15789474 0.21052632 0.26315789
 0.31578947 0.36842105 0.42105263 0.47368421 0.52631579 0.57894737
 0.63157895 0.68421053 0.73684211 0.78947368 0.84210526 0.89473684
 0.94736842 1.        ])");
  CHECK(text<int64_t>(DType::I64, {2, 1, 30}, counted<int64_t>(60, 12345679)) == R"([[[        0  12345679  24691358  37037037  49382716  61728395  74074074
    86419753  98765432 111111111 123456790 135802469 148148148 160493827
   172839506 185185185 197530864 209876543 222222222 234567901 246913580
   259259259 271604938 283950617 296296296 308641975 320987654 333333333
   345679012 358024691]]

 [[370370370 382716049 395061728 407407407 419753086 432098765 444444444
   456790123 469135802 481481481 493827160 506172839 518518518 530864197
   543209876 555555555 567901234 580246913 592592592 604938271 617283950
   629629629 641975308 654320987 666666666 679012345 691358024 703703703
   716049382 728395061]]])");
}

TEST_CASE("summarizeTensor") {
  auto t = Tensor::zeros(DType::F32, {2, 2});
  REQUIRE(t);
  t->as<float>()[0] = -1, t->as<float>()[1] = 2.5f, t->as<float>()[2] = NAN, t->as<float>()[3] = 0;
  CHECK(summarizeTensor(*t) == "f32 [2,2] min -1 max 2.5 mean 0.5 nan 1");
}
