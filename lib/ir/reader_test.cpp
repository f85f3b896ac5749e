#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "ir/testing.h"
#include "support/golden.h"
#include "support/file.h"

using namespace uop;
using namespace uop::testing;
namespace fs = std::filesystem;

namespace {

std::string errorsOf(std::string text) {
  SourceBuffer source("t.uop", std::move(text));
  Diagnostics diags(&source);
  CHECK_FALSE(readProgram(source, diags));
  return diags.render();
}

}  // namespace

TEST_CASE("malformed files are refused with the golden messages") {
  auto files = programsIn(UOPC_TESTDATA "/malformed");
  std::ranges::copy(programsIn(UOPC_TESTDATA "/diagnostics"), std::back_inserter(files));
  REQUIRE(files.size() > 80);
  for (const fs::path& file : files) {
    INFO(file);
    SourceBuffer source(file.filename().string(), *readFile(file.string()));
    Diagnostics diags(&source);
    CHECK_FALSE(readProgram(source, diags));
    CHECK(diags.errorCount() > 0);
    checkGolden(fs::path(file).replace_extension(".golden"), diags.render());
  }
}

TEST_CASE("canonical text is a fixed point, and what compacting gives") {
  for (const fs::path& file : programsIn(UOPC_TESTDATA "/corpus")) {
    if (fs::exists(fs::path(file).replace_extension(".err"))) continue;
    INFO(file);
    Program p = readText(*readFile(file.string()));
    std::string text = printProgram(p);
    CHECK(printProgram(readText(text)) == text);
    CHECK(printProgram(compacted(p)) == text);
  }
}

TEST_CASE("tags and dotted keys are kept; tags are no identity") {
  std::string text = printProgram(readText("uop 1\n%x = CONST value=1 dtype=i32 tag=\"a\\\"b\" mem.align=64 cpu.hot=true\n%y = CONST dtype=i32 value=0x1 mem.align=64 cpu.hot=true tag=\"c\"\nreturn %x %y\n"));
  CHECK(text == "uop 1\n%0 = CONST value=1 dtype=i32 tag=\"a\\\"b\" cpu.hot=true mem.align=64\nreturn out0=%0 out1=%0\n");
}

TEST_CASE("numbers keep their bits") {
  auto roundTrip = [](const std::string& value, const std::string& dtype) {
    std::string text = printProgram(readText("uop 1\n%x = CONST value=" + value + " dtype=" + dtype + "\nreturn %x\n"));
    size_t at = text.find("value=") + 6;
    return text.substr(at, text.find(' ', at) - at);
  };
  CHECK(roundTrip("0x1.8p+0", "f32") == "1.5");
  CHECK(roundTrip("0.1", "f32") == "0.1");
  CHECK(roundTrip("0.1", "f64") == "0.1");
  CHECK(roundTrip("-0.0", "f16") == "-0.0");
  CHECK(roundTrip("1e-45", "f32") == "1e-45");
  CHECK(roundTrip("65504", "f16") == "6.55e+04");
  CHECK(roundTrip("-inf", "bf16") == "-inf");
  CHECK(roundTrip("nan", "f64") == "nan");
  CHECK(roundTrip("18446744073709551615", "u64") == "18446744073709551615");
  CHECK(roundTrip("-9223372036854775808", "i64") == "-9223372036854775808");
}

TEST_CASE("one mistake gives one message") {
  std::string text = errorsOf("uop 1\n%a = NOPE\n%b = NEG %a\n%c = ADD %b %a\nreturn %c\n");
  CHECK(text.find("unknown op 'NOPE'") != std::string::npos);
  CHECK(text.find("error", text.find("error:") + 6) == std::string::npos);
}

TEST_CASE("names: prefixes of each other, at the end of the text, defined again after a use") {
  Program p = read("%a = CONST value=1 dtype=i32\n%ab = NEG %a\n%a.b = NEG %ab\n%x = ADD %a %a.b\nreturn %x %ab %a");
  CHECK(p.graph.op(p.results[2].node) == Op::Const);
  CHECK(p.graph.src(p.results[1].node, 0) == p.results[2].node);
  std::string text = errorsOf("uop 1\n%b = NEG %a\n%a = CONST value=1 dtype=i32\n%a = CONST value=2 dtype=i32\nreturn %a\n");
  INFO(text);
  CHECK(text.find("t.uop:2:10: error") != std::string::npos);
  CHECK(text.find("t.uop:4:1: error") != std::string::npos);
  CHECK(text.find("line 3") != std::string::npos);
}

TEST_CASE("messages that the malformed files do not reach") {
  auto says = [](const std::string& body, const std::string& words) {
    INFO(body);
    std::string text = errorsOf("uop 1\n" + body);
    INFO(text);
    CHECK(text.find(words) != std::string::npos);
  };
  CHECK(errorsOf("\xef\xbb\xbfuop 1\n").find("byte-order mark") != std::string::npos);
  CHECK(errorsOf("uop 2\n").find("version '2'") != std::string::npos);
  says("%x = CONST value=1 dtype=i32\n%y = BUFFER slot=0 dtype=f32 shape=[%x]\nreturn %y\n", "symbolic dimensions");
  says("%x = PARAM slot=0 dtype=i32 shape=[] min=3 max=2\nreturn %x\n", "min=3");
  says("%x = PARAM slot=0 dtype=i32 shape=[2] nome=\"x\"\nreturn %x\n", "did you mean 'name'");
  says("%x = PARAM slot=0 dtype=i32 shape=[2] name=\"x\"\n%y = BUFFER slot=0 dtype=i32 shape=[2] name=\"x\"\n%z = ADD %x %y\nreturn %z\n", "called 'x'");
  says("%n = CONST value=2 dtype=index\n%m = CONST value=3 dtype=index\n%i = RANGE %n id=0 kind=loop\n%j = RANGE %m id=0 kind=loop\n%c = CONST value=1 dtype=i32\n"
       "%s = REDUCE %c %i op=ADD\n%t = REDUCE %c %j op=ADD\n%u = ADD %s %t\nreturn %u\n", "RANGE id=0 is declared twice");
  says("%p = PARAM slot=0 dtype=f32 shape=[2]\n%s = STORE %p %p\n%x = PARAM slot=1 dtype=f32 shape=[2] name=\"x\"\n%v = NEG %x\n%c = CALL %s %v\nreturn %c\n", "expected a place");
  says("%x = CONST value=99999999999999999999 dtype=u64\nreturn %x\n", "out of the range of 64 bits");
  says("%x = CONST value=1.0 dtype=i8\nreturn %x\n", "float literal");
  says("%x = PARAM slot=0 dtype=f32 shape=[2] name=\"a\\q\"\nreturn %x\n", "bad escape");
}

TEST_CASE("deep and wide programs") {
  std::string chain = "uop 1\n%v0 = PARAM slot=0 dtype=f32 shape=[2]\n";
  for (int i = 1; i <= 100000; ++i) chain += fmt::format("%v{} = NEG %v{}\n", i, i - 1);
  CHECK(readText(chain + "return %v100000\n").graph.size() == 100001);
  std::string deep = "uop 1\n%x = RESHAPE %x shape=" + std::string(100000, '[') + "\nreturn %x\n";
  CHECK_FALSE(errorsOf(deep).empty());
  CHECK_FALSE(errorsOf("uop 1\n%y = " + std::string(1 << 20, 'A') + "\nreturn %y\n").empty());
}
