#include "runtime/tensor.h"

#include <sys/mman.h>
#include <unistd.h>

#include <bit>
#include <cstdlib>
#include <cstring>

#include "runtime/half.h"

namespace uop {
namespace {

constexpr size_t kMaxRank = 32;
constexpr int64_t kMaxAxis = int64_t{1} << 48;
constexpr uint64_t kMaxBytes = uint64_t{1} << 62;
constexpr size_t kHugePage = size_t{2} << 20;

// More than this would be promised by an overcommitting system and killed later.
uint64_t machineMemory() {
  long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
  return pages > 0 && size > 0 ? static_cast<uint64_t>(pages) * static_cast<uint64_t>(size) : UINT64_MAX;
}

template <class T>
T read(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

}  // namespace

Result<std::shared_ptr<std::byte[]>> allocateBlock(uint64_t bytes, std::string_view what) {
  uint64_t padded = ((bytes | 1) + kAlignment - 1) & ~uint64_t{kAlignment - 1};
  bool large = padded >= 2 * kHugePage;
  size_t alignment = large ? kHugePage : kAlignment;
  void* raw = bytes <= machineMemory() ? std::calloc(padded + alignment, 1) : nullptr;
  if (!raw) return fail(Diag::OutOfMemory, bytes, what);
  auto at = (reinterpret_cast<uintptr_t>(raw) + alignment - 1) & ~(uintptr_t{alignment} - 1);
  auto* block = reinterpret_cast<std::byte*>(at);
  if (large) madvise(block, padded & ~(kHugePage - 1), MADV_HUGEPAGE);  // a hint: tensors are streamed, pages are few
  return std::shared_ptr<std::byte[]>(block, [raw](std::byte*) { std::free(raw); });
}

std::optional<int64_t> elementCount(std::span<const int64_t> shape) {
  if (shape.size() > kMaxRank) return std::nullopt;
  // An axis of 0 makes the product 0 whatever the others are, so it is looked for first.
  bool empty = false;
  for (int64_t n : shape) {
    if (n < 0 || n >= kMaxAxis) return std::nullopt;
    empty |= n == 0;
  }
  if (empty) return 0;
  int64_t count = 1;
  for (int64_t n : shape)
    if (__builtin_mul_overflow(count, n, &count)) return std::nullopt;
  return count;
}

std::optional<uint64_t> byteCount(DType dtype, std::span<const int64_t> shape) {
  auto count = elementCount(shape);
  uint64_t bytes = 0;
  if (!count || __builtin_mul_overflow(static_cast<uint64_t>(*count), uint64_t{byteSize(dtype)}, &bytes)) return std::nullopt;
  if (bytes >= kMaxBytes) return std::nullopt;
  return bytes;
}

Result<Tensor> Tensor::zeros(DType dtype, Shape shape) {
  auto bytes = byteCount(dtype, shape);
  if (!bytes) return fail(Diag::BadFile, shapeText(shape), "the shape is too large");
  auto block = allocateBlock(*bytes, fmt::format("a tensor {} {}", name(dtype), shapeText(shape)));
  if (!block) return std::unexpected(block.error());
  return Tensor{dtype, std::move(shape), std::move(*block), *bytes};
}

Result<Tensor> Tensor::scalar(DType dtype, uint64_t bits) {
  auto tensor = zeros(dtype, {});
  if (tensor) std::memcpy(tensor->data(), &bits, tensor->bytes);
  return tensor;
}

Result<Tensor> Tensor::clone() const {
  auto copy = zeros(dtype, shape);
  if (copy && bytes) std::memcpy(copy->data(), data(), bytes);
  return copy;
}

Result<Tensor> Tensor::slice(int64_t i) const {
  auto part = zeros(dtype, Shape(shape.begin() + 1, shape.end()));
  if (part && part->bytes) std::memcpy(part->data(), data() + static_cast<size_t>(i) * part->bytes, part->bytes);
  return part;
}

int64_t Tensor::bits(int64_t i) const {
  const std::byte* at = data() + static_cast<size_t>(i) * byteSize(dtype);
  bool sign = isSigned(dtype);
  // (int64_t on both sides: the common type of int32_t and uint32_t is the latter, which would lose the sign.)
  switch (byteSize(dtype)) {
    case 1: return sign ? int64_t{read<int8_t>(at)} : int64_t{read<uint8_t>(at)};
    case 2: return sign ? int64_t{read<int16_t>(at)} : int64_t{read<uint16_t>(at)};
    case 4: return sign ? int64_t{read<int32_t>(at)} : int64_t{read<uint32_t>(at)};
    case 8: return read<int64_t>(at);
    default: return 0;
  }
}

int64_t Tensor::asInt(int64_t i) const { return bits(i); }

double Tensor::asDouble(int64_t i) const {
  int64_t raw = bits(i);
  switch (dtype) {
    case DType::F16: return halfToFloat(static_cast<uint16_t>(raw));
    case DType::BF16: return bfloatToFloat(static_cast<uint16_t>(raw));
    case DType::F32: return std::bit_cast<float>(static_cast<uint32_t>(raw));
    case DType::F64: return std::bit_cast<double>(raw);
    case DType::U64: return static_cast<double>(static_cast<uint64_t>(raw));
    default: return static_cast<double>(raw);
  }
}

bool sameDType(DType a, DType b) {
  auto plain = [](DType d) { return d == DType::Index ? DType::I64 : d; };
  return plain(a) == plain(b);
}

}  // namespace uop
