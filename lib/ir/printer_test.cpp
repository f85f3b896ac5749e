// Canonical text.
#include <catch2/catch.hpp>
#include <filesystem>

#include "ir/testing.h"
#include "support/file.h"

using namespace uop;
using namespace uop::testing;
namespace fs = std::filesystem;

namespace {

std::string canonical(const std::string& body) { return printProgram(read(body)); }

}  // namespace

TEST_CASE("every good program of a family: print and read and print is a fixed point") {
  for (auto [family, least] : {std::pair{"kernels", 25}, {"edge", 60}}) {
    int count = 0;
    for (const auto& entry : fs::directory_iterator(fs::path(UOPC_TESTDATA "/corpus") / family)) {
      if (entry.path().extension() != ".uop") continue;
      INFO(entry.path());
      Program p = readText(*readFile(entry.path().string()));
      std::string once = printProgram(p);
      Program q = readText(once);
      CHECK(printProgram(q) == once);
      CHECK(printProgram(compacted(p)) == once);
      CHECK(compacted(p).graph.size() == q.graph.size());
      ++count;
    }
    CHECK(count >= least);
  }
}

TEST_CASE("canonical form: order of nodes and attributes, one line a node") {
  CHECK(canonical("%unused = CONST value=9 dtype=i32\n%b = PARAM name=\"b\" shape=[2] dtype=f32 slot=1\n%a = PARAM slot=0 dtype=f32 shape=[2] name=\"a\"\n%b2 = PARAM slot=1 dtype=f32 shape=[2] name=\"b\"\n"
                  "%s = ADD %a %b\n%t = MUL %s %b2\nreturn %t %s\n") ==
        "uop 1\n%0 = PARAM slot=0 dtype=f32 shape=[2] name=\"a\"\n%1 = PARAM slot=1 dtype=f32 shape=[2] name=\"b\"\n%2 = ADD %0 %1\n%3 = MUL %2 %1\nreturn out0=%3 out1=%2\n");
}

TEST_CASE("canonical form: axes= becomes n=") {
  std::string p = "%x = PARAM slot=0 dtype=f32 shape=[2,3,4]\n";
  std::string leading = canonical(p + "%r = REDUCE %x op=ADD axes=[0,1]\nreturn %r\n");
  CHECK(leading == canonical(p + "%r = REDUCE %x op=ADD n=2\nreturn %r\n"));
  std::string last = canonical(p + "%r = REDUCE %x op=MAX axes=[2]\nreturn %r\n");
  CHECK(last == canonical(p + "%q = PERMUTE %x axes=[2,0,1]\n%r = REDUCE %q op=MAX n=1\nreturn %r\n"));
}

TEST_CASE("the printer leaves broadcasts alone: canonicalize spells them out") {
  std::string text = canonical("%x = PARAM slot=0 dtype=f32 shape=[2,3]\n%y = PARAM slot=1 dtype=f32 shape=[3]\n%z = ADD %x %y\nreturn %z\n");
  CHECK(text.find("ADD %0 %1\n") != std::string::npos);
  CHECK(printProgram(readText(text)) == text);
}

TEST_CASE("dotted keys of every type of value survive and are identity; tags survive and are none") {
  std::string text = canonical("%x = PARAM slot=0 dtype=f32 shape=[2] z.last=\"s \\\"q\\\"\" a.first=true mem.align=64 m.list=[1,2] m.f=0.5 m.word=global tag=\"blocks.0.attn\"\n%y = NEG %x cpu.hot=true\n%z = NEG %x\n%w = ADD %y %z\nreturn %w\n");
  INFO(text);
  CHECK(printProgram(readText(text)) == text);
  for (auto part : {"tag=\"blocks.0.attn\"", "a.first=true", "mem.align=64", "m.list=[1,2]", "m.f=0.5", "m.word=global", "z.last=\"s \\\"q\\\"\""}) {
    INFO(part);
    CHECK(text.find(part) != std::string::npos);
  }
  CHECK(text.find("a.first") < text.find("m.f"));
  CHECK(text.find("mem.align") < text.find("z.last"));
  CHECK(text.find("NEG %0 cpu.hot=true\n") != std::string::npos);
  CHECK(text.find("NEG %0\n") != std::string::npos);
}

TEST_CASE("a chain of 100,000 nodes reads, prints and compacts without recursion") {
  std::string chain = "uop 1\n%v0 = PARAM slot=0 dtype=f32 shape=[2]\n%c = CONST value=1 dtype=f32\n%e = EXPAND %c shape=[2]\n";
  for (int i = 1; i <= 100000; ++i) chain += fmt::format("%v{} = {} %v{} %e\n", i, i % 2 ? "MUL" : "ADD", i - 1);
  Program p = readText(chain + "return %v100000\n");
  std::string text = printProgram(p);
  CHECK(printProgram(readText(text)) == text);
  CHECK(printProgram(compacted(p)) == text);
}

TEST_CASE("messages show a node with its sources") {
  Program p = readText("uop 1\n%x = PARAM slot=0 dtype=f32 shape=[2]\n%y = NEG %x\nreturn %y\n");
  std::string text = nodeText(p.graph, p.results[0].node);
  CHECK(text.find("NEG %") != std::string::npos);
  CHECK(text.find('\n') == std::string::npos);
}
