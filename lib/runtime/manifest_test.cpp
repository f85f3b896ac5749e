// The manifest: written and read, every kind of mistake with its place; the expressions in it.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "runtime/manifest.h"
#include "support/file.h"
#include "support/hash.h"

using namespace uop;
using Catch::Contains;
using Json = nlohmann::ordered_json;

namespace {

const std::string kCode = "code", kProgram = "program", kData = std::string(16, 'd');

Manifest sample() {
  Manifest m;
  m.name = "sample \"ü\"";
  m.target = {"cpu", "znver5", {"avx2", "fma"}};
  m.arguments = {{"n", DType::I32, {}, 0, 1, 100}, {"x", DType::F32, {4, 2}, 1, {}, {}}};
  m.buffers = {{"w", DType::F32, {4}, 0, true, 0}, {"s", DType::BF16, {3}, 1, false, 0}};
  m.constants = {{"table", DType::I64, {2}, 0, "data.bin", 0}, {"packed", DType::F32, {4}, 0, "", 0}};
  layoutState(m);
  m.memory.arenaBytes = 256, m.memory.peakBytes = 128, m.memory.scratchBytesPerThread = 64;
  m.results = {{"y", DType::F32, {4}, {Base::Arena, 0, 64, 16}}, {"state", DType::BF16, {3}, {Base::Buffer, 1, 0, 6}}};
  m.kernels = {{"k0", "kernels.so", "uop_k0", sha256Hex(kCode), 4, "src/k0.c"}, {"k1", "kernels.so", "uop_k1", sha256Hex(kCode), 4, ""}};
  m.files = {{"data.bin", 16, sha256Hex(kData)}, {"src/k0.c", 4, sha256Hex(kCode)}};
  m.program = {"program.uop", 7, sha256Hex(kProgram)};
  Launch once;
  once.kernel = 1;
  once.args = {{LaunchArg::Kind::Place, {Base::Buffer, 0, 0, 16}, false, 0, DType::Void}, {LaunchArg::Kind::Place, {Base::Constant, 1, 0, 16}, true, 0, DType::Void}};
  m.once = {once};
  Launch launch;
  launch.args = {{LaunchArg::Kind::Place, {Base::Argument, 1, 0, 32}, false, 0, DType::Void},
                 {LaunchArg::Kind::Place, {Base::Result, 0, 0, 16}, true, 0, DType::Void},
                 {LaunchArg::Kind::Scalar, {}, false, 0, DType::I32}};
  launch.grid = {Amount{100, "(ADD arg0 0)"}, Amount{2, ""}, Amount{1, ""}};
  launch.threads = 4;
  launch.flops = {800, "(MUL arg0 8)"};
  launch.bytes = {48, ""};
  launch.tag = "loop";
  m.launches = {launch};
  return m;
}

std::string refusal(const std::string& text) {
  auto m = parseManifest(text);
  REQUIRE_FALSE(m);
  CHECK(m.error().kind == Diag::ManifestError);
  return m.error().message;
}

std::string mutated(const std::string& pointer, const Json& value) {
  Json j = Json::parse(writeManifest(sample()));
  j[Json::json_pointer(pointer)] = value;
  return refusal(j.dump());
}

std::string without(const std::string& pointer) {
  Json j = Json::parse(writeManifest(sample()));
  Json::json_pointer p(pointer);
  REQUIRE(j.at(p.parent_pointer()).erase(p.back()) == 1);
  return refusal(j.dump());
}

// "/launches/0/args/1" as messages spell it: launches[0].args[1]
std::string place(const Json::json_pointer& p) {
  if (p.empty()) return "";
  std::string outer = place(p.parent_pointer()), key = p.back();
  if (key.find_first_not_of("0123456789") == std::string::npos) return outer + "[" + key + "]";
  return outer.empty() ? key : outer + "." + key;
}

void everyPlace(const Json& j, const Json::json_pointer& at, const std::function<void(const Json::json_pointer&)>& fn) {
  if (!at.empty()) fn(at);
  if (j.is_object())
    for (const auto& [key, value] : j.items()) everyPlace(value, at / key, fn);
  if (j.is_array())
    for (size_t i = 0; i < j.size(); ++i) everyPlace(j[i], at / i, fn);
}

}  // namespace

