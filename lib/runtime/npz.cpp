#include "runtime/npz.h"

#include <zip.h>

#include <algorithm>
#include <memory>
#include <set>

#include "runtime/npy.h"

namespace uop {
namespace {

constexpr uint64_t kDeflateLimit = 1032;  // the most bytes that one deflated byte gives
constexpr size_t kLongestHeader = (1 << 20) + (1 << 16);  // what must do to read one
constexpr zip_uint16_t kFirstDosDate = 0x21;  // 1980-01-01, the first date a zip can hold

// An archive that is thrown away (not written) at the end.
struct Discard {
  void operator()(zip_t* archive) const { zip_discard(archive); }
};
using Archive = std::unique_ptr<zip_t, Discard>;

std::unexpected<Error> zipFail(std::string_view name, zip_error_t* error) {
  std::string text = zip_error_strerror(error);
  zip_error_fini(error);
  return fail(Diag::BadFile, name, text);
}

Result<std::string> readEntry(zip_t* archive, zip_uint64_t index, std::string_view label, uint64_t& budget) {
  zip_stat_t stat;
  zip_stat_init(&stat);
  if (zip_stat_index(archive, index, 0, &stat) != 0 || !(stat.valid & ZIP_STAT_SIZE))
    return fail(Diag::BadFile, label, "the entry cannot be read");
  if (stat.comp_method != ZIP_CM_STORE && stat.comp_method != ZIP_CM_DEFLATE)
    return fail(Diag::BadFile, label, fmt::format("compression method {} is not supported; expected stored or deflated", stat.comp_method));
  if (stat.size > budget) return fail(Diag::BadFile, label, "the entry claims more bytes than the archive can hold");
  budget -= stat.size;
  std::unique_ptr<zip_file_t, decltype(&zip_fclose)> file(zip_fopen_index(archive, index, 0), &zip_fclose);
  if (!file) return fail(Diag::BadFile, label, zip_strerror(archive));
  std::string data;
  // Grows with what really comes, as `size` is only a claim; what its header does not account for is not inflated.
  char buffer[1 << 16];
  bool begins = true;
  for (zip_int64_t n; (n = zip_fread(file.get(), buffer, sizeof buffer)) != 0;) {
    if (n < 0) return fail(Diag::BadFile, label, zip_file_strerror(file.get()));
    if (data.size() + static_cast<size_t>(n) > stat.size) return fail(Diag::BadFile, label, "the entry is longer than it claims");
    data.append(buffer, static_cast<size_t>(n));
    if (!begins) continue;
    auto header = parseNpyHeader(data, label);
    if (!header && data.size() > kLongestHeader) return std::unexpected(header.error());
    if (!header) continue;
    if (auto ok = checkNpySize(*header, stat.size, label); !ok) return std::unexpected(ok.error());
    begins = false;
  }
  if (data.size() != stat.size) return fail(Diag::BadFile, label, "the entry is cut off");
  return data;
}

Result<void> addEntry(zip_t* archive, const std::string& entry, std::string_view data, std::string_view name) {
  zip_source_t* source = zip_source_buffer(archive, data.data(), data.size(), 0);
  zip_int64_t index = source ? zip_file_add(archive, entry.c_str(), source, ZIP_FL_ENC_UTF_8) : -1;
  if (index < 0) {
    if (source) zip_source_free(source);
    return fail(Diag::BadFile, name, fmt::format("cannot add '{}': {}", entry, zip_strerror(archive)));
  }
  auto at = static_cast<zip_uint64_t>(index);
  zip_set_file_compression(archive, at, ZIP_CM_STORE, 0);
  zip_file_set_dostime(archive, at, 0, kFirstDosDate, 0);
  zip_file_set_external_attributes(archive, at, 0, ZIP_OPSYS_UNIX, 0100644u << 16);
  return {};
}

// The bytes of an archive that was written to `source`.
std::string sourceBytes(zip_source_t* source) {
  std::string out;
  if (zip_source_open(source) != 0) return out;
  zip_source_seek(source, 0, SEEK_END);
  out.resize(static_cast<size_t>(std::max<zip_int64_t>(zip_source_tell(source), 0)));
  zip_source_seek(source, 0, SEEK_SET);
  zip_int64_t n = zip_source_read(source, out.data(), out.size());
  out.resize(static_cast<size_t>(std::max<zip_int64_t>(n, 0)));
  zip_source_close(source);
  return out;
}

}  // namespace

Result<ArrayMap> parseNpz(std::string_view data, std::string_view name) {
  if (data.empty()) return fail(Diag::BadFile, name, "the file is empty");  // which libzip takes for an archive without entries
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* source = zip_source_buffer_create(data.data(), data.size(), 0, &error);
  if (!source) return zipFail(name, &error);
  Archive archive(zip_open_from_source(source, ZIP_RDONLY, &error));
  if (!archive) {
    zip_source_free(source);
    return zipFail(name, &error);
  }
  zip_error_fini(&error);
  ArrayMap arrays;
  uint64_t budget = data.size() * kDeflateLimit;
  auto count = static_cast<zip_uint64_t>(std::max<zip_int64_t>(zip_get_num_entries(archive.get(), 0), 0));
  for (zip_uint64_t i = 0; i < count; ++i) {
    const char* raw = zip_get_name(archive.get(), i, 0);
    std::string entry = raw ? raw : "";
    std::string label = fmt::format("{}({})", name, entry);
    if (!entry.ends_with(".npy")) return fail(Diag::BadFile, label, "the entry is no .npy file");
    auto bytes = readEntry(archive.get(), i, label, budget);
    if (!bytes) return std::unexpected(bytes.error());
    auto tensor = parseNpy(*bytes, label);
    if (!tensor) return std::unexpected(tensor.error());
    entry.resize(entry.size() - 4);
    if (!arrays.emplace(entry, std::move(*tensor)).second) return fail(Diag::BadFile, label, "the archive holds this name twice");
  }
  return arrays;
}

Result<std::string> serializeNpz(const ArrayList& arrays, std::string_view name) {
  // libzip reads the entries' bytes when the archive closes, so all of them live until then.
  std::vector<std::string> files;
  std::set<std::string_view> names;
  for (const auto& [key, tensor] : arrays) {
    if (!names.insert(key).second) return fail(Diag::BadFile, name, fmt::format("two arrays are called '{}'", key));
    auto bytes = serializeNpy(tensor, fmt::format("{}({})", name, key));
    if (!bytes) return bytes;
    files.push_back(std::move(*bytes));
  }
  // libzip would delete an archive without entries; this is the one that numpy writes.
  if (arrays.empty()) return std::string("PK\x05\x06", 4) + std::string(18, '\0');
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* source = zip_source_buffer_create(nullptr, 0, 0, &error);
  if (!source) return zipFail(name, &error);
  zip_source_keep(source);  // it outlives the archive, to be read
  std::unique_ptr<zip_source_t, decltype(&zip_source_free)> keep(source, &zip_source_free);
  Archive archive(zip_open_from_source(source, ZIP_CREATE | ZIP_TRUNCATE, &error));
  if (!archive) {
    zip_source_free(source);
    return zipFail(name, &error);
  }
  zip_error_fini(&error);
  for (size_t i = 0; i < arrays.size(); ++i)
    if (auto done = addEntry(archive.get(), arrays[i].first + ".npy", files[i], name); !done) return std::unexpected(done.error());
  if (zip_close(archive.get()) != 0) return fail(Diag::BadFile, name, zip_strerror(archive.get()));
  static_cast<void>(archive.release());  // closed and freed
  return sourceBytes(source);
}

}  // namespace uop
