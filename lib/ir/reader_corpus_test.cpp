// The malformed corpus against what its .err.json files want (the golden files only say that messages stay the same), and
// the lexical form.
#include <catch2/catch.hpp>
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "ir/testing.h"
#include "support/file.h"

using namespace uop;
namespace fs = std::filesystem;

namespace {

struct Outcome {
  bool accepted;
  std::vector<Error> errors;
  std::string text;
};

Outcome outcomeOf(std::string text) {
  SourceBuffer source("t.uop", std::move(text));
  Diagnostics diags(&source);
  auto p = readProgram(source, diags);
  Outcome out{p.has_value(), {}, diags.render()};
  for (const Error& e : diags.all())
    if (diagSeverity(e.kind) == Severity::Error) out.errors.push_back(e);
  return out;
}

// One error, of this kind, on this line.
void refuses(const std::string& body, Diag kind, uint32_t line) {
  INFO(body);
  Outcome o = outcomeOf(body);
  INFO(o.text);
  CHECK_FALSE(o.accepted);
  REQUIRE(o.errors.size() == 1);
  CHECK(diagName(o.errors[0].kind) == diagName(kind));
  CHECK(o.errors[0].loc.line == line);
}

std::string lower(std::string s) {
  std::ranges::transform(s, s.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return s;
}

std::vector<int64_t> linesOf(const nlohmann::json& j) {
  if (j.is_array()) return j.get<std::vector<int64_t>>();
  return {j.is_null() ? 0 : j.get<int64_t>()};
}

}  // namespace

TEST_CASE("malformed files: the lines and words that the corpus wants") {
  size_t seen = 0;
  for (const auto& entry : fs::directory_iterator(UOPC_TESTDATA "/malformed")) {
    if (entry.path().extension() != ".uop") continue;
    INFO(entry.path());
    auto wanted = readFile(fs::path(entry.path()).replace_extension(".err.json").string());
    REQUIRE(wanted);
    auto want = nlohmann::json::parse(*wanted);
    Outcome o = outcomeOf(*readFile(entry.path().string()));
    INFO(o.text);
    ++seen;
    CHECK_FALSE(o.accepted);
    CHECK(o.errors.size() <= Diagnostics::kMaxErrors);
    std::vector<int64_t> allowed;
    if (want.contains("may")) allowed = linesOf(want["may"]);
    for (const auto& w : want["errors"]) {
      auto lines = linesOf(w["line"]);
      allowed.insert(allowed.end(), lines.begin(), lines.end());
      bool found = false;
      for (const Error& e : o.errors) {
        if (std::ranges::find(lines, int64_t{e.loc.line}) == lines.end()) continue;
        for (const auto& word : w["any"]) found |= lower(e.message).find(lower(word.get<std::string>())) != std::string::npos;
      }
      INFO(w.dump());
      CHECK(found);
    }
    for (const Error& e : o.errors) {
      INFO(e.message);
      CHECK(std::ranges::find(allowed, int64_t{e.loc.line}) != allowed.end());
    }
  }
  CHECK(seen > 80);
}

TEST_CASE("megabytes of nonsense end at once, with few errors") {
  std::string word = "uop 1\n%x = " + std::string(1 << 20, 'A') + "\nreturn %x\n";
  std::string garbage = "uop 1\n";
  for (uint32_t i = 0, s = 1; i < 1 << 20; ++i) s = s * 1664525 + 1013904223, garbage += static_cast<char>(s >> 24);
  std::string rank = "uop 1\n%x = PARAM slot=0 dtype=f32 shape=[1";
  for (int i = 1; i < 100000; ++i) rank += ",1";
  rank += "]\nreturn %x\n";
  std::string lines = "uop 1\n";
  for (int i = 0; i < 100000; ++i) lines += "%x = NOPE\n";
  for (const std::string& text : {word, garbage, rank, lines, std::string(1 << 20, '\0'), std::string(1 << 20, '"')}) {
    Outcome o = outcomeOf(text);
    CHECK_FALSE(o.accepted);
    CHECK_FALSE(o.errors.empty());
    CHECK(o.errors.size() <= Diagnostics::kMaxErrors);
    CHECK(o.text.size() < 1 << 20);
  }
}

TEST_CASE("no more than twenty errors, the first ones") {
  std::string text = "uop 1\n";
  for (int i = 0; i < 50; ++i) text += fmt::format("%x{} = NOPE\n", i);
  Outcome o = outcomeOf(text + "return %x0\n");
  CHECK(o.errors.size() == 20);
  CHECK(o.errors.front().loc.line == 2);
  CHECK(o.errors.back().loc.line == 21);
}

TEST_CASE("what follows from one mistake is silent, another mistake is not") {
  Outcome o = outcomeOf("uop 1\n%a = PARAM slot=0 dtype=f33 shape=[2]\n%b = NEG %a\n%c = RESHAPE %b shape=[9]\n%d = ADD %c %undefined\nreturn %d\n");
  INFO(o.text);
  REQUIRE(o.errors.size() == 2);
  CHECK(o.errors[0].loc.line == 2);
  CHECK(o.errors[0].message.find("f33") != std::string::npos);
  CHECK(o.errors[1].loc.line == 5);
}

TEST_CASE("lexical form: CRLF, comments, spacing, escapes, numbers") {
  std::string text = "# first\n\nuop 1\n\t%a.b-c_1 = PARAM\tslot=0x0 dtype=f32 shape=[ 2 , 0x3 ] name=\"a # b\" # why\n%n = NEG %a.b-c_1\nreturn y=%n\n";
  Outcome o = outcomeOf(text);
  INFO(o.text);
  CHECK(o.accepted);
  std::string dos;
  for (char c : text) dos += c == '\n' ? std::string("\r\n") : std::string(1, c);
  std::string canonical = printProgram(testing::readText(text));
  CHECK(printProgram(testing::readText(dos)) == canonical);
  CHECK(canonical.find("name=\"a # b\"") != std::string::npos);

  Program named = testing::read("%x = PARAM slot=0 dtype=f32 shape=[2] name=\"\\\"\\\\\\n\\t\\r\\u{e9}\\u{1F600}\"\nreturn %x\n");
  CHECK(bindingName(named.graph, named.results[0].node) == "\"\\\n\t\r\u00e9\U0001F600");

  for (auto [value, dtype, want] : std::vector<std::tuple<std::string, DType, double>>{
           {"0x1.8p+0", DType::F32, 1.5}, {"-0x1.0p-149", DType::F32, -0x1p-149}, {"0x1.fffffffffffffp+1023", DType::F64, 0x1.fffffffffffffp+1023}, {"1e-5", DType::F64, 1e-5}, {"7", DType::F16, 7}}) {
    Program p = testing::read(fmt::format("%x = CONST value={} dtype={}\nreturn %x\n", value, name(dtype)));
    CHECK(p.graph.constValue(p.results[0].node).asDouble() == want);
  }
  for (auto bad : {"+1.0", "1.", ".5", "0x1.8", "1e", "--1", "1_000"}) {
    INFO(bad);
    CHECK_FALSE(outcomeOf(fmt::format("uop 1\n%x = CONST value={} dtype=f32\nreturn %x\n", bad)).accepted);
  }
}

TEST_CASE("each refusal has its kind and its line") {
  refuses("uop 2\n%x = CONST value=1 dtype=i32\nreturn %x\n", Diag::BadVersion, 1);
  refuses("\xef\xbb\xbfuop 1\n%x = CONST value=1 dtype=i32\nreturn %x\n", Diag::ByteOrderMark, 1);
  refuses("uop 1\n%x = CONST value=1 dtype=index\n%y = PARAM slot=0 dtype=f32 shape=[2,%x]\nreturn %y\n", Diag::SymbolicDim, 3);
  refuses("uop 1\n%x = PARAM slot=0 slot=1 dtype=f32 shape=[2]\nreturn %x\n", Diag::AttrTwice, 2);
  refuses("uop 1\n%x = CONST value=1 dtype=i32 a.b=1 a.b=2\nreturn %x\n", Diag::AttrTwice, 2);
  refuses("uop 1\n%x = PARAM slot=0 dtype=i32 shape=[] min=3 max=2\nreturn %x\n", Diag::MinMax, 2);
  refuses("uop 1\n%x = PARAM slot=0 dtype=f32 shape=[2] name=\"q\"\n%y = PARAM slot=1 dtype=f32 shape=[2] name=\"q\"\n%z = ADD %x %y\nreturn %z\n", Diag::NameConflict, 3);
  refuses("uop 1\n%x = PARAM slot=0 dtype=f32 shape=[2]\n%y = PARAM slot=0 dtype=f32 shape=[3]\n%s = REDUCE %y op=ADD n=1\n%z = ADD %x %s\nreturn %z\n", Diag::SlotConflict, 3);
  std::string head = "uop 1\n%o = PARAM slot=0 dtype=i32 shape=[4]\n%n = CONST value=4 dtype=index\n%i = RANGE %n id=0 kind=loop\n%p = INDEX %o %i\n%c = CAST %i dtype=i32\n%s = STORE %p %c\n";
  refuses(head + "%e = END %s %i\n%q = STORE %p %p\n%f = END %q %i\n%a = AFTER %o %e %f\nreturn %a\n", Diag::TwoEnds, 10);
  refuses(head + "return %s\n", Diag::ResultInLoop, 8);
  std::string body = "uop 1\n%x = PARAM slot=0 dtype=f32 shape=[2]\n%y = PARAM slot=1 dtype=f32 shape=[2]\n%s = STORE %x %y\n%b = BUFFER slot=0 dtype=f32 shape=[2]\n";
  refuses(body + "%c = CALL %s %b %b\nreturn %c\n", Diag::CallOverlap, 6);
  refuses(body + "%v = NEG %b\n%c = CALL %s %v %b\nreturn %c\n", Diag::CallArgPlace, 7);
  refuses("uop 1\n%b = BUFFER slot=0 dtype=f32 shape=[2]\n%v = CONST value=1 dtype=f32\n%w = EXPAND %v shape=[2]\n%u = NEG %w\n%s = STORE %b %w\n%t = STORE %b %u\n%k = SINK %s %t\n%a = AFTER %b %k\nreturn %a\n",
          Diag::UnorderedStores, 7);
}