TEST_CASE("manifest: written and read") {
  Manifest m = sample();
  std::string text = writeManifest(m);
  auto back = parseManifest(text);
  INFO((back ? "" : back.error().message));
  REQUIRE(back);
  CHECK(*back == m);
  CHECK(writeManifest(*back) == text);
  CHECK(text.ends_with("}\n"));
}

TEST_CASE("manifest: a missing field is named, and so is a wrong type") {
  Json j = Json::parse(writeManifest(sample()));
  const std::vector<std::string> optional = {"min", "max", "source", "write", "tag", "file"};
  everyPlace(j, Json::json_pointer(), [&](const Json::json_pointer& p) {
    std::string at = place(p), key = p.back();
    CAPTURE(at);
    std::string outer = place(p.parent_pointer());
    bool inExpression = outer.find("grid[") != std::string::npos || outer.ends_with(".flops");
    bool mayLack = std::find(optional.begin(), optional.end(), key) != optional.end() && !inExpression && !(key == "file" && j.at(p.parent_pointer()).contains("sha256"));
    if (j.at(p.parent_pointer()).is_object() && !mayLack) CHECK_THAT(without(p.to_string()), Contains(at) && Contains("is missing"));
    CHECK_THAT(mutated(p.to_string(), nullptr), Contains("manifest.json: " + at + ": "));
  });
}

TEST_CASE("manifest: values that cannot be") {
  struct Row {
    const char* pointer;
    Json value;
    const char* place;
    const char* message;
  };
  std::vector<Row> rows = {
      {"/version", 2, "version", "reads version 1"},
      {"/arguments/0/dtype", "f31", "arguments[0].dtype", "unknown dtype"},
      {"/arguments/0/dtype", "void", "arguments[0].dtype", "unknown dtype"},
      {"/arguments/0/kind", "place", "arguments[0].kind", "shape does not agree"},
      {"/arguments/0/min", 101, "arguments[0].min", "greater than max"},
      {"/arguments/1/slot", 0, "arguments[1].slot", "stands twice"},
      {"/arguments/1/name", "n", "arguments[1].name", "stands twice"},
      {"/arguments/1/shape/0", -1, "arguments[1].shape[0]", "at least 0"},
      {"/arguments/1/shape", {1ull << 47, 1ull << 47}, "arguments[1].shape", "too large"},
      {"/buffers/0/name", "x", "buffers[0].name", "stands twice"},
      {"/buffers/1/slot", 0, "buffers[1].slot", "stands twice"},
      {"/buffers/1/offset", 8, "buffers[1].offset", "not aligned"},
      {"/buffers/1/offset", 1 << 20, "buffers[1].offset", "leaves the state"},
      {"/buffers/1/offset", 0, "memory.state_bytes", "overlap"},
      {"/constants/1/name", "table", "constants[1].name", "stands twice"},
      {"/constants/0/file", "other.bin", "constants[0].file", "not among files"},
      {"/constants/0/file", "", "constants[0].file", "is empty"},
      {"/constants/0/file_offset", 1, "constants[0].file", "too short"},
      {"/results/1/name", "y", "results[1].name", "stands twice"},
      {"/results/0/place/base", "heap", "results[0].place.base", "unknown base"},
      {"/results/0/place/base", "result", "results[0].place.base", "cannot lie in a result"},
      {"/results/0/place/index", 1, "results[0].place.index", "no arena 1"},
      {"/results/0/place/offset", 250, "results[0].place.offset", "leave the arena"},
      {"/results/0/place/offset", INT64_MAX, "results[0].place.offset", "leave the arena"},
      {"/results/0/place/bytes", 12, "results[0].place.bytes", "takes 16"},
      {"/memory/alignment", 32, "memory.alignment", "expected 64"},
      {"/memory/peak_bytes", 257, "memory.peak_bytes", "more than arena_bytes"},
      {"/memory/arena_bytes", INT64_MAX, "memory", "any machine"},
      {"/kernels/0/symbol", "", "kernels[0].symbol", "is empty"},
      {"/kernels/0/sha256", "00", "kernels[0].sha256", "no SHA-256"},
      {"/kernels/0/sha256", std::string(64, 'A'), "kernels[0].sha256", "no SHA-256"},
      {"/kernels/0/file", "../kernels.so", "kernels[0].file", "no path inside"},
      {"/kernels/0/source", "src/k9.c", "kernels[0].source", "not among files"},
      {"/files/0/file", "/etc/passwd", "files[0].file", "no path inside"},
      {"/files/0/file", "a/../../b", "files[0].file", "no path inside"},
      {"/files/0/file", "a\\b", "files[0].file", "no path inside"},
      {"/files/1/file", "data.bin", "files[1].file", "stands twice"},
      {"/files/0/sha256", std::string(63, '0'), "files[0].sha256", "no SHA-256"},
      {"/program/file", "..", "program.file", "no path inside"},
      {"/program/sha256", "", "program.sha256", "no SHA-256"},
      {"/launches/0/kernel", "k7", "launches[0].kernel", "no kernel 'k7'"},
      {"/launches/0/args/0/kind", "thing", "launches[0].args[0].kind", "expected 'place' or 'scalar'"},
      {"/launches/0/args/0/index", 0, "launches[0].args[0].index", "a scalar argument is no place"},
      {"/launches/0/args/0/index", 2, "launches[0].args[0].index", "no argument 2"},
      {"/launches/0/args/0/bytes", 33, "launches[0].args[0].offset", "leave the argument"},
      {"/launches/0/args/2/index", 1, "launches[0].args[2].index", "no scalar"},
      {"/launches/0/args/2/index", 9, "launches[0].args[2].index", "no argument 9"},
      {"/launches/0/args/2/dtype", "i64", "launches[0].args[2].dtype", "the argument is i32"},
      {"/once/0/args/0/write", true, "once[0].args[0].write", "writes a const buffer"},
      {"/launches/0/grid", {1, 1}, "launches[0].grid", "three numbers"},
      {"/launches/0/grid/0/expr", "(POW arg0 2)", "launches[0].grid[0].expr", "unknown operator"},
      {"/launches/0/grid/0/expr", "arg5", "launches[0].grid[0].expr", "no argument 5"},
      {"/launches/0/grid/0/expr", "arg1", "launches[0].grid[0].expr", "no integer scalar"},
      {"/launches/0/grid/1", INT64_MAX, "launches[0].grid", "too many tasks"},
      {"/launches/0/block/0", 32, "launches[0].block[0]", "is not 1 on a CPU"},
      {"/launches/0/threads", -1, "launches[0].threads", "at least 0"},
      {"/launches/0/flops/max", 1.5, "launches[0].flops.max", "expected an integer"},
      {"/launches/0/bytes", 18446744073709551615ull, "launches[0].bytes", "expected an integer"},
  };
  for (const Row& r : rows) {
    CAPTURE(r.pointer, r.value.dump());
    CHECK_THAT(mutated(r.pointer, r.value), Contains(std::string("manifest.json: ") + r.place + ": ") && Contains(r.message));
  }
}

