// Writing, layout, and what the parts of a manifest have in common. Reading: manifest_read.cpp; checks: manifest_check.cpp.
#include "runtime/manifest.h"

#include <nlohmann/json.hpp>

namespace uop {
namespace {

using Json = nlohmann::ordered_json;

Json amountJson(const Amount& a) {
  if (a.expr.empty()) return a.value;
  return {{"expr", a.expr}, {"max", a.value}};
}

Json placeJson(const Place& p) { return {{"base", baseName(p.base)}, {"index", p.index}, {"offset", p.offset}, {"bytes", p.bytes}}; }

template <class T>
Json tensorJson(const T& t) {
  return {{"name", t.name}, {"dtype", name(t.dtype)}, {"shape", t.shape}};
}

Json argumentJson(const ArgumentInfo& a) {
  Json j = tensorJson(a);
  j["slot"] = a.slot;
  j["kind"] = a.isScalar() ? "scalar" : "place";
  if (a.min) j["min"] = *a.min;
  if (a.max) j["max"] = *a.max;
  return j;
}

Json bufferJson(const BufferInfo& b) {
  Json j = tensorJson(b);
  j.update({{"slot", b.slot}, {"const", b.isConst}, {"offset", b.offset}});
  return j;
}

Json constantJson(const ConstantInfo& c) {
  Json j = tensorJson(c);
  j["offset"] = c.offset;
  if (!c.file.empty()) j.update({{"file", c.file}, {"file_offset", c.fileOffset}});
  return j;
}

Json resultJson(const ResultInfo& r) {
  Json j = tensorJson(r);
  j["place"] = placeJson(r.place);
  return j;
}

Json fileJson(const FileInfo& f) { return {{"file", f.file}, {"size", f.size}, {"sha256", f.sha256}}; }

Json kernelJson(const KernelInfo& k) {
  Json j = {{"name", k.name}, {"file", k.file}, {"symbol", k.symbol}, {"sha256", k.sha256}, {"size", k.size}};
  if (!k.source.empty()) j["source"] = k.source;
  return j;
}

Json argJson(const LaunchArg& a) {
  if (a.kind == LaunchArg::Kind::Scalar) return {{"kind", "scalar"}, {"index", a.index}, {"dtype", name(a.dtype)}};
  Json j = {{"kind", "place"}};
  j.update(placeJson(a.place));
  if (a.write) j["write"] = true;
  return j;
}

Json launchJson(const Launch& l, const Manifest& m) {
  Json args = Json::array(), grid = Json::array();
  for (const LaunchArg& a : l.args) args.push_back(argJson(a));
  for (const Amount& g : l.grid) grid.push_back(amountJson(g));
  Json j = {{"kernel", m.kernels[static_cast<size_t>(l.kernel)].name}, {"args", args}, {"grid", grid}, {"block", l.block}, {"threads", l.threads}, {"flops", amountJson(l.flops)}, {"bytes", amountJson(l.bytes)}};
  if (!l.tag.empty()) j["tag"] = l.tag;
  return j;
}

template <class List, class Fn>
Json listJson(const List& list, Fn fn) {
  Json out = Json::array();
  for (const auto& item : list) out.push_back(fn(item));
  return out;
}

int64_t aligned(int64_t offset) { return (offset + kAlignment - 1) / static_cast<int64_t>(kAlignment) * static_cast<int64_t>(kAlignment); }

}  // namespace

std::string_view baseName(Base base) {
  constexpr std::string_view names[] = {"argument", "buffer", "constant", "arena", "result"};
  return names[static_cast<size_t>(base)];
}

void layoutState(Manifest& m) {
  int64_t at = 0;
  auto place = [&](auto& item) {
    item.offset = at;
    at = aligned(at + static_cast<int64_t>(byteCount(item.dtype, item.shape).value_or(0)));
  };
  for (BufferInfo& b : m.buffers) place(b);
  for (ConstantInfo& c : m.constants) place(c);
  m.memory.stateBytes = at;
}

std::string writeManifest(const Manifest& m) {
  auto launch = [&](const Launch& l) { return launchJson(l, m); };
  Json j = {{"version", Manifest::kVersion},
            {"name", m.name},
            {"target", {{"name", m.target.name}, {"cpu", m.target.cpu}, {"features", m.target.features}}},
            {"arguments", listJson(m.arguments, argumentJson)},
            {"buffers", listJson(m.buffers, bufferJson)},
            {"constants", listJson(m.constants, constantJson)},
            {"results", listJson(m.results, resultJson)},
            {"memory", {{"arena_bytes", m.memory.arenaBytes}, {"state_bytes", m.memory.stateBytes}, {"alignment", m.memory.alignment}, {"peak_bytes", m.memory.peakBytes}, {"scratch_bytes_per_thread", m.memory.scratchBytesPerThread}}},
            {"kernels", listJson(m.kernels, kernelJson)},
            {"once", listJson(m.once, launch)},
            {"launches", listJson(m.launches, launch)},
            {"files", listJson(m.files, fileJson)},
            {"program", fileJson(m.program)}};
  return j.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace uop
