#include <catch2/catch.hpp>

#include "ir/eval.h"
#include "ir/testing.h"

using namespace uop;
using namespace uop::testing;

namespace {

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
  CHECK(values<int32_t>(r->results["a"]) == std::vector{10, 20});
  CHECK(values<int32_t>(r->results["b"]) == std::vector{1, 2});
  CHECK(values<int32_t>(r->results["old"]) == std::vector{11, 22});
  CHECK(values<int32_t>(r->buffers["b"]) == std::vector{1, 2});
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
  CHECK(values<int32_t>(r->results["y"]) == std::vector{100000, 100005});
  auto gemm = interpret(read("%c1 = CONST value=1 dtype=i32\n%a = EXPAND %c1 shape=[128,128,1]\n%b = EXPAND %c1 shape=[1,128,128]\n%m = MUL %a %b\n%c = REDUCE %m op=ADD axes=[1]\nreturn c=%c\n"), {});
  REQUIRE(gemm);
  CHECK(values<int32_t>(gemm->results["c"])[777] == 128);
}

namespace {

// i32 arrays of four elements, %a %b and %o, and some constants.
const std::string kHead =
    "%a = BUFFER slot=0 dtype=i32 shape=[4] name=\"a\"\n%b = BUFFER slot=1 dtype=i32 shape=[4] name=\"b\"\n%o = BUFFER slot=2 dtype=i32 shape=[4] name=\"o\"\n"
    "%one = CONST value=1 dtype=i32\n%c0 = CONST value=0 dtype=index\n%c1 = CONST value=1 dtype=index\n%c3 = CONST value=3 dtype=index\n%n = CONST value=4 dtype=index\n";

std::vector<int32_t> run(const std::string& body, const std::string& result, std::vector<int32_t> a = {1, 2, 3, 4}) {
  auto r = interpret(read(kHead + body), {{"a", array<int32_t>(DType::I32, {4}, a)}});
  INFO((r ? "" : r.error().message));
  REQUIRE(r);
  return values<int32_t>(r->results.at(result));
}

std::string faultIn(const std::string& body) { return faultOf(kHead + body); }
bool mentions(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("one node may read two versions of an element") {
  // %p is the element as the iteration finds it, %q as it leaves it.
  CHECK(run("%i = RANGE %n id=0 kind=loop\n%ai = AFTER %a %i\n%oi = AFTER %o %i\n%p = INDEX %ai %i\n%v = ADD %p %one\n%s = STORE %p %v\n%q = AFTER %p %s\n"
            "%d = ADD %p %q\n%po = INDEX %oi %i\n%t = STORE %po %d\n%k = SINK %s %t\n%e = END %k %i\n%f = AFTER %o %e\nreturn o=%f\n",
            "o") == std::vector{3, 5, 7, 9});
}

TEST_CASE("versions that are no moment of memory") {
  // Each of the two STOREs alone, and neither.
  std::string body = "%x = INDEX %a %c0\n%y = INDEX %a %c1\n%nine = CONST value=9 dtype=i32\n%s = STORE %x %nine\n%t = STORE %y %nine\n"
                     "%as = AFTER %a %s\n%at = AFTER %a %t\n%both = AFTER %as %t\nreturn s=%as t=%at both=%both old=%a\n";
  CHECK(run(body, "s") == std::vector{9, 2, 3, 4});
  CHECK(run(body, "t") == std::vector{1, 9, 3, 4});
  CHECK(run(body, "both") == std::vector{9, 9, 3, 4});
  CHECK(run(body, "old") == std::vector{1, 2, 3, 4});
}

TEST_CASE("a bare place in a loop is what the program began with") {
  CHECK(run("%i = RANGE %n id=0 kind=loop\n%ni = NEG %i\n%rev = ADD %ni %c3\n%p = INDEX %a %rev\n%v = LOAD %p\n%q = INDEX %a %i\n%s = STORE %q %v\n%e = END %s %i\n"
            "%f = AFTER %a %e\nreturn a=%f\n",
            "a") == std::vector{4, 3, 2, 1});
}

TEST_CASE("no order exists") {
  // The read waits, by its index, for a STORE that it has to come before.
  std::string body = "%i = RANGE %n id=0 kind=loop\n%ai = AFTER %a %i\n%p = INDEX %ai %c0\n%s = STORE %p %one\n%bi = AFTER %b %s\n%q = INDEX %bi %c0\n%at = LOAD %q\n"
                     "%x = INDEX %ai %at\n%v = LOAD %x\n%w = INDEX %b %c1\n%t = STORE %w %v\n%e = END %t %i\nreturn %e\n";
  std::string text = faultIn(body);
  CHECK(mentions(text, "no order exists"));
  CHECK(mentions(text, "STORE"));
}

TEST_CASE("races, and what is none") {
  auto loop = [](std::string_view kind, std::string_view index, std::string_view rest) {
    return fmt::format("%i = RANGE %n id=0 kind={}\n%k = CAST %i dtype=i32\n%ai = AFTER %a %i\n%at = FLOORMOD %{} %n\n%p = INDEX %ai %at\n{}%e = END %s %i\n%f = AFTER %a %e\nreturn a=%f\n", kind, index, rest);
  };
  std::string next = "%j = ADD %i %c1\n%m = FLOORMOD %j %n\n%q = INDEX %ai %m\n%v = LOAD %q\n%s = STORE %p %v\n";
  for (auto kind : {"thread", "global", "local", "warp", "group", "upcast"}) {
    CHECK(mentions(faultIn(loop(kind, "i", next)), "race"));
    CHECK(run(loop(kind, "i", "%s = STORE %p %k\n"), "a") == std::vector{0, 1, 2, 3});
  }
  CHECK(run(loop("loop", "i", next), "a") == std::vector{2, 3, 4, 2});
  // What a CALL writes counts too.
  std::string call = "%x = PARAM slot=0 dtype=i32 shape=[]\n%y = PARAM slot=1 dtype=i32 shape=[4]\n%z = INDEX %y %c0\n%w = STORE %z %x\n"
                     "%i = RANGE %n id=0 kind=thread\n%k = CAST %i dtype=i32\n%ai = AFTER %a %i\n%s = CALL %w %k %ai\n%e = END %s %i\n%f = AFTER %a %e\nreturn a=%f\n";
  CHECK(mentions(faultIn(call), "race"));
  InterpOptions unchecked;
  unchecked.checkRaces = false;
  CHECK(interpret(read(kHead + call), {}, unchecked));
  // An ALLOC of its own in each iteration.
  auto scratch = [](std::string_view kind) {
    return fmt::format("%t = ALLOC slot=0 dtype=i32 shape=[] space=reg\n%i = RANGE %n id=0 kind={}\n%k = CAST %i dtype=i32\n%ti = AFTER %t %i\n%w = STORE %ti %k\n%r = AFTER %ti %w\n"
                       "%v = LOAD %r\n%p = INDEX %o %i\n%s = STORE %p %v\n%e = END %s %i\n%f = AFTER %o %e\nreturn o=%f\n", kind);
  };
  CHECK(run(scratch("thread"), "o") == std::vector{0, 1, 2, 3});
  CHECK(run(scratch("warp"), "o") == std::vector{0, 1, 2, 3});
  CHECK(mentions(faultIn(scratch("upcast")), "race"));
}

TEST_CASE("what one iteration leaves in its own ALLOC, the next does not find") {
  auto carried = [](std::string_view kind) {
    return fmt::format("%t = ALLOC slot=0 dtype=i32 shape=[] space=local\n%z = STORE %t %one\n%t0 = AFTER %t %z\n%i = RANGE %n id=0 kind={}\n%ti = AFTER %t0 %i\n%v = LOAD %ti\n"
                       "%p = INDEX %o %i\n%s = STORE %p %v\n%e = END %s %i\n%f = AFTER %o %e\nreturn o=%f\n", kind);
  };
  CHECK(run(carried("loop"), "o") == std::vector{1, 1, 1, 1});
  CHECK(run(carried("thread"), "o")[0] == static_cast<int32_t>(0xa5a5a5a5));
}

TEST_CASE("under a false gate nothing is touched") {
  std::string body = "%f = CONST value=false dtype=bool\n%i = RANGE %n id=0 kind=loop\n%far = ADD %i %n\n%p = INDEX %a %far\n%v = LOAD %p %one %f\n%q = INDEX %o %i\n%w = INDEX %o %far\n"
                     "%s = STORE %q %v\n%t = STORE %w %v %f\n%k = SINK %s %t\n%e = END %k %i\n%g = AFTER %o %e\nreturn o=%g\n";
  CHECK(run(body, "o") == std::vector{1, 1, 1, 1});
  body.replace(body.find("%one %f"), 7, "%one %g");
  body.insert(0, "%g = CONST value=true dtype=bool\n");
  body.replace(body.find("%g = AFTER"), 2, "%h"), body.replace(body.find("o=%g"), 4, "o=%h");
  CHECK(mentions(faultIn(body), "outside of its axis"));
}

TEST_CASE("long chains of AFTERs, in and outside of loops") {
  for (bool loop : {false, true}) {
    std::string body = loop ? "%i = RANGE %c3 id=0 kind=loop\n%p0 = AFTER %a %i\n" : "%d = SINK\n%p0 = AFTER %a %d\n";
    constexpr int kCount = 20000;
    for (int i = 0; i < kCount; ++i)
      body += fmt::format("%x{0} = INDEX %p{0} %c{1}\n%v{0} = LOAD %x{0}\n%w{0} = ADD %v{0} %one\n%s{0} = STORE %x{0} %w{0}\n%p{2} = AFTER %p{0} %s{0}\n", i, i % 2, i + 1);
    body += loop ? fmt::format("%e = END %s{} %i\n%f = AFTER %a %e\n", kCount - 1) : fmt::format("%f = AFTER %p{} %s0\n", kCount);
    CHECK(run(body + "return a=%f\n", "a") == (loop ? std::vector{30001, 30002, 3, 4} : std::vector{10001, 10002, 3, 4}));
  }
}

TEST_CASE("budgets") {
  auto p = read(kHead + "%big = CONST value=1000000 dtype=index\n%i = RANGE %big id=0 kind=loop\n%k = CAST %i dtype=i32\n%r = REDUCE %k %i op=ADD\nreturn r=%r\n");
  InterpOptions few;
  few.maxSteps = 1000;
  auto r = interpret(p, {}, few);
  REQUIRE_FALSE(r);
  CHECK(mentions(r.error().message, "1000 steps"));
  r = interpret(read("%c = CONST value=1.0 dtype=f32\n%x = EXPAND %c shape=[8589934592]\n%y = EXP2 %x\nreturn y=%y\n"), {});
  REQUIRE_FALSE(r);
  CHECK(mentions(r.error().message, "bytes"));
  std::string calls = "%x0 = PARAM slot=0 dtype=i32 shape=[]\n";
  for (int i = 1; i < 3000; ++i) calls += fmt::format("%x{} = CALL %x{} %x0\n", i, i - 1);
  r = interpret(read(calls + "return y=%x2999\n"), {{"arg0", array<int32_t>(DType::I32, {}, {7})}});
  REQUIRE_FALSE(r);
  CHECK(mentions(r.error().message, "deep"));
}

TEST_CASE("axes without elements, however long the others") {
  auto r = interpret(read("%b = BUFFER slot=0 dtype=f32 shape=[0,1099511627776] name=\"b\"\n%e = EXP2 %b\n%f = FLIP %e axes=[1]\n%t = PERMUTE %f axes=[1,0]\n%x = REDUCE %t op=MAX n=2\n"
                          "%s = SHRINK %b bounds=[[0,0],[5,7]]\n%p = PAD %s pad=[[2,1],[0,0]]\nreturn x=%x t=%t p=%p\n"), {});
  REQUIRE(r);
  float v;
  std::memcpy(&v, r->results["x"].data.data(), 4);
  CHECK(v == -HUGE_VALF);
  CHECK(r->results["t"].shape == std::vector<int64_t>{int64_t{1} << 40, 0});
  CHECK(r->results["p"].data == std::vector<std::byte>(24));
}

TEST_CASE("functions: values, effects, several results") {
  std::string body = "%x = PARAM slot=0 dtype=i32 shape=[4]\n%y = PARAM slot=1 dtype=i32 shape=[4]\n%s = STORE %x %y\n%nx = AFTER %x %s\n%d = ADD %nx %x\n%q = MUL %y %y\n%tp = TUPLE %d %q\n"
                     "%call = CALL %tp %a %b\n%g0 = GET %call index=0\n%g1 = GET %call index=1\n%f = AFTER %a %call\nreturn d=%g0 q=%g1 a=%f old=%a\n";
  auto r = interpret(read(kHead + body), {{"a", array<int32_t>(DType::I32, {4}, {1, 2, 3, 4})}, {"b", array<int32_t>(DType::I32, {4}, {5, 6, 7, 8})}});
  REQUIRE(r);
  CHECK(values<int32_t>(r->results["d"]) == std::vector{6, 8, 10, 12});
  CHECK(values<int32_t>(r->results["q"]) == std::vector{25, 36, 49, 64});
  CHECK(values<int32_t>(r->results["a"]) == std::vector{5, 6, 7, 8});
  CHECK(values<int32_t>(r->results["old"]) == std::vector{1, 2, 3, 4});
  CHECK(r->ops == 8);
  CHECK(values<int32_t>(r->buffers["a"]) == std::vector{5, 6, 7, 8});
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