TEST_CASE("manifest: bad JSON") {
  for (std::string text : {"", "{", "[]", "7", "{\"version\":1,\"version\":1}"}) {
    CAPTURE(text);
    CHECK_THAT(refusal(text), Contains("manifest.json: "));
  }
  CHECK_THAT(refusal(std::string(100000, '[')), Contains("nested too deep"));
}

TEST_CASE("manifest: in memory") {
  Manifest m = sample();
  CHECK_FALSE(checkManifest(m, ManifestForm::InMemory));  // it names a file
  m.constants[0].file = "";
  CHECK(checkManifest(m, ManifestForm::InMemory));
  auto broken = [&](auto change) {
    Manifest copy = m;
    change(copy);
    return !checkManifest(copy, ManifestForm::InMemory);
  };
  CHECK(broken([](Manifest& b) { b.launches[0].args[0].place.index = -1; }));
  CHECK(broken([](Manifest& b) { b.launches[0].args[0].place.offset = -4; }));
  CHECK(broken([](Manifest& b) { b.launches[0].args[0].place.bytes = -4; }));
  CHECK(broken([](Manifest& b) { b.buffers[0].offset = -64; }));
  CHECK(broken([](Manifest& b) { b.memory.scratchBytesPerThread = -1; }));
  CHECK(broken([](Manifest& b) { b.launches[0].kernel = 2; }));
  Manifest twice = m;
  twice.kernels[1].name = "k0";
  auto r = checkManifest(twice, ManifestForm::InMemory);
  REQUIRE_FALSE(r);
  CHECK_THAT(r.error().message, Contains("kernels[1].name: 'k0' stands twice"));
  CHECK(broken([](Manifest& b) { b.results[1] = {"w", DType::F32, {4}, {Base::Buffer, 0, 0, 16}}, b.launches[0].args[1].place = {Base::Result, 1, 0, 16}; }));
}

