#include "cmd/uopc/driver.h"

#include <sys/wait.h>

#include <catch2/catch.hpp>
#include <map>
#include <nlohmann/json.hpp>

#include "cmd/common/testing.h"

namespace uop {
namespace {

using testing::Folder;
using testing::Outcome;

constexpr std::string_view kSum = R"(uop 1
%x = PARAM slot=0 dtype=f32 shape=[4,8] name="x"
%two = CONST value=2 dtype=f32
%y = MUL %x %two
%s = REDUCE %y op=ADD axes=[1]
return s=%s
)";

Outcome uopc(std::vector<std::string> args) { return testing::call(uopc::run, "uopc", std::move(args)); }

TEST_CASE("uopc: wrong usage is status 2") {
  CHECK(uopc({"--nonsense"}).status == 2);
  CHECK(uopc({}).err == "error: no program is given; uopc --help shows how\n");
  CHECK(uopc({}).status == 2);
  CHECK(uopc({"x.uop", "--emit=artefact"}).err.find("did you mean 'artifact'?") != std::string::npos);
  CHECK(uopc({"x.uop", "-O7"}).status == 2);
  CHECK(uopc({"x.uop", "--stop-after", "rangefy"}).err ==
        "error: --stop-after rangefy: the pipeline 'cpu-O2' has no such pass; did you mean 'rangeify'?\n");
  CHECK(uopc({"x.uop", "--set", "rangeify.materialise=true"}).err ==
        "error: --set rangeify.materialise=true: rangeify has no option 'materialise'; did you mean 'materialize'?\n");
  CHECK(uopc({"x.uop"}).err == "error: an artifact is a folder: give its name, -o OUT\n");
  CHECK(uopc({"--describe", "simplfy"}).err == "error: there is no pass 'simplfy'; did you mean 'simplify'?\n");
}

TEST_CASE("uopc: help, version and lists go to standard output") {
  for (const char* option : {"--help", "--version", "--list-passes", "--list-targets", "--list-rules", "--print-pipeline"}) {
    INFO(option);
    auto o = uopc({option});
    CHECK(o.status == 0);
    CHECK(o.err.empty());
    CHECK(!o.out.empty());
  }
  CHECK(uopc({"--describe", "rangeify"}).out.find("max-kernel-nodes") != std::string::npos);
}

TEST_CASE("uopc: the input's faults are status 1, devices that are not there 4") {
  Folder dir;
  auto bad = dir.write("bad.uop", "uop 1\n%x = PARAMM slot=0\nreturn %x\n");
  auto o = uopc({bad, "--emit=uop"});
  CHECK(o.status == 1);
  CHECK(o.err.starts_with(bad + ":2:6: error: unknown op 'PARAMM'"));
  CHECK(uopc({dir / "none.uop", "--emit=uop"}).status == 1);
  auto good = dir.write("good.uop", kSum);
  CHECK(uopc({good, "--emit=ptx"}).status == 4);
  CHECK(uopc({good, "--target", "cuda:sm_90", "-o", dir / "out"}).status == 4);
  CHECK(uopc({good, "--pipeline", dir.write("p.json", "{\"version\": 1,\n")}).err.find("p.json:2:1: error: bad JSON") != std::string::npos);
}

TEST_CASE("uopc: canonical text is a fixed point") {
  Folder dir;
  auto first = uopc({dir.write("a.uop", kSum), "--emit=uop", "--stop-after=canonicalize"});
  REQUIRE(first.status == 0);
  auto second = uopc({dir.write("b.uop", first.out), "--emit=uop", "--stop-after=canonicalize"});
  CHECK(second.out == first.out);
}

TEST_CASE("uopc: a printed pipeline is the pipeline") {
  Folder dir;
  auto printed = uopc({"--print-pipeline", "-O1", "--set", "simplify#2.limit=5"});
  auto again = uopc({"--print-pipeline", "--pipeline", dir.write("p.json", printed.out)});
  CHECK(again.out == printed.out);
  CHECK(printed.out.find("\"limit\": 5") != std::string::npos);
}

TEST_CASE("uopc: a dump of any pass compiles on to the same bytes") {
  Folder dir;
  auto input = dir.write("in.uop", kSum);
  for (const char* level : {"-O0", "-O1", "-O2"}) {
    auto dumps = dir / ("dumps" + std::string(level));
    REQUIRE(uopc({input, level, "-o", dir / ("whole" + std::string(level)), "--dump-after=all", "--dump-dir", dumps}).status == 0);
    auto pipeline = nlohmann::json::parse(uopc({"--print-pipeline", level}).out);
    std::map<std::string, int> seen;
    size_t number = 0;
    for (const auto& item : pipeline["passes"]) {
      std::string pass = item["pass"];
      int n = ++seen[pass];
      std::string instance = n == 1 ? pass : pass + "#" + std::to_string(n);
      char file[64];
      std::snprintf(file, sizeof file, "%02zu-%s.uop", ++number, instance.c_str());
      INFO(level << " " << file);
      REQUIRE(uopc({dumps + "/" + file, level, "--start-after", instance, "--original", input, "-o", dir / "rest"}).status == 0);
      for (const char* name : {"/manifest.json", "/program.uop", "/kernels/kernels.so"}) {
        INFO(name);
        bool same = dir.read("rest" + std::string(name)) == dir.read("whole" + std::string(level) + name);
        CHECK(same);
      }
    }
  }
}

TEST_CASE("uopc: code in every form") {
  Folder dir;
  auto input = dir.write("in.uop", kSum);
  CHECK(uopc({input, "--emit=c"}).out.find("UOP_KERNEL") != std::string::npos);
  CHECK(uopc({input, "--emit=source"}).out == uopc({input, "--emit=c"}).out);
  CHECK(uopc({input, "--emit=llvm-ir", "-o", "-"}).out.find("define") != std::string::npos);
  CHECK(uopc({input, "--emit=asm"}).out.find(".text") != std::string::npos);
  CHECK(uopc({input, "--emit=obj", "-o", dir / "out.o"}).status == 0);
  CHECK(dir.read("out.o").starts_with("\x7f" "ELF"));
}

TEST_CASE("uopc: twenty compilations give the same bytes") {
  Folder dir;
  auto input = dir.write("in.uop", kSum);
  std::string first = uopc({input, "--emit=obj"}).out;
  for (int i = 0; i < 20; ++i) CHECK(uopc({input, "--emit=obj"}).out == first);
}

TEST_CASE("uopc: verification, statistics, traces, dependencies") {
  Folder dir;
  auto input = dir.write("in.uop", kSum);
  auto o = uopc({input, "-o", dir / "out", "--verify-each=run", "--stats", "--time-trace", dir / "trace.json", "--depfile", dir / "out.d"});
  INFO(o.err);
  CHECK(o.status == 0);
  CHECK(o.err.find("rangeify") != std::string::npos);
  auto trace = nlohmann::json::parse(dir.read("trace.json"));
  CHECK(trace.contains("traceEvents"));
  CHECK(dir.read("out.d") == dir / "out/manifest.json" + ": " + input + "\n");
  CHECK(uopc({input, "-o", dir / "out", "--verify-each"}).status == 0);
}

constexpr std::string_view kTwoKernels = R"(uop 1
%x = PARAM slot=0 dtype=f32 shape=[64,8] name="x"
%s = REDUCE %x op=ADD axes=[1]
%e = EXP2 %s
%t = REDUCE %e op=MAX axes=[0]
return s=%s t=%t
)";

