#include "runtime/arrays.h"

#include "runtime/mapped_file.h"
#include "runtime/npy.h"
#include "runtime/npz.h"
#include "runtime/safetensors.h"
#include "support/file.h"

namespace uop {
namespace {

enum class Format { Npy, Npz, Safetensors };

Result<Format> formatOf(const std::string& path) {
  if (path.ends_with(".npy")) return Format::Npy;
  if (path.ends_with(".npz")) return Format::Npz;
  if (path.ends_with(".safetensors")) return Format::Safetensors;
  return fail(Diag::BadFile, path, "expected a name that ends in .npy, .npz or .safetensors");
}

Result<std::string> serialize(Format format, const std::string& path, const ArrayList& arrays) {
  if (format == Format::Npz) return serializeNpz(arrays, path);
  if (format == Format::Safetensors) return serializeSafetensors(arrays, path);
  if (arrays.size() != 1) return fail(Diag::BadFile, path, fmt::format("a .npy file holds one array, not {}; use .npz or .safetensors", arrays.size()));
  return serializeNpy(arrays[0].second, path);
}

}  // namespace

Result<ArrayMap> readArrays(const std::string& path) {
  auto format = formatOf(path);
  if (!format) return std::unexpected(format.error());
  auto file = MappedFile::open(path);
  if (!file) return std::unexpected(file.error());
  if (*format == Format::Npz) return parseNpz(file->bytes(), path);
  if (*format == Format::Safetensors) return parseSafetensors(file->bytes(), path);
  auto tensor = parseNpy(file->bytes(), path);
  if (!tensor) return std::unexpected(tensor.error());
  return ArrayMap{{"", std::move(*tensor)}};
}

Result<Tensor> readArray(const std::string& path) {
  auto arrays = readArrays(path);
  if (!arrays) return std::unexpected(arrays.error());
  if (arrays->size() != 1) return fail(Diag::BadFile, path, fmt::format("one array is expected, it holds {}", arrays->size()));
  return std::move(arrays->begin()->second);
}

Result<void> writeArrays(const std::string& path, const ArrayList& arrays) {
  auto format = formatOf(path);
  if (!format) return std::unexpected(format.error());
  auto data = serialize(*format, path, arrays);
  if (!data) return std::unexpected(data.error());
  return writeFileAtomically(path, *data);
}

}  // namespace uop
