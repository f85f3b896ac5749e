// JSON → Manifest. Every error names its place: "manifest.json: launches[3].args[1].offset: ...".
#include <nlohmann/json.hpp>

#include "runtime/manifest.h"
#include "runtime/strict_json.h"

namespace uop {
namespace {

using Json = nlohmann::ordered_json;

struct Wrong {
  std::string place, message;
};

// A value and where it stands.
class At {
 public:
  At(const Json& json, std::string place) : json_(&json), place_(std::move(place)) {}
  [[noreturn]] void wrong(std::string message) const { throw Wrong{place_, std::move(message)}; }
  bool has(const char* key) const { return json_->is_object() && json_->contains(key); }

  At operator[](const char* key) const {
    if (!json_->is_object()) wrong("expected an object, found " + found());
    std::string inner = place_.empty() ? key : place_ + "." + key;
    auto it = json_->find(key);
    if (it == json_->end()) throw Wrong{inner, "is missing"};
    return {*it, std::move(inner)};
  }
  std::vector<At> list(size_t most = 1u << 24) const {
    if (!json_->is_array()) wrong("expected a list, found " + found());
    if (json_->size() > most) wrong("is too long");
    std::vector<At> out;
    for (size_t i = 0; i < json_->size(); ++i) out.emplace_back((*json_)[i], fmt::format("{}[{}]", place_, i));
    return out;
  }
  int64_t integer() const {
    if (!json_->is_number_integer() || (json_->is_number_unsigned() && json_->get<uint64_t>() > static_cast<uint64_t>(INT64_MAX))) wrong("expected an integer, found " + found());
    return json_->get<int64_t>();
  }
  int64_t amount() const {
    int64_t v = integer();
    if (v < 0) wrong(fmt::format("expected an integer of at least 0, found {}", v));
    return v;
  }
  std::string string() const {
    if (!json_->is_string()) wrong("expected a string, found " + found());
    return json_->get<std::string>();
  }
  bool boolean() const {
    if (!json_->is_boolean()) wrong("expected true or false, found " + found());
    return json_->get<bool>();
  }
  DType dtype() const {
    std::string text = string();
    auto d = dtypeByName(text);
    if (!d || !isValue(*d)) wrong("unknown dtype '" + text.substr(0, 40) + "'");
    return *d;
  }
  Shape shape() const {
    Shape out;
    for (const At& d : list(32)) out.push_back(d.amount());
    return out;
  }
  bool isObject() const { return json_->is_object(); }
  const std::string& place() const { return place_; }

