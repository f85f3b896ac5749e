#include "passes/simplify.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "ir/testing.h"
#include "pass/probe.h"
#include "passes/passes.h"

namespace uop {
namespace {

using testing::read;

Program simplified(Program p, std::vector<std::string> sets = {}, FpMode fp = FpMode::Default) {
  PassOptions none;
  PassContext context{none, FpMode::Default, nullptr, {}};
  auto canonical = runCanonicalize(std::move(p), context);
  REQUIRE(canonical);
  RewriteStats stats;
  auto out = simplify(compacted(*canonical), sets, 0, fp, stats);
  INFO((out ? "" : out.error().message));
  REQUIRE(out);
  return compacted(*out);
}

// The body of a program over three index loops and scalars, simplified; without the lines of its leaves.
std::string after(const std::string& body, FpMode fp = FpMode::Default) {
  std::string text = printProgram(simplified(read(body), {}, fp));
  std::istringstream lines(text);
  std::string line, out;
  while (std::getline(lines, line))
    if (line.find("PARAM") == std::string::npos && line != "uop 1") out += line.substr(line.find(' ') + (line[0] == '%' ? 3 : 1)) + "\n";
  return out;
}

const std::string kX = "%x = PARAM slot=0 dtype=f32 shape=[]\n", kN = "%x = PARAM slot=0 dtype=i32 shape=[]\n";
const std::string kS = "%x = PARAM slot=0 dtype=index shape=[] min=0 max=63\n%y = PARAM slot=1 dtype=index shape=[] min=0 max=3\n";

}  // namespace

TEST_CASE("floats keep what is not exact") {
  CHECK(after(kX + "%z = CONST value=0 dtype=f32\n%a = ADD %x %z\nreturn %a\n") == "CONST value=0.0 dtype=f32\nADD %0 %1\nout0=%2\n");
  CHECK(after(kX + "%z = CONST value=-0.0 dtype=f32\n%a = ADD %z %x\nreturn %a\n") == "out0=%0\n");
  CHECK(after(kX + "%z = CONST value=0 dtype=f32\n%a = MUL %x %z\nreturn %a\n") == "CONST value=0.0 dtype=f32\nMUL %0 %1\nout0=%2\n");
  CHECK(after(kX + "%n = NEG %x\n%a = ADD %x %n\nreturn %a\n") == "NEG %0\nADD %1 %0\nout0=%2\n");
  CHECK(after(kX + "%a = CMPNE %x %x\nreturn %a\n") == "CMPNE %0 %0\nout0=%1\n");
  CHECK(after(kX + "%a = CAST %x dtype=f16\n%b = CAST %a dtype=f32\nreturn %b\n") == "CAST %0 dtype=f16\nCAST %1 dtype=f32\nout0=%2\n");
  CHECK(after(kX + "%z = CONST value=0 dtype=f32\n%a = ADD %x %z\nreturn %a\n", FpMode::Fast) == "out0=%0\n");
}

TEST_CASE("integers that may wrap or be zero keep their division") {
  CHECK(after(kN + "%a = FLOORDIV %x %x\nreturn %a\n") == "FLOORDIV %0 %0\nout0=%1\n");
  CHECK(after(kN + "%c = CONST value=4 dtype=i32\n%m = MUL %x %c\n%a = FLOORDIV %m %c\nreturn %a\n").find("FLOORDIV") != std::string::npos);
  CHECK(after(kN + "%c = CONST value=256 dtype=index\n%r = RANGE %c id=0 kind=loop\n%b = CAST %r dtype=i8\n%z = CONST value=0 dtype=i8\n%l = CMPLT %b %z\n"
                   "%i = CAST %l dtype=i32\n%s = REDUCE %i %r op=ADD n=0\nreturn %s\n").find("CMPLT") != std::string::npos);
}

TEST_CASE("index arithmetic") {
  auto index = [](const std::string& body) { return after(kS + "%c4 = CONST value=4 dtype=index\n%c8 = CONST value=8 dtype=index\n%c16 = CONST value=16 dtype=index\n" + body); };
  CHECK(index("%m = MUL %x %c4\n%s = ADD %m %y\n%d = FLOORDIV %s %c4\nreturn %d\n") == "out0=%0\n");
  CHECK(index("%m = MUL %x %c4\n%s = ADD %y %m\n%d = FLOORMOD %s %c4\nreturn %d\n") == "out0=%0\n");
  CHECK(index("%d = FLOORDIV %x %c4\n%m = MUL %d %c4\n%r = FLOORMOD %x %c4\n%s = ADD %m %r\nreturn %s\n") == "out0=%0\n");
  CHECK(index("%m = MUL %x %c4\n%s = ADD %m %y\n%d = FLOORDIV %s %c8\nreturn %d\n") == "CONST value=2 dtype=index\nFLOORDIV %0 %1\nout0=%2\n");
  CHECK(index("%a = FLOORDIV %x %c4\n%b = FLOORDIV %a %c4\nreturn %b\n") == "CONST value=16 dtype=index\nFLOORDIV %0 %1\nout0=%2\n");
  CHECK(index("%a = FLOORMOD %x %c16\n%b = FLOORMOD %a %c4\nreturn %b\n") == "CONST value=4 dtype=index\nFLOORMOD %0 %1\nout0=%2\n");
  CHECK(index("%a = CMPLT %y %c4\nreturn %a\n") == "CONST value=true dtype=bool\nout0=%0\n");
  CHECK(index("%m = MUL %x %c4\n%s = ADD %m %y\n%a = CMPLT %s %c8\nreturn %a\n") == "CONST value=2 dtype=index\nCMPLT %0 %1\nout0=%2\n");
}

TEST_CASE("selections, gates and movement") {
  CHECK(after("%c = PARAM slot=0 dtype=bool shape=[]\n%t = CONST value=true dtype=bool\n%f = CONST value=false dtype=bool\n%w = WHERE %c %t %f\nreturn %w\n") == "out0=%0\n");
  CHECK(after("%p = PARAM slot=0 dtype=f32 shape=[2,3]\n%t = RESHAPE %p shape=[6]\n%b = RESHAPE %t shape=[2,3]\nreturn %b\n") == "out0=%0\n");
  CHECK(after("%p = PARAM slot=0 dtype=f32 shape=[2,3]\n%t = PERMUTE %p axes=[1,0]\n%b = PERMUTE %t axes=[1,0]\nreturn %b\n") == "out0=%0\n");
  CHECK(after("%p = PARAM slot=0 dtype=f32 shape=[2,3]\n%t = FLIP %p axes=[1]\n%b = FLIP %t axes=[1]\nreturn %b\n") == "out0=%0\n");
  CHECK(after("%c = CONST value=3 dtype=i32\n%e = EXPAND %c shape=[4]\n%r = REDUCE %e op=ADD n=1\nreturn %r\n") == "CONST value=12 dtype=i32\nout0=%0\n");
}

TEST_CASE("an unknown set is named") {
  RewriteStats stats;
  auto out = simplify(read(kX + "return %x\n"), std::vector<std::string>{"algebr"}, 0, FpMode::Default, stats);
  REQUIRE(!out);
  CHECK(out.error().message == "there is no rule set 'algebr'; did you mean 'algebra'?");
}

TEST_CASE("the corpus: simplify twice is simplify once, and changes no result") {
  size_t programs = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(UOPC_TESTDATA)) {
    if (entry.path().extension() != ".uop") continue;
    std::ostringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    SourceBuffer source(entry.path().string(), text.str());
    Diagnostics diags(&source);
    auto p = readProgram(source, diags);
    if (!p) continue;
    INFO(entry.path().string());
    std::string before = printProgram(*p);
    Program once = simplified(std::move(*p));
    std::string first = printProgram(once);
    Diagnostics faults;
    verifyProgram(once, faults);
    INFO(faults.render());
    REQUIRE(faults.errorCount() == 0);
    REQUIRE(compareRuns(before, once, 1) == "");
    REQUIRE(printProgram(simplified(std::move(once))) == first);
    ++programs;
  }
  WARN(programs << " programs");
}

}  // namespace uop
