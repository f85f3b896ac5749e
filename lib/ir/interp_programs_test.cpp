// The interpreter on whole hand-written programs: loops of each kind, ALLOCs of each space, products, calls, run-time windows.
#include <catch2/catch.hpp>
#include <cmath>

#include "ir/testing.h"

using namespace uop;
using namespace uop::testing;

namespace {

using Inputs = std::map<std::string, Array>;
using Ints = std::vector<int32_t>;

Inputs ints(std::string name, Ints v) {
  auto n = static_cast<int64_t>(v.size());
  return {{std::move(name), array<int32_t>(DType::I32, {n}, std::move(v))}};
}

Ints run(const std::string& body, const std::string& result, const Inputs& in = {}, const InterpOptions& options = {}) {
  auto r = interpret(read(body), in, options);
  INFO(body);
  INFO((r ? "" : r.error().message));
  REQUIRE(r);
  return values<int32_t>(r->results.at(result));
}

Error failureOf(const std::string& body, const Inputs& in = {}) {
  auto r = interpret(read(body), in);
  REQUIRE_FALSE(r);
  return r.error();
}

const std::string kOut = "%o = BUFFER slot=0 dtype=i32 shape=[4] name=\"o\"\n%x = PARAM slot=0 dtype=i32 shape=[4] name=\"x\"\n%n = CONST value=4 dtype=index\n%zero = CONST value=0 dtype=i32\n%z = CONST value=0 dtype=index\n";

}  // namespace

TEST_CASE("independent iterations of every kind, for any seed") {
  for (auto kind : kKindNames)
    for (uint64_t seed : {1, 2, 77}) {
      InterpOptions options;
      options.shuffleSeed = seed;
      CHECK(run(kOut + fmt::format("%i = RANGE %n id=0 kind={}\n%p = INDEX %x %i\n%v = LOAD %p\n%w = ADD %v %v\n%q = INDEX %o %i\n%s = STORE %q %w\n%e = END %s %i\n%f = AFTER %o %e\nreturn o=%f\n", kind), "o",
                ints("x", {1, -2, 3, 4}), options) == Ints{2, -4, 6, 8});
    }
}

TEST_CASE("an accumulator in each space, carried by each sequential kind") {
  for (auto space : kSpaceNames)
    for (size_t k = 0; k < kKindNames.size(); ++k) {
      std::string body = kOut + fmt::format("%acc = ALLOC slot=0 dtype=i32 shape=[] space={}\n%init = STORE %acc %zero\n%i = RANGE %n id=0 kind={}\n%in = AFTER %acc %init %i\n%old = LOAD %in\n%p = INDEX %x %i\n%v = LOAD %p\n"
                                            "%two = ADD %old %old\n%new = ADD %two %v\n%upd = STORE %in %new\n%loop = END %upd %i\n%fin = AFTER %acc %loop\n%r = LOAD %fin\nreturn r=%r\n", space, kKindNames[k]);
      INFO(space << " " << kKindNames[k]);
      if (isSequential(static_cast<Kind>(k))) CHECK(run(body, "r", ints("x", {1, 2, 3, 4})) == Ints{26});
      else {
        // Never the sequential answer: a race, or a copy of its own an iteration.
        auto r = interpret(read(body), ints("x", {1, 2, 3, 4}));
        CHECK((!r || values<int32_t>(r->results.at("r")) != Ints{26}));
      }
    }
}

TEST_CASE("a REDUCE over a loop, each operator; loops of no and of one iteration") {
  auto reduce = [](int bound, std::string_view op) {
    return kOut + fmt::format("%b = CONST value={} dtype=index\n%i = RANGE %b id=0 kind=reduce\n%p = INDEX %x %i\n%v = LOAD %p\n%r = REDUCE %v %i op={}\nreturn r=%r\n", bound, op);
  };
  auto x = ints("x", {2, -3, 5, 7});
  CHECK(run(reduce(4, "ADD"), "r", x) == Ints{11});
  CHECK(run(reduce(4, "MUL"), "r", x) == Ints{-210});
  CHECK(run(reduce(4, "MAX"), "r", x) == Ints{7});
  CHECK(run(reduce(1, "MAX"), "r", x) == Ints{2});
  CHECK(run(reduce(0, "ADD"), "r", x) == Ints{0});
  CHECK(run(reduce(0, "MUL"), "r", x) == Ints{1});
  CHECK(run(reduce(0, "MAX"), "r", x) == Ints{INT32_MIN});
}

