#include <catch2/catch.hpp>
#include <cstring>

#include "ir/eval.h"
#include "ir/interp.h"

using namespace uop;

namespace {

Program read(const std::string& body) {
  SourceBuffer source("t.uop", "uop 1\n" + body);
  Diagnostics diags(&source);
  auto p = readProgram(source, diags);
  INFO(diags.render());
  REQUIRE(p);
  return std::move(*p);
}

template <class T>
Array array(DType d, std::vector<int64_t> shape, std::vector<T> values) {
  Array out{d, std::move(shape), {}};
  out.data.resize(values.size() * sizeof(T));
  std::memcpy(out.data.data(), values.data(), out.data.size());
  return out;
}

std::vector<int32_t> ints(const Array& a) {
  std::vector<int32_t> out(a.data.size() / 4);
  std::memcpy(out.data(), a.data.data(), a.data.size());
  return out;
}

std::string faultOf(const std::string& body, const std::map<std::string, Array>& in = {}) {
  auto r = interpret(read(body), in);
  REQUIRE_FALSE(r);
  return r.error().message;
}

}  // namespace

TEST_CASE("reads see the contents that the program orders") {
  auto r = interpret(read("%a = BUFFER slot=0 dtype=i32 shape=[2] name=\"a\"\n%b = BUFFER slot=1 dtype=i32 shape=[2] name=\"b\"\n"
                          "%sa = STORE %a %b\n%sb = STORE %b %a\n%na = AFTER %a %sa\n%nb = AFTER %b %sb\n%old = ADD %a %na\nreturn a=%na b=%nb old=%old\n"),
                     {{"a", array<int32_t>(DType::I32, {2}, {1, 2})}, {"b", array<int32_t>(DType::I32, {2}, {10, 20})}});
  REQUIRE(r);
  CHECK(ints(r->results["a"]) == std::vector{10, 20});
  CHECK(ints(r->results["b"]) == std::vector{1, 2});
  CHECK(ints(r->results["old"]) == std::vector{11, 22});
  CHECK(ints(r->buffers["b"]) == std::vector{1, 2});
}

TEST_CASE("a wrong kind= shows") {
  std::string body = "%o = BUFFER slot=0 dtype=i32 shape=[1] name=\"o\"\n%n = CONST value=4 dtype=index\n%z = CONST value=0 dtype=index\n%i = RANGE %n id=0 kind=thread\n"
                     "%v = CAST %i dtype=i32\n%p = INDEX %o %z\n%s = STORE %p %v\n%e = END %s %i\n%d = AFTER %o %e\nreturn o=%d\n";
  CHECK(faultOf(body).find("race") != std::string::npos);
  body.replace(body.find("thread"), 6, "loop");
  CHECK(interpret(read(body), {}));
}

TEST_CASE("faults name what is wrong") {
  std::string out = "%x = PARAM slot=0 dtype=i32 shape=[3] name=\"x\"\n%k = PARAM slot=1 dtype=i32 shape=[] name=\"k\"\n%p = INDEX %x %k\n%v = LOAD %p\nreturn v=%v\n";
  std::map<std::string, Array> in = {{"x", array<int32_t>(DType::I32, {3}, {1, 2, 3})}, {"k", array<int32_t>(DType::I32, {}, {3})}};
  CHECK(faultOf(out, in).find("outside of its axis") != std::string::npos);
  CHECK(faultOf(out).find("'x'") != std::string::npos);
  in["x"] = array<int32_t>(DType::I32, {1}, {1});
  CHECK(faultOf(out, in).find("[3]") != std::string::npos);
}

TEST_CASE("a fresh ALLOC is poisoned") {
  auto r = interpret(read("%t = ALLOC slot=0 dtype=f32 shape=[2] space=global\n%n = NEG %t\nreturn n=%n\n"), {});
  REQUIRE(r);
  float v;
  std::memcpy(&v, r->results["n"].data.data(), 4);
  CHECK(std::isnan(v));
}

TEST_CASE("long chains and large products") {
  std::string chain = "%v0 = PARAM slot=0 dtype=i32 shape=[2] name=\"x\"\n%one = CONST value=1 dtype=i32\n";
  for (int i = 1; i <= 100000; ++i) chain += fmt::format("%v{} = ADD %v{} %one\n", i, i - 1);
  auto r = interpret(read(chain + "return y=%v100000\n"), {{"x", array<int32_t>(DType::I32, {2}, {0, 5})}});
  REQUIRE(r);
  CHECK(ints(r->results["y"]) == std::vector{100000, 100005});
  auto gemm = interpret(read("%c1 = CONST value=1 dtype=i32\n%a = EXPAND %c1 shape=[128,128,1]\n%b = EXPAND %c1 shape=[1,128,128]\n%m = MUL %a %b\n%c = REDUCE %m op=ADD axes=[1]\nreturn c=%c\n"), {});
  REQUIRE(gemm);
  CHECK(ints(gemm->results["c"])[777] == 128);
}

TEST_CASE("eval: the corners of the format") {
  auto i = [](int64_t v) { return Scalar::ofInt(v); };
  auto f = [](double v) { return Scalar::ofDouble(v); };
  auto two = [](Op op, DType d, DType r, Scalar a, Scalar b) { return evalOp(op, d, r, std::array{a, b}); };
  CHECK(two(Op::FloorDiv, DType::I32, DType::I32, i(-7), i(2)).asInt() == -4);
  CHECK(two(Op::FloorMod, DType::I32, DType::I32, i(-7), i(2)).asInt() == 1);
  CHECK(two(Op::FloorDiv, DType::I32, DType::I32, i(5), i(0)).asInt() == 0);
  CHECK(two(Op::FloorDiv, DType::I32, DType::I32, i(INT32_MIN), i(-1)).asInt() == INT32_MIN);
  CHECK(two(Op::FloorDiv, DType::I64, DType::I64, i(INT64_MIN), i(-1)).asInt() == INT64_MIN);
  CHECK(two(Op::Mul, DType::U32, DType::U32, i(0xABCD17D6), i(0xAABBCCDD)).asInt() == 1147018174);
  CHECK(two(Op::Add, DType::U8, DType::U8, i(250), i(250)).asInt() == 244);
  CHECK(two(Op::Shr, DType::I8, DType::I8, i(-3), i(9)).asInt() == -1);
  CHECK(two(Op::Shl, DType::I8, DType::I8, i(1), i(-1)).asInt() == 0);
  CHECK(std::isnan(two(Op::Max, DType::F32, DType::F32, f(1), f(NAN)).asDouble()));
  CHECK(two(Op::CmpNe, DType::F32, DType::Bool, f(NAN), f(NAN)).bits == 1);
  auto cast = [](DType from, DType to, Scalar v) { return evalOp(Op::Cast, from, to, std::array{v}); };
  CHECK(cast(DType::F32, DType::U8, f(300)).asInt() == 255);
  CHECK(cast(DType::F32, DType::I32, f(NAN)).asInt() == 0);
  CHECK(cast(DType::F32, DType::F16, f(70000)).asDouble() == HUGE_VAL);
  CHECK(cast(DType::I64, DType::F32, i((int64_t{1} << 54) + (int64_t{1} << 30) + 1)).asDouble() == 0x1.000002p54);
  CHECK(cast(DType::F32, DType::I8, f(-1e9)).asInt() == -128);
}
