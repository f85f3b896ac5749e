#include "pass/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "ir/graph.h"
#include "ir/scalar.h"

namespace uop {
namespace {

double relativeTolerance(DType dtype) {
  switch (dtype) {
    case DType::F64: return 1e-12;
    case DType::F32: return 1e-5;
    case DType::F16: return 2e-3;
    default: return 1.6e-2;
  }
}

Scalar element(const ArrayView& a, int64_t i) {
  uint64_t bits = 0;
  size_t size = byteSize(a.dtype);
  std::memcpy(&bits, a.data.data() + static_cast<size_t>(i) * size, size);
  return fromStorage(bits, a.dtype);
}

double largest(const ArrayView& a, int64_t count) {
  double most = 0;
  for (int64_t i = 0; i < count; ++i)
    if (double v = std::abs(element(a, i).asDouble()); std::isfinite(v)) most = std::max(most, v);
  return most;
}

std::string placeText(int64_t element, std::span<const int64_t> shape) {
  std::vector<int64_t> at(shape.size());
  for (size_t i = shape.size(); i-- > 0;) {
    at[i] = element % shape[i];
    element /= shape[i];
  }
  return shapeText(at);
}

bool closeEnough(double got, double want, double rtol, double atol) {
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) && std::isnan(got);
  if (std::isinf(want) || std::isinf(got)) return got == want;
  return std::abs(got - want) <= atol + rtol * std::abs(want);
}

}  // namespace

std::optional<Difference> compareArrays(const ArrayView& got, const ArrayView& want, int64_t terms) {
  if (got.dtype != want.dtype || !std::ranges::equal(got.shape, want.shape)) return Difference{0, 1, "in dtype or shape"};
  auto count = static_cast<int64_t>(want.data.size() / std::max<size_t>(byteSize(want.dtype), 1));
  bool floats = isFloat(want.dtype);
  double rtol = floats ? relativeTolerance(want.dtype) * std::sqrt(static_cast<double>(std::max<int64_t>(terms, 1))) : 0;
  double atol = floats ? rtol * largest(want, count) : 0;
  Difference d;
  for (int64_t i = 0; i < count; ++i) {
    Scalar g = element(got, i), w = element(want, i);
    bool same = floats ? closeEnough(g.asDouble(), w.asDouble(), rtol, atol) : g == w;
    if (!same && d.count++ == 0) d.element = i;
  }
  if (!d.count) return std::nullopt;
  d.text = fmt::format("at {}: {}, expected {} ({} of {} elements differ)", placeText(d.element, want.shape), scalarText(element(got, d.element), got.dtype),
                       scalarText(element(want, d.element), want.dtype), d.count, count);
  return d;
}

}  // namespace uop