TEST_CASE("a loop with a bound of run time, down to no iteration and beyond") {
  std::string body = kOut + "%k = PARAM slot=1 dtype=i32 shape=[] name=\"k\"\n%b = CAST %k dtype=index\n%i = RANGE %b id=0 kind=loop\n%p = INDEX %x %i\n%v = LOAD %p\n%q = INDEX %o %i\n%s = STORE %q %v\n%e = END %s %i\n%f = AFTER %o %e\nreturn o=%f\n";
  auto in = ints("x", {1, 2, 3, 4});
  for (auto [k, want] : std::vector<std::pair<int32_t, Ints>>{{4, {1, 2, 3, 4}}, {2, {1, 2, 0, 0}}, {1, {1, 0, 0, 0}}, {0, {0, 0, 0, 0}}}) {
    in["k"] = array<int32_t>(DType::I32, {}, {k});
    CHECK(run(body, "o", in) == want);
  }
  in["k"] = array<int32_t>(DType::I32, {}, {5});
  CHECK(failureOf(body, in).kind == Diag::RuntimeFault);
}

TEST_CASE("the same element from each thread is a race, from one of them is none") {
  std::string race = kOut + "%i = RANGE %n id=0 kind=thread\n%v = CAST %i dtype=i32\n%p = INDEX %o %z\n%s = STORE %p %v\n%e = END %s %i\n%f = AFTER %o %e\nreturn o=%f\n";
  Error e = failureOf(race, ints("x", {1, 2, 3, 4}));
  CHECK(e.kind == Diag::RuntimeFault);
  CHECK(e.message.find("race") != std::string::npos);
  std::string one = kOut + "%i = RANGE %n id=0 kind=thread\n%v = CAST %i dtype=i32\n%c2 = CONST value=1 dtype=index\n%g = CMPLT %i %c2\n%nine = CONST value=9 dtype=i32\n%p = INDEX %o %z\n%s = STORE %p %nine %g\n%e = END %s %i\n%f = AFTER %o %e\nreturn o=%f\n";
  CHECK(run(one, "o", ints("x", {1, 2, 3, 4})) == Ints{9, 0, 0, 0});
}

TEST_CASE("binding: kinds of errors") {
  std::string body = "%x = PARAM slot=0 dtype=i32 shape=[4] name=\"x\"\n%y = NEG %x\nreturn y=%y\n";
  CHECK(failureOf(body).kind == Diag::Unbound);
  CHECK(failureOf(body, {{"x", array<int32_t>(DType::I32, {2, 2}, {1, 2, 3, 4})}}).kind == Diag::BindType);
  CHECK(failureOf(body, {{"x", array<float>(DType::F32, {4}, {1, 2, 3, 4})}}).kind == Diag::BindType);
  // A BUFFER starts as zeros, and is bound by slot where it has no name.
  CHECK(run("%b = BUFFER slot=3 dtype=i32 shape=[2]\n%y = NEG %b\nreturn y=%y\n", "y") == Ints{0, 0});
  CHECK(run("%b = BUFFER slot=3 dtype=i32 shape=[2]\n%y = NEG %b\nreturn y=%y\n", "y", ints("buf3", {1, 2})) == Ints{-1, -2});
}

TEST_CASE("a SHRINK window moves at run time and may not leave its axis") {
  std::string body = "%x = PARAM slot=0 dtype=i32 shape=[4] name=\"x\"\n%k = PARAM slot=1 dtype=i32 shape=[] name=\"k\"\n%w = SHRINK %x %k bounds=[[0,2]]\n%y = NEG %w\nreturn y=%y\n";
  auto in = ints("x", {1, 2, 3, 4});
  for (int32_t k : {0, 1, 2}) {
    in["k"] = array<int32_t>(DType::I32, {}, {k});
    CHECK(run(body, "y", in) == Ints{-1 - k, -2 - k});
  }
  for (int32_t k : {-1, 3, INT32_MAX, INT32_MIN}) {
    in["k"] = array<int32_t>(DType::I32, {}, {k});
    CHECK(failureOf(body, in).kind == Diag::RuntimeFault);
  }
  // A STORE through the window.
  std::string write = "%x = PARAM slot=0 dtype=i32 shape=[4] name=\"x\"\n%k = PARAM slot=1 dtype=i32 shape=[] name=\"k\"\n%w = SHRINK %x %k bounds=[[0,2]]\n%c = CONST value=9 dtype=i32\n%v = EXPAND %c shape=[2]\n%s = STORE %w %v\n%a = AFTER %x %s\nreturn a=%a\n";
  in["k"] = array<int32_t>(DType::I32, {}, {1});
  CHECK(run(write, "a", in) == Ints{1, 9, 9, 4});
}

