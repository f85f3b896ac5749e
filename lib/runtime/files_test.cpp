// .npy, .npz and .safetensors: bytes as numpy writes them, round trips, refusals.
#include <catch2/catch.hpp>
#include <cstring>
#include <filesystem>

#include "runtime/arrays.h"
#include "runtime/npy.h"
#include "runtime/npz.h"
#include "runtime/safetensors.h"

using namespace uop;

namespace {

// A version 1 file as numpy pads it: 128 bytes before the elements.
std::string npy(std::string_view dict, std::string_view body) {
  std::string out("\x93NUMPY\x01\x00v\x00", 10);
  out += dict;
  out.append(127 - out.size(), ' ');
  return (out += '\n').append(body);
}

template <class T>
Tensor tensor(DType dtype, Shape shape, std::vector<T> values) {
  auto t = Tensor::zeros(dtype, std::move(shape));
  REQUIRE(t);
  REQUIRE(t->bytes == values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(t->data(), values.data(), t->bytes);
  return std::move(*t);
}

bool same(const Tensor& a, const Tensor& b) {
  return a.dtype == b.dtype && a.shape == b.shape && a.bytes == b.bytes && std::memcmp(a.data(), b.data(), a.bytes) == 0;
}

std::string refusal(std::string_view bytes) {
  auto t = parseNpy(bytes, "x.npy");
  REQUIRE_FALSE(t);
  CHECK(t.error().kind == Diag::BadFile);
  return t.error().message;
}

using Catch::Contains;
using namespace std::string_view_literals;

}  // namespace

TEST_CASE("npy: numpy's bytes, read and written") {
  struct Golden {
    std::string bytes;
    Tensor value;
  };
  std::vector<Golden> all;
  all.push_back({npy("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }", "\x00\x00\x80?\x00\x00 @\x00\x00@\xc0"sv), tensor<float>(DType::F32, {3}, {1, 2.5f, -3})});
  all.push_back({npy("{'descr': '<u8', 'fortran_order': False, 'shape': (), }", "\x07\0\0\0\0\0\0\0"sv), tensor<uint64_t>(DType::U64, {}, {7})});
  all.push_back({npy("{'descr': '|b1', 'fortran_order': False, 'shape': (2,), }", "\x01\0"sv), tensor<uint8_t>(DType::Bool, {2}, {1, 0})});
  all.push_back({npy("{'descr': '<f2', 'fortran_order': False, 'shape': (1, 2), }", "\x00\x3c\x00\xc0"sv), tensor<uint16_t>(DType::F16, {1, 2}, {0x3c00, 0xc000})});
  all.push_back({npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }", "\0\0\0\0\0\0\xf0\x3f"sv), tensor<double>(DType::F64, {1}, {1})});
  all.push_back({npy("{'descr': '|i1', 'fortran_order': False, 'shape': (2,), }", "\xff\x01"sv), tensor<int8_t>(DType::I8, {2}, {-1, 1})});
  all.push_back({npy("{'descr': '<i8', 'fortran_order': False, 'shape': (0, 3), }", ""), tensor<int64_t>(DType::I64, {0, 3}, {})});
  for (const Golden& g : all) {
    CAPTURE(g.bytes);
    auto read = parseNpy(g.bytes, "x.npy");
    REQUIRE(read);
    CHECK(same(*read, g.value));
    CHECK(serializeNpy(g.value, "x.npy") == g.bytes);
  }
}

TEST_CASE("npy: every dtype comes back") {
  for (size_t i = 0; i < static_cast<size_t>(DType::Index); ++i) {
    auto d = static_cast<DType>(i);
    auto t = Tensor::zeros(d, {2, 3});
    REQUIRE(t);
    for (size_t k = 0; k < t->bytes; ++k) t->data()[k] = static_cast<std::byte>(d == DType::Bool ? k & 1 : k * 7 + 1);
    auto bytes = serializeNpy(*t, "x.npy");
    if (d == DType::BF16) {
      REQUIRE_FALSE(bytes);
      CHECK(bytes.error().kind == Diag::BadFile);
      CHECK_THAT(bytes.error().message, Contains("safetensors"));
      continue;
    }
    REQUIRE(bytes);
    auto again = parseNpy(*bytes, "x.npy");
    REQUIRE(again);
    CHECK(same(*again, *t));
  }
}

TEST_CASE("npy: Fortran order, big-endian, versions 2 and 3, bytes of bool") {
  auto f = parseNpy(npy("{'descr': '<i2', 'fortran_order': True, 'shape': (2, 3), }", "\0\0\x03\0\x01\0\x04\0\x02\0\x05\0"sv), "x");
  REQUIRE(f);
  CHECK(same(*f, tensor<int16_t>(DType::I16, {2, 3}, {0, 1, 2, 3, 4, 5})));
  auto b = parseNpy(npy("{'descr': '>i4', 'fortran_order': False, 'shape': (2,), }", "\0\0\0\x01\0\0\x01\0"sv), "x");
  REQUIRE(b);
  CHECK(same(*b, tensor<int32_t>(DType::I32, {2}, {1, 256})));
  auto fb = parseNpy(npy("{'descr': '>u2', 'fortran_order': True, 'shape': (2, 1, 2), }", "\0\x01\0\x02\0\x03\0\x04"sv), "x");
  REQUIRE(fb);
  CHECK(same(*fb, tensor<uint16_t>(DType::U16, {2, 1, 2}, {1, 3, 2, 4})));
  for (char version : {'\x02', '\x03'}) {
    std::string dict = "{\"shape\": (1L,), 'fortran_order': False, 'descr': '|u1'}\n";
    std::string bytes = "\x93NUMPY" + std::string(1, version) + std::string(1, '\0') + std::string(1, static_cast<char>(dict.size())) + std::string(3, '\0') + dict + "\x09";
    auto t = parseNpy(bytes, "x");
    REQUIRE(t);
    CHECK(same(*t, tensor<uint8_t>(DType::U8, {1}, {9})));
  }
  auto flag = parseNpy(npy("{'descr': '|b1', 'fortran_order': False, 'shape': (2,), }", "\x05\0"sv), "x");
  REQUIRE(flag);
  CHECK(same(*flag, tensor<uint8_t>(DType::Bool, {2}, {1, 0})));
}

TEST_CASE("npy: refusals") {
  auto with = [](std::string descr, std::string shape, std::string body = "") { return refusal(npy("{'descr': " + descr + ", 'fortran_order': False, 'shape': " + shape + ", }", body)); };
  CHECK_THAT(with("'|O'", "(1,)"), Contains("Python objects"));
  CHECK_THAT(with("[('a', '<f4')]", "(1,)"), Contains("records"));
  CHECK_THAT(with("'<c8'", "(1,)", "12345678"), Contains("'<c8' is not supported"));
  CHECK_THAT(with("'<U3'", "(1,)"), Contains("not supported"));
  CHECK_THAT(with("'<f4'", "(2,)", "1234567"), Contains("f32 [2] takes 8 bytes, found 7"));
  CHECK_THAT(with("'<f4'", "(2,)", "123456789"), Contains("takes 8 bytes, found 9"));
  CHECK_THAT(with("'<f4'", "(99999999999999999999,)"), Contains("no count"));
  CHECK_THAT(with("'<f4'", "(-1,)"), Contains("no count"));
  CHECK_THAT(with("'<f8'", "(1099511627776, 1099511627776)"), Contains("too large"));
  CHECK_THAT(with("'<f8'", "(0, 9223372036854775807)"), Contains("too large"));
  CHECK_THAT(with("'<f4'", "(4611686018427387904,)"), Contains("too large"));
  CHECK_THAT(with("'<f4'", "(1099511627776,)"), Contains("found 0"));
  CHECK_THAT(with("'<f4'", "3"), Contains("no tuple"));
  CHECK_THAT(refusal("PK\x03\x04"), Contains("no .npy file"));
  CHECK_THAT(refusal(""), Contains("no .npy file"));
  CHECK_THAT(refusal(std::string("\x93NUMPY\x04\0v\0    ", 14)), Contains("version 4"));
  CHECK_THAT(refusal(npy("{'descr': '<f4', 'shape': (1,), }", "1234")), Contains("are expected"));
  CHECK_THAT(refusal(npy("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,), }", "1234")), Contains("stands twice"));
  std::string whole = npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }", "1234");
  for (size_t n = 0; n < whole.size(); ++n) CHECK_FALSE(parseNpy(std::string_view(whole).substr(0, n), "x"));
}

TEST_CASE("npz: round trip, deterministic") {
  ArrayList arrays = {{"b", tensor<float>(DType::F32, {2}, {1, -2})}, {"a/ü", tensor<int64_t>(DType::I64, {}, {5})}, {"none", tensor<uint8_t>(DType::U8, {0}, {})}};
  auto bytes = serializeNpz(arrays, "x.npz");
  REQUIRE(bytes);
  CHECK(serializeNpz(arrays, "x.npz") == *bytes);
  auto read = parseNpz(*bytes, "x.npz");
  REQUIRE(read);
  REQUIRE(read->size() == 3);
  for (const auto& [name, t] : arrays) CHECK(same(read->at(name), t));
  auto nothing = serializeNpz({}, "x.npz");
  REQUIRE(nothing);
  auto empty = parseNpz(*nothing, "x.npz");
  REQUIRE(empty);
  CHECK(empty->empty());

  arrays[1].first = "b";
  auto twice = serializeNpz(arrays, "x.npz");
  REQUIRE_FALSE(twice);
  CHECK_THAT(twice.error().message, Contains("two arrays are called 'b'"));
  CHECK_FALSE(serializeNpz({{"h", tensor<uint16_t>(DType::BF16, {1}, {0})}}, "x.npz"));
  for (size_t n = 0; n < bytes->size(); n += 7) CHECK_FALSE(parseNpz(std::string_view(*bytes).substr(0, n), "x.npz"));
  std::string changed = *bytes;
  changed[changed.find("NUMPY") + 125] ^= 1;  // the checksum does not fit
  CHECK_FALSE(parseNpz(changed, "x.npz"));
}

namespace {
std::string safetensors(std::string_view header, std::string_view body) {
  uint64_t n = header.size();
  return std::string(reinterpret_cast<const char*>(&n), 8).append(header).append(body);
}
std::string tensorsRefusal(std::string_view bytes) {
  auto r = parseSafetensors(bytes, "x.safetensors");
  REQUIRE_FALSE(r);
  CHECK(r.error().kind == Diag::BadFile);
  return r.error().message;
}
}  // namespace

TEST_CASE("safetensors: round trip, bf16 included") {
  ArrayList arrays;
  for (size_t i = 0; i < static_cast<size_t>(DType::Index); ++i) {
    auto t = Tensor::zeros(static_cast<DType>(i), {3, 1});
    REQUIRE(t);
    for (size_t k = 0; k < t->bytes; ++k) t->data()[k] = static_cast<std::byte>(i == 0 ? k & 1 : k * 5 + 3);
    arrays.emplace_back(std::string(name(t->dtype)), std::move(*t));
  }
  arrays.emplace_back("scalar", tensor<float>(DType::F32, {}, {4}));
  arrays.emplace_back("none", tensor<float>(DType::F32, {0, 2}, {}));
  auto bytes = serializeSafetensors(arrays, "x.safetensors");
  REQUIRE(bytes);
  uint64_t length = 0;
  std::memcpy(&length, bytes->data(), 8);
  CHECK(length % 8 == 0);
  auto read = parseSafetensors(*bytes, "x.safetensors");
  REQUIRE(read);
  REQUIRE(read->size() == arrays.size());
  for (const auto& [key, t] : arrays) CHECK(same(read->at(key), t));
  for (size_t n = 0; n < bytes->size(); n += 3) CHECK_FALSE(parseSafetensors(std::string_view(*bytes).substr(0, n), "x"));
  CHECK(serializeSafetensors({{"h", tensor<uint16_t>(DType::BF16, {1}, {0x3f80})}}, "x") ==
        safetensors(R"({"h":{"dtype":"BF16","shape":[1],"data_offsets":[0,2]}} )", "\x80\x3f"));
}

TEST_CASE("safetensors: refusals") {
  CHECK(parseSafetensors(safetensors(R"({"__metadata__":{"a":"b"}})", ""), "x"));
  auto one = [](std::string_view rest) { return safetensors(fmt::format(R"({{"a":{{"dtype":"U8","shape":[4],"data_offsets":[0,4]}},"b":{}}})", rest), "12345678"); };
  CHECK(parseSafetensors(one(R"({"dtype":"U8","shape":[4],"data_offsets":[4,8]})"), "x"));
  CHECK_THAT(tensorsRefusal(one(R"({"dtype":"U8","shape":[6],"data_offsets":[2,8]})")), Contains("overlap"));
  CHECK_THAT(tensorsRefusal(one(R"({"dtype":"U8","shape":[3],"data_offsets":[5,8]})")), Contains("leave a hole"));
  CHECK_THAT(tensorsRefusal(one(R"({"dtype":"U8","shape":[3],"data_offsets":[4,7]})")), Contains("tensors take 7"));
  CHECK_THAT(tensorsRefusal(one(R"({"dtype":"U8","shape":[5],"data_offsets":[4,9]})")), Contains("leave the file's 8 bytes"));
  CHECK_THAT(tensorsRefusal(one(R"({"dtype":"U8","shape":[4],"data_offsets":[8,4]})")), Contains("no range"));
  CHECK_THAT(tensorsRefusal(one(R"({"dtype":"U8","shape":[4],"data_offsets":[-4,0]})")), Contains("no range"));
  CHECK_THAT(tensorsRefusal(one(R"({"dtype":"F32","shape":[4],"data_offsets":[4,8]})")), Contains("takes 16 bytes"));
  CHECK_THAT(tensorsRefusal(one(R"({"dtype":"F8_E4M3","shape":[4],"data_offsets":[4,8]})")), Contains("not supported"));
  CHECK_THAT(tensorsRefusal(one(R"({"dtype":"U8","shape":[18446744073709551615],"data_offsets":[4,8]})")), Contains("no count"));
  CHECK_THAT(tensorsRefusal(one(R"({"dtype":"U8","shape":[9223372036854775807,2],"data_offsets":[4,8]})")), Contains("too large"));
  CHECK_THAT(tensorsRefusal(one(R"(7)")), Contains("an object is expected"));
  CHECK_THAT(tensorsRefusal(one(R"({"dtype":"U8","shape":[4],"data_offsets":[4,8]},"a":1)")), Contains("twice"));
  CHECK_THAT(tensorsRefusal(safetensors("[]", "")), Contains("no JSON object"));
  CHECK_THAT(tensorsRefusal("1234567"), Contains("too short"));
  CHECK_THAT(tensorsRefusal(std::string(8, '\xff')), Contains("100 MB"));
  CHECK_FALSE(serializeSafetensors({{"a", tensor<float>(DType::F32, {}, {1})}, {"a", tensor<float>(DType::F32, {}, {1})}}, "x"));
}

TEST_CASE("arrays: files by their ending") {
  auto folder = std::filesystem::temp_directory_path() / "uopc_files_test";
  std::filesystem::create_directories(folder);
  Tensor t = tensor<float>(DType::F32, {2}, {1, 2});
  for (std::string ending : {".npy", ".npz", ".safetensors"}) {
    std::string path = (folder / ("x" + ending)).string();
    REQUIRE(writeArrays(path, {{"x", t}}));
    auto back = readArray(path);
    REQUIRE(back);
    CHECK(same(*back, t));
    CHECK((writeArrays(path, {{"x", t}, {"y", t}}).has_value()) == (ending != ".npy"));
    if (ending != ".npy") CHECK_FALSE(readArray(path));
  }
  CHECK_FALSE(writeArrays((folder / "x.bin").string(), {{"x", t}}));
  auto absent = readArrays((folder / "absent.npy").string());
  REQUIRE_FALSE(absent);
  CHECK(absent.error().kind == Diag::CannotOpen);
  std::filesystem::remove_all(folder);
}