std::map<std::string, std::string> filesOf(const Folder& dir, const std::string& artifact) {
  std::map<std::string, std::string> files;
  for (const auto& e : std::filesystem::recursive_directory_iterator(dir / artifact))
    if (e.is_regular_file()) files[std::filesystem::relative(e.path(), dir / artifact).string()] = dir.read(std::filesystem::relative(e.path(), dir / ".").string());
  return files;
}

TEST_CASE("uopc: an artifact is the same with and without the cache") {
  Folder dir;
  auto input = dir.write("in.uop", kTwoKernels);
  auto compile = [&](const std::string& out, std::vector<std::string> more) {
    std::vector<std::string> args = {input, "-o", dir / out, "--stats"};
    args.insert(args.end(), more.begin(), more.end());
    auto o = uopc(args);
    INFO(o.err);
    CHECK(o.status == 0);
    return o.err.substr(o.err.find("objects: "));
  };
  const std::string compiled = "objects: 0 from the cache, 1 compiled", cached = "objects: 1 from the cache, 0 compiled";
  CHECK(compile("without", {"--no-cache"}).starts_with(compiled));
  CHECK(compile("cold", {"--cache", dir / "cache"}).starts_with(compiled));
  CHECK(compile("warm", {"--cache", dir / "cache"}).starts_with(cached));
  CHECK(compile("nowhere", {"--cache", "/proc/none"}).starts_with(compiled));
  CHECK(compile("level", {"--cache", dir / "cache", "-O1"}).starts_with(compiled));
  CHECK(compile("small", {"--cache", dir / "tiny", "--cache-size", "1"}).starts_with(compiled));
  CHECK_FALSE(dir.has("tiny"));
  for (const char* name : {"cold", "warm", "nowhere", "small"}) CHECK(filesOf(dir, name) == filesOf(dir, "without"));
  CHECK(uopc({input, "-o", dir / "out", "--cache", dir / "cache", "--no-cache"}).status == 2);
  CHECK(uopc({input, "-o", dir / "out", "--cache-size", "many"}).status == 2);
}

TEST_CASE("uopc: four processes share an empty cache") {
  Folder dir;
  auto input = dir.write("in.uop", kTwoKernels);
  REQUIRE(uopc({input, "-o", dir / "without", "--no-cache"}).status == 0);
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    pid_t child = ::fork();
    if (child == 0) ::_exit(uopc({input, "-o", dir / ("out" + std::to_string(i)), "--cache", dir / "cache"}).status);
    REQUIRE(child > 0);
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = -1;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
  }
  for (int i = 0; i < 4; ++i) CHECK(filesOf(dir, "out" + std::to_string(i)) == filesOf(dir, "without"));
  auto warm = uopc({input, "-o", dir / "warm", "--cache", dir / "cache", "--stats"});
  CHECK(warm.err.find("objects: 1 from the cache, 0 compiled") != std::string::npos);
}

