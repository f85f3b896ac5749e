#include "runtime/safetensors.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>

#include "runtime/strict_json.h"

namespace uop {
namespace {

using Json = nlohmann::ordered_json;
constexpr uint64_t kMaxHeader = 100'000'000;  // the format's own limit

std::optional<DType> dtypeOf(std::string_view text) {
  for (size_t i = 0; i < static_cast<size_t>(DType::Void); ++i)
    if (!text.empty() && info(static_cast<DType>(i)).safetensors == text) return static_cast<DType>(i);
  return std::nullopt;
}

struct Entry {
  std::string name;
  DType dtype = DType::F32;
  Shape shape;
  uint64_t begin = 0, end = 0;  // bytes from the end of the header
};

std::optional<uint64_t> count(const Json& value) {
  if (!value.is_number_integer() || (!value.is_number_unsigned() && value.get<int64_t>() < 0)) return std::nullopt;
  return value.get<uint64_t>();
}

// The error's message is what is wrong with the entry.
Result<Entry> readEntry(const std::string& name, const Json& value, std::string_view file) {
  auto bad = [&](std::string_view what) { return fail(Diag::BadFile, file, fmt::format("tensor '{}': {}", name, what)); };
  if (!value.is_object()) return bad("an object is expected");
  auto dtype = value.find("dtype"), shape = value.find("shape"), offsets = value.find("data_offsets");
  if (dtype == value.end() || !dtype->is_string()) return bad("dtype is missing or no string");
  if (shape == value.end() || !shape->is_array()) return bad("shape is missing or no list");
  if (offsets == value.end() || !offsets->is_array() || offsets->size() != 2) return bad("data_offsets is missing or no pair");
  Entry entry{.name = name, .shape = {}};
  auto known = dtypeOf(dtype->get_ref<const std::string&>());
  if (!known) return bad(fmt::format("dtype '{}' is not supported", dtype->get_ref<const std::string&>()));
  entry.dtype = *known;
  for (const Json& axis : *shape) {
    auto n = count(axis);
    if (!n || *n > INT64_MAX) return bad("an axis of shape is no count");
    entry.shape.push_back(static_cast<int64_t>(*n));
  }
  auto bytes = byteCount(entry.dtype, entry.shape);
  auto begin = count((*offsets)[0]), end = count((*offsets)[1]);
  if (!bytes) return bad("the shape is too large");
  if (!begin || !end || *begin > *end) return bad("data_offsets is no range");
  entry.begin = *begin, entry.end = *end;
  if (entry.end - entry.begin != *bytes)
    return bad(fmt::format("{} {} takes {} bytes, data_offsets gives {}", uop::name(entry.dtype), shapeText(entry.shape), *bytes, entry.end - entry.begin));
  return entry;
}

// Every byte of the body belongs to exactly one tensor.
Result<void> checkCover(std::vector<Entry> entries, uint64_t size, std::string_view file) {
  std::ranges::sort(entries, {}, [](const Entry& e) { return std::pair(e.begin, e.end); });
  uint64_t at = 0;
  for (const Entry& e : entries) {
    if (e.end > size)
      return fail(Diag::BadFile, file, fmt::format("tensor '{}': data_offsets [{},{}] leave the file's {} bytes of data", e.name, e.begin, e.end, size));
    if (e.begin != at)
      return fail(Diag::BadFile, file, fmt::format("tensor '{}': data_offsets begin at {}, expected {}: tensors overlap or leave a hole", e.name, e.begin, at));
    at = e.end;
  }
  if (at != size) return fail(Diag::BadFile, file, fmt::format("{} bytes of data, but tensors take {}", size, at));
  return {};
}

}  // namespace

Result<ArrayMap> parseSafetensors(std::string_view data, std::string_view name) {
  uint64_t length = 0;
  if (data.size() < sizeof length) return fail(Diag::BadFile, name, "it is no .safetensors file: it is too short");
  std::memcpy(&length, data.data(), sizeof length);
  if (length > kMaxHeader) return fail(Diag::BadFile, name, fmt::format("the header of {} bytes is over the limit of 100 MB", length));
  std::string_view body = data.substr(sizeof length);
  if (length > body.size()) return fail(Diag::BadFile, name, "the header is cut off");
  auto header = parseJson<Json>(body.substr(0, length));
  if (!header) return fail(Diag::BadFile, name, "the header: " + header.error().message);
  if (!header->is_object()) return fail(Diag::BadFile, name, "the header is no JSON object");
  body.remove_prefix(length);
  std::vector<Entry> entries;
  for (const auto& [key, value] : header->items()) {
    if (key == "__metadata__") continue;
    auto entry = readEntry(key, value, name);
    if (!entry) return std::unexpected(entry.error());
    entries.push_back(std::move(*entry));
  }
  if (auto done = checkCover(entries, body.size(), name); !done) return std::unexpected(done.error());
  ArrayMap arrays;
  for (Entry& e : entries) {
    auto tensor = Tensor::zeros(e.dtype, e.shape);
    if (!tensor) return std::unexpected(tensor.error());
    if (tensor->bytes) std::memcpy(tensor->data(), body.data() + e.begin, tensor->bytes);
    if (e.dtype == DType::Bool)
      for (uint8_t& b : tensor->as<uint8_t>()) b = b != 0;  // kernels may count on 0 and 1
    arrays.emplace(e.name, std::move(*tensor));
  }
  return arrays;
}

Result<std::string> serializeSafetensors(const ArrayList& arrays, std::string_view name) {
  Json header = Json::object();
  std::set<std::string_view> names;
  uint64_t at = 0;
  for (const auto& [key, tensor] : arrays) {
    if (!names.insert(key).second || key == "__metadata__")
      return fail(Diag::BadFile, name, fmt::format("two arrays are called '{}', or the format keeps this name", key));
    std::string_view dtype = info(tensor.dtype).safetensors;
    if (dtype.empty()) return fail(Diag::BadFile, name, fmt::format(".safetensors cannot hold {}", uop::name(tensor.dtype)));
    // (ordered_json looks keys up one by one, so entries are appended.)
    Json entry = {{"dtype", dtype}, {"shape", tensor.shape}, {"data_offsets", {at, at + tensor.bytes}}};
    header.get_ref<Json::object_t&>().emplace_back(key, std::move(entry));
    at += tensor.bytes;
  }
  std::string text = header.dump(-1, ' ', false, Json::error_handler_t::replace);
  text.append((8 - text.size() % 8) % 8, ' ');
  uint64_t length = text.size();
  std::string out(reinterpret_cast<const char*>(&length), sizeof length);
  out.reserve(sizeof length + text.size() + at);
  out += text;
  for (const auto& [key, tensor] : arrays) out.append(reinterpret_cast<const char*>(tensor.data()), tensor.bytes);
  return out;
}

}  // namespace uop