TEST_CASE("manifest: files of the folder") {
  namespace fs = std::filesystem;
  fs::path outer = fs::temp_directory_path() / "uopc_manifest_test", folder = outer / "art";
  fs::remove_all(outer);
  fs::create_directories(folder / "src");
  auto put = [&](const std::string& file, const std::string& data) { REQUIRE(writeFileAtomically((folder / file).string(), data)); };
  put("kernels.so", kCode), put("src/k0.c", kCode), put("data.bin", kData), put("program.uop", kProgram);
  Manifest m = sample();
  auto message = [&] {
    auto r = checkManifestFiles(m, folder);
    return r ? std::string() : r.error().message;
  };
  CHECK(message() == "");
  put("data.bin", std::string(16, 'e'));
  CHECK_THAT(message(), Contains("files[0].file") && Contains("SHA-256"));
  put("data.bin", "short");
  CHECK_THAT(message(), Contains("files[0].file") && Contains("is 5 bytes, expected 16"));
  fs::remove(folder / "data.bin");
  CHECK_THAT(message(), Contains("files[0].file") && Contains("cannot open"));
  REQUIRE(writeFileAtomically((outer / "data.bin").string(), kData));
  fs::create_symlink("../data.bin", folder / "data.bin");
  CHECK_THAT(message(), Contains("files[0].file") && Contains("leaves the folder"));
  fs::remove(folder / "data.bin");
  fs::create_directory(folder / "data.bin");
  CHECK_THAT(message(), Contains("is no file"));
  fs::remove_all(outer);
}

TEST_CASE("expressions") {
  auto value = [](std::string_view text, std::vector<int64_t> scalars = {}) {
    auto e = Expression::parse(text);
    CAPTURE(text);
    REQUIRE(e);
    return e->evaluate(scalars);
  };
  CHECK(value("12") == 12);
  CHECK(value(" (ADD  1 2 3 ) ") == 6);
  CHECK(value("(NEG arg1)", {0, 5}) == -5);
  CHECK(value("(MAX (MUL arg0 2 3) (MIN 100 7) 1)", {2}) == 12);
  CHECK(value("(ADD 4)") == 4);
  struct Division {
    int64_t x, y, div, mod;
  };
  for (auto [x, y, div, mod] : {Division{7, 2, 3, 1}, {-7, 2, -4, 1}, {7, -2, -4, -1}, {-7, -2, 3, -1}, {7, 0, 0, 0}, {6, -1, -6, 0}, {-6, 3, -2, 0}}) {
    CHECK(value("(FLOORDIV arg0 arg1)", {x, y}) == div);
    CHECK(value("(FLOORMOD arg0 arg1)", {x, y}) == mod);
  }
  CHECK(value("(ADD arg0 1)", {INT64_MAX}) == std::nullopt);
  CHECK(value("(MUL arg0 arg0)", {int64_t{1} << 32}) == std::nullopt);
  CHECK(value("(NEG arg0)", {INT64_MIN}) == std::nullopt);
  CHECK(value("(FLOORDIV arg0 -1)", {INT64_MIN}) == std::nullopt);
  CHECK(value("(FLOORMOD arg0 -1)", {INT64_MIN}) == 0);
  auto args = Expression::parse("(ADD arg3 arg1 arg3)");
  REQUIRE(args);
  CHECK(args->args() == std::vector<int64_t>{3, 1});
  for (std::string text : {"", " ", "(", ")", "()", "(ADD)", "(NEG 1 2)", "(FLOORDIV 1)", "(FLOORMOD 1 2 3)", "1 2", "arg", "arg-1", "argx", "1x", "x", "99999999999999999999", "(ADD 1", "(ADD 1))", "(SUB 1 2)"}) {
    CAPTURE(text);
    CHECK_FALSE(Expression::parse(text));
  }
  auto nested = [](size_t depth) {
    std::string text;
    for (size_t i = 0; i < depth; ++i) text += "(ADD 1 ";
    return text + "1" + std::string(depth, ')');
  };
  CHECK(value(nested(Expression::kMaxDepth)) == Expression::kMaxDepth + 1);
  CHECK_FALSE(Expression::parse(nested(Expression::kMaxDepth + 1)));
  CHECK_FALSE(Expression::parse("(ADD" + std::string(Expression::kMaxText, ' ') + "1)"));
}
