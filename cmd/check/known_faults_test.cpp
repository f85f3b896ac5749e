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