TEST_CASE("uopc: the trace covers every stage") {
  Folder dir;
  auto input = dir.write("in.uop", kTwoKernels);
  REQUIRE(uopc({input, "-o", dir / "out", "--no-cache", "--time-trace", dir / "trace.json"}).status == 0);
  auto trace = nlohmann::json::parse(dir.read("trace.json"));
  std::map<std::string, int> seen;
  for (const auto& e : trace["traceEvents"]) ++seen[e["name"].get<std::string>()], ++seen[e.value("cat", "")];
  for (const char* stage : {"read", "canonicalize", "emit", "compile kernels", "link", "write"}) CHECK(seen[stage] == 1);
  CHECK(seen["clang"] == 1);
}

TEST_CASE("uopc: a pipeline's own rules are applied, counted and checked") {
  Folder dir;
  auto input = dir.write("in.uop", "uop 1\n%x = PARAM slot=0 dtype=f32 shape=[4]\n%a = NEG %x\n%b = NEG %a\n%y = ADD %b %x\nreturn y=%y\n");
  auto pipeline = [&](const std::string& passes) { return dir.write("p.json", "{\"version\": 1, \"passes\": [\"canonicalize\", " + passes + "]}"); };
  auto file = pipeline(R"J({"pass": "rules", "rules": [{"name": "double-neg", "match": "(NEG (NEG ?x))", "replace": "?x"}]})J");
  auto o = uopc({input, "--pipeline", file, "--emit=uop", "--stats"});
  CHECK(o.status == 0);
  CHECK(o.out.find("NEG") == std::string::npos);
  CHECK(o.err.find("1 double-neg") != std::string::npos);
  o = uopc({input, "--pipeline", pipeline(R"J({"pass": "simplify", "rules": ["algbra"]})J"), "--emit=uop"});
  CHECK(o.status == 1);
  CHECK(o.err == file + ": error: passes[1].rules[0]: there is no rule set 'algbra'; did you mean 'algebra'?\n");
  o = uopc({input, "--pipeline", pipeline(R"J({"pass": "rules", "rules": [{"name": "bad", "match": "(NEG ?x)", "replace": "?y"}]})J"), "--emit=uop"});
  CHECK(o.status == 1);
  CHECK(o.err.find("passes[1].rules") != std::string::npos);
  o = uopc({input, "--pipeline", pipeline("\"rangeify\""), "--emit=uop"});
  CHECK(o.err.find("passes[1]: rangeify needs a program of form 'flat'") != std::string::npos);
  CHECK(uopc({input, "--pipeline", pipeline("\"inline-calls\""), "-o", dir / "out"}).err.find("end it with lower-kernels") != std::string::npos);
}

TEST_CASE("uopc: options of passes are counts, and no sum is cut into single terms") {
  Folder dir;
  auto input = dir.write("in.uop", "uop 1\n%x = PARAM slot=0 dtype=bf16 shape=[2]\n%y = REDUCE %x op=ADD n=1\nreturn y=%y\n");
  auto refused = [&](const char* assignment) {
    auto o = uopc({input, "--set", assignment, "--emit=uop"});
    CHECK(o.status == 2);
    return o.err;
  };
  CHECK(refused("lower-kernels.block=1").find("expected 0 (no blocks) or at least 2, found 1") != std::string::npos);
  CHECK(refused("lower-kernels.block=-5").find("expected an integer of at least 0, found '-5'") != std::string::npos);
  CHECK(refused("fuse.local-bytes=-1").find("at least 0") != std::string::npos);
  CHECK(uopc({input, "--set", "lower-kernels.block=2", "--emit=uop"}).status == 0);
}

TEST_CASE("uopc: pictures") {
  Folder dir;
  auto input = dir.write("in.uop", kSum);
  CHECK(uopc({input, "--emit=uop", "--stop-after=canonicalize", "--dump-format=dot"}).out.starts_with("digraph"));
  CHECK(uopc({input, "--stop-after=canonicalize", "--dump-format=svg"}).out.find("<svg") != std::string::npos);
  CHECK(uopc({input, "--stop-after=canonicalize", "--dump-format=html"}).out.starts_with("<!DOCTYPE html>"));
}

TEST_CASE("uopc: an artifact never replaces a folder that is none") {
  Folder dir;
  auto input = dir.write("in.uop", kSum);
  std::filesystem::create_directory(dir / "mine");
  dir.write("mine/letter.txt", "dear");
  auto o = uopc({input, "-o", dir / "mine"});
  CHECK(o.status == 1);
  CHECK(dir.read("mine/letter.txt") == "dear");
  CHECK(dir.list().size() == 2);
}

}  // namespace
}  // namespace uop
