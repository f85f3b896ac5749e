// The smallest programs that are known to fail, so that nobody looks for them again. One that no longer fails says so: its
// row of KnownFault goes then, and the program to testdata/random.
#include <catch2/catch.hpp>
#include <set>

#include "cmd/check/check.h"
#include "cmd/check/isolate.h"
#include "cmd/check/random_program.h"

namespace uop {
namespace {

struct Known {
  KnownFault fault;
  const char* text;
};

const Known kKnown[] = {
    {KnownFault::ParallelReduce, R"(%n = CONST value=2 dtype=index
%r = RANGE %n id=0 kind=thread
%i = CAST %r dtype=i32
%y = REDUCE %i %r op=ADD n=0
return y=%y)"},
    {KnownFault::ParallelStage, R"(%n = CONST value=2 dtype=index
%r = RANGE %n id=0 kind=upcast
%i = CAST %r dtype=i32
%y = STAGE %i %r space=global
return y=%y)"},
    {KnownFault::ShortStage, R"(%n = CONST value=1 dtype=index
%r = RANGE %n id=0 kind=loop
%i = CAST %r dtype=i32
%y = STAGE %i %r space=global
return y=%y)"},
    {KnownFault::ValueDep, R"(%b = BUFFER slot=0 dtype=i32 shape=[2] name="b"
%x = PARAM slot=0 dtype=i32 shape=[4] name="x"
%c = RESHAPE %x shape=[2,2]
%d = TUPLE %c
%y = AFTER %b %d
return y=%y)"},
    {KnownFault::ValueDep, R"(%b = BUFFER slot=0 dtype=i16 shape=[1] name="b"
%acc = ALLOC slot=0 dtype=i16 shape=[] space=reg
%n = CONST value=2 dtype=index
%r = RANGE %n id=0 kind=loop
%in = AFTER %acc %r
%one = CONST value=1 dtype=i16
%s = STORE %in %one
%now = AFTER %acc %s
%t = STAGE %now %r space=global
%y = AFTER %b %t
return y=%y)"},
    {KnownFault::TupleEffect, R"(%p = PARAM slot=0 dtype=f32 shape=[1]
%n = NEG %p
%s = STORE %p %n
%now = AFTER %p %s
%both = TUPLE %now %p
%b = BUFFER slot=0 dtype=f32 shape=[1] name="b"
%f = CALL %both %b
%y = AFTER %b %f
return y=%y)"},
    {KnownFault::TensorSink, R"(%b = BUFFER slot=0 dtype=f16 shape=[2,2] name="b"
%x = PARAM slot=0 dtype=f16 shape=[2,2] name="x"
%v = RESHAPE %x shape=[4]
%c = CAST %v dtype=i32
%s = SINK %c
%y = AFTER %b %s
return y=%y)"},
    {KnownFault::ScalarResult, R"(%b = BUFFER slot=0 dtype=i32 shape=[] name="b"
%u = CAST %b dtype=u32
%v = CAST %u dtype=i32
return v=%v u=%u)"},
    {KnownFault::EmptyStore, R"(%p = PARAM slot=0 dtype=i64 shape=[1] name="p"
%zero = CONST value=0 dtype=index
%i = INDEX %p %zero
%r = RESHAPE %i shape=[1]
%none = SHRINK %r bounds=[[0,0]]
%x = PARAM slot=1 dtype=i64 shape=[1] name="x"
%e = EXPAND %x shape=[0]
%s = STORE %none %e
%y = AFTER %p %s
return y=%y)"},
};

// What goes wrong, at the first level where it does.
std::string problem(const Program& p) {
  for (int level = 0; level < 4; ++level) {
    Isolated run = isolated([&]() -> std::string {
      auto found = checkProgram(p, randomInputs(p, 1), builtinCompilation(level), {true, true}).finding;
      return found ? found->pass + ": " + found->what : "";
    }, 60);
    if (run.ending != Ending::Done || !run.output.empty()) return fmt::format("-O{}: {}", level, run.output);
  }
  return "";
}

}  // namespace

TEST_CASE("known faults") {
  std::set<KnownFault> rows;
  for (const Known& k : kKnown) {
    rows.insert(k.fault);
    SourceBuffer source("known", std::string("uop 1\n") + k.text + "\n");
    Diagnostics diags(&source);
    auto p = readProgram(source, diags);
    INFO(diags.render());
    REQUIRE(p);
    if (problem(compacted(*p)).empty()) WARN("fixed: " << kKnownFaults[static_cast<size_t>(k.fault)] << "\n" << k.text);
  }
  CHECK(rows.size() == std::size(kKnownFaults));
}

}  // namespace uop