TEST_CASE("STOREs through views, one after the other") {
  CHECK(run("%b = BUFFER slot=0 dtype=i32 shape=[2,3] name=\"b\"\n%t = PERMUTE %b axes=[1,0]\n%r = FLIP %t axes=[0]\n%x = PARAM slot=0 dtype=i32 shape=[3,2] name=\"x\"\n%s = STORE %r %x\n%b1 = AFTER %b %s\n%row = SHRINK %b1 bounds=[[0,1],[0,3]]\n"
            "%neg = NEG %row\n%u = STORE %row %neg\n%b2 = AFTER %b1 %u\nreturn b=%b2\n",
            "b", {{"x", array<int32_t>(DType::I32, {3, 2}, {1, 2, 3, 4, 5, 6})}}) == Ints{-5, -3, -1, 6, 4, 2});
}

TEST_CASE("calls in calls: each has ALLOCs and slots of its own") {
  // f(x) = x + 1 through an ALLOC; g(x) = f(f(x)) * x; the program: g(x) + f(x).
  std::string body = "%p = PARAM slot=0 dtype=i32 shape=[]\n%one = CONST value=1 dtype=i32\n%t = ALLOC slot=0 dtype=i32 shape=[] space=reg\n%v = ADD %p %one\n%s = STORE %t %v\n%ta = AFTER %t %s\n%f = LOAD %ta\n"
                     "%f1 = CALL %f %p name=\"f\"\n%f2 = CALL %f %f1 name=\"f\"\n%g = MUL %f2 %p\n%x = PARAM slot=0 dtype=i32 shape=[] name=\"x\"\n%cg = CALL %g %x name=\"g\"\n%cf = CALL %f %x name=\"f\"\n%r = ADD %cg %cf\nreturn r=%r\n";
  for (int32_t x : {0, 3, -5}) CHECK(run(body, "r", {{"x", array<int32_t>(DType::I32, {}, {x})}}) == Ints{(x + 2) * x + x + 1});
}

TEST_CASE("a 128 x 128 x 128 product: tensors and loops agree with arithmetic") {
  constexpr int kN = 128;
  Ints a(kN * kN), b(kN * kN), want(kN * kN);
  for (int i = 0; i < kN * kN; ++i) a[i] = i * 7 % 23 - 11, b[i] = i * 5 % 19 - 9;
  for (int i = 0; i < kN; ++i)
    for (int k = 0; k < kN; ++k)
      for (int j = 0; j < kN; ++j) want[i * kN + j] += a[i * kN + k] * b[k * kN + j];
  Inputs in = {{"a", array<int32_t>(DType::I32, {kN, kN}, a)}, {"b", array<int32_t>(DType::I32, {kN, kN}, b)}};
  std::string head = "%a = PARAM slot=0 dtype=i32 shape=[128,128] name=\"a\"\n%b = PARAM slot=1 dtype=i32 shape=[128,128] name=\"b\"\n";
  CHECK(run(head + "%a3 = RESHAPE %a shape=[128,128,1]\n%b3 = RESHAPE %b shape=[1,128,128]\n%m = MUL %a3 %b3\n%c = REDUCE %m op=ADD axes=[1]\nreturn c=%c\n", "c", in) == want);
  CHECK(run(head + "%o = BUFFER slot=0 dtype=i32 shape=[128,128] name=\"o\"\n%acc = ALLOC slot=0 dtype=i32 shape=[] space=reg\n%n = CONST value=128 dtype=index\n%zero = CONST value=0 dtype=i32\n"
                   "%i = RANGE %n id=0 kind=thread\n%j = RANGE %n id=1 kind=loop\n%k = RANGE %n id=2 kind=reduce\n%own = AFTER %acc %i %j\n%init = STORE %own %zero\n%in = AFTER %own %init %k\n%old = LOAD %in\n"
                   "%pa = INDEX %a %i %k\n%pb = INDEX %b %k %j\n%va = LOAD %pa\n%vb = LOAD %pb\n%m = MUL %va %vb\n%new = ADD %old %m\n%upd = STORE %in %new\n%red = END %upd %k\n%fin = AFTER %own %red\n%v = LOAD %fin\n"
                   "%q = INDEX %o %i %j\n%s = STORE %q %v\n%e = END %s %i %j\n%f = AFTER %o %e\nreturn o=%f\n", "o", in) == want);
}
TEST_CASE("an END without iterations runs nothing, though nothing in it depends on its RANGE") {
  Program p = read(R"(%b = BUFFER slot=0 dtype=f32 shape=[] name="b"
%n = PARAM slot=0 dtype=index shape=[] name="n" min=0 max=4
%r = RANGE %n id=0 kind=loop
%one = CONST value=1.0 dtype=f32
%s = STORE %b %one
%e = END %s %r
%y = AFTER %b %e
return y=%y)");
  for (int64_t n : {0, 1, 3}) {
    auto r = interpret(p, {{"n", array<int64_t>(DType::I64, {}, {n})}, {"b", array<float>(DType::F32, {}, {7})}});
    REQUIRE(r);
    CHECK(values<float>(r->results.at("y")) == std::vector<float>{n ? 1.0f : 7.0f});
  }
}
