// A dense row-major array in host memory: what files hold, what a program's arguments are bound to, what it gives back.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "support/diagnostics.h"
#include "support/dtype.h"
#include "support/shape.h"

namespace uop {

using Shape = std::vector<int64_t>;

constexpr size_t kAlignment = 64;  // bytes: a cache line and the widest vector; every block of the runtime starts on it

// A zeroed block, aligned to kAlignment and padded to a multiple of it. Large blocks are zero pages of the system, so that
// asking costs nothing until they are touched. Errors: Diag::OutOfMemory, which names `what`; also for more than the
// machine's memory.
Result<std::shared_ptr<std::byte[]>> allocateBlock(uint64_t bytes, std::string_view what);

// Number of elements and bytes; nullopt for a negative axis, a rank above 32, an axis of 2^48 or more, or 2^62 bytes or more.
std::optional<int64_t> elementCount(std::span<const int64_t> shape);
std::optional<uint64_t> byteCount(DType dtype, std::span<const int64_t> shape);

// Copies of a Tensor share storage; clone() does not.
struct Tensor {
  DType dtype = DType::F32;
  Shape shape;
  std::shared_ptr<std::byte[]> storage;  // aligned to kAlignment
  size_t bytes = 0;                      // elements × item size

  // Errors: Diag::OutOfMemory; Diag::BadFile for a shape over the limits of elementCount.
  static Result<Tensor> zeros(DType dtype, Shape shape);
  // A scalar of `dtype` from the low bytes of `bits`.
  static Result<Tensor> scalar(DType dtype, uint64_t bits);
  Result<Tensor> clone() const;
  // Copy of slice `i` along axis 0 (for --feed). `i` must be in range and the rank at least 1.
  Result<Tensor> slice(int64_t i) const;

  int64_t elements() const { return byteSize(dtype) ? static_cast<int64_t>(bytes / byteSize(dtype)) : 0; }
  std::byte* data() { return storage.get(); }
  const std::byte* data() const { return storage.get(); }
  std::span<const std::byte> raw() const { return {storage.get(), bytes}; }
  // T is the storage type of the dtype (uint16_t for f16 and bf16, uint8_t or bool for bool).
  template <class T>
  std::span<T> as() {
    return {reinterpret_cast<T*>(storage.get()), bytes / sizeof(T)};
  }
  template <class T>
  std::span<const T> as() const {
    return {reinterpret_cast<const T*>(storage.get()), bytes / sizeof(T)};
  }
  // Element `i` in row-major order: as a double (rounded for 64-bit integers), and as an integer (of an integer dtype or
  // bool; the bits for u64).
  double asDouble(int64_t i) const;
  int64_t asInt(int64_t i) const;
  // The storage bits of element `i`: integers sign- or zero-extended, floats in the low bytes. The form of a kernel's scalars.
  int64_t bits(int64_t i) const;
};

// index is i64 in files, so one may stand for the other.
bool sameDType(DType a, DType b);

}  // namespace uop