 private:
  std::string found() const {
    std::string text = json_->dump(-1, ' ', false, Json::error_handler_t::replace);
    return text.size() > 40 ? text.substr(0, 37) + "..." : text;
  }
  const Json* json_;
  std::string place_;
};

Amount readAmount(const At& at) {
  if (!at.isObject()) return {at.amount(), {}};
  return {at["max"].amount(), at["expr"].string()};
}

Place readPlace(const At& at) {
  Place p;
  std::string base = at["base"].string();
  bool known = false;
  for (Base b : {Base::Argument, Base::Buffer, Base::Constant, Base::Arena, Base::Result})
    if (baseName(b) == base) p.base = b, known = true;
  if (!known) at["base"].wrong("unknown base '" + base.substr(0, 40) + "'; expected argument, buffer, constant, arena or result");
  p.index = at["index"].amount();
  p.offset = at["offset"].amount();
  p.bytes = at["bytes"].amount();
  return p;
}

template <class T>
void readTensor(const At& at, T& out) {
  out.name = at["name"].string();
  out.dtype = at["dtype"].dtype();
  out.shape = at["shape"].shape();
}

ArgumentInfo readArgument(const At& at) {
  ArgumentInfo a;
  readTensor(at, a);
  a.slot = at["slot"].amount();
  std::string kind = at["kind"].string();
  if (kind != (a.isScalar() ? "scalar" : "place")) at["kind"].wrong("is '" + kind.substr(0, 40) + "', which the shape does not agree with");
  if (at.has("min")) a.min = at["min"].integer();
  if (at.has("max")) a.max = at["max"].integer();
  return a;
}

FileInfo readFileInfo(const At& at) { return {at["file"].string(), at["size"].amount(), at["sha256"].string()}; }

KernelInfo readKernel(const At& at) {
  KernelInfo k{at["name"].string(), at["file"].string(), at["symbol"].string(), at["sha256"].string(), at["size"].amount(), ""};
  if (at.has("source")) k.source = at["source"].string();
  return k;
}

LaunchArg readArg(const At& at) {
  LaunchArg a;
  std::string kind = at["kind"].string();
  if (kind == "scalar") {
    a.kind = LaunchArg::Kind::Scalar;
    a.index = at["index"].amount();
    a.dtype = at["dtype"].dtype();
  } else if (kind == "place") {
    a.place = readPlace(at);
    a.write = at.has("write") && at["write"].boolean();
  } else {
    at["kind"].wrong("expected 'place' or 'scalar', found '" + kind.substr(0, 40) + "'");
  }
  return a;
}

Launch readLaunch(const At& at, const Manifest& m) {
  Launch l;
  std::string kernel = at["kernel"].string();
  l.kernel = -1;
  for (size_t i = 0; i < m.kernels.size(); ++i)
    if (m.kernels[i].name == kernel) l.kernel = static_cast<int64_t>(i);
  if (l.kernel < 0) at["kernel"].wrong("there is no kernel '" + kernel.substr(0, 80) + "'");
  for (const At& a : at["args"].list(1u << 16)) l.args.push_back(readArg(a));
  auto grid = at["grid"].list(3), block = at["block"].list(3);
  if (grid.size() != 3) at["grid"].wrong("expected three numbers");
  if (block.size() != 3) at["block"].wrong("expected three numbers");
  for (size_t i = 0; i < 3; ++i) l.grid[i] = readAmount(grid[i]), l.block[i] = block[i].amount();
  l.threads = at["threads"].amount();
  l.flops = readAmount(at["flops"]);
  l.bytes = readAmount(at["bytes"]);
  if (at.has("tag")) l.tag = at["tag"].string();
  return l;
}

MemoryPlan readMemory(const At& at) {
  return {at["arena_bytes"].amount(), at["state_bytes"].amount(), at["alignment"].amount(), at["peak_bytes"].amount(), at["scratch_bytes_per_thread"].amount()};
}

Manifest readAll(const At& at) {
  Manifest m;
  if (int64_t version = at["version"].integer(); version != Manifest::kVersion) at["version"].wrong(fmt::format("is {}; this program reads version {}", version, Manifest::kVersion));
  m.name = at["name"].string();
  At target = at["target"];
  m.target = {target["name"].string(), target["cpu"].string(), {}};
  for (const At& f : target["features"].list(1024)) m.target.features.push_back(f.string());
  for (const At& a : at["arguments"].list()) m.arguments.push_back(readArgument(a));
  for (const At& b : at["buffers"].list()) {
    BufferInfo& info = m.buffers.emplace_back();
    readTensor(b, info);
    info.slot = b["slot"].amount(), info.isConst = b["const"].boolean(), info.offset = b["offset"].amount();
  }
  for (const At& c : at["constants"].list()) {
    ConstantInfo& info = m.constants.emplace_back();
    readTensor(c, info);
    info.offset = c["offset"].amount();
    if (!c.has("file")) continue;
    info.file = c["file"].string(), info.fileOffset = c["file_offset"].amount();
    if (info.file.empty()) c["file"].wrong("is empty");
  }
  for (const At& r : at["results"].list()) {
    ResultInfo& info = m.results.emplace_back();
    readTensor(r, info);
    info.place = readPlace(r["place"]);
  }
  m.memory = readMemory(at["memory"]);
  for (const At& k : at["kernels"].list()) m.kernels.push_back(readKernel(k));
  for (const At& l : at["once"].list()) m.once.push_back(readLaunch(l, m));
  for (const At& l : at["launches"].list()) m.launches.push_back(readLaunch(l, m));
  for (const At& f : at["files"].list()) m.files.push_back(readFileInfo(f));
  m.program = readFileInfo(at["program"]);
  return m;
}

}  // namespace

Result<Manifest> parseManifest(std::string_view text, std::string_view label) {
  auto json = parseJson<Json>(text);
  if (!json) return fail(Diag::ManifestError, label, "JSON", json.error().message);
  try {
    Manifest m = readAll(At(*json, ""));
    if (auto good = checkManifest(m, ManifestForm::Folder, label); !good) return std::unexpected(good.error());
    return m;
  } catch (const Wrong& w) {
    return fail(Diag::ManifestError, label, w.place.empty() ? "the file" : w.place, w.message);
  }
}

}  // namespace uop
