#include "cmd/uoprun/driver.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "cmd/common/testing.h"
#include "runtime/arrays.h"

namespace uop {
namespace {

using testing::Folder;
using testing::Outcome;

constexpr std::string_view kAxpy = R"(uop 1
%a = PARAM slot=0 dtype=f32 shape=[] name="a"
%x = PARAM slot=1 dtype=f32 shape=[3] name="x"
%y = BUFFER slot=0 dtype=f32 shape=[3] name="y"
%p = MUL %x %a
%s = ADD %p %y
%st = STORE %y %s
%now = AFTER %y %st
return now=%now twice=%p
)";

Outcome uoprun(std::vector<std::string> args) { return testing::call(uoprun::run, "uoprun", std::move(args)); }

std::string vector(const Folder& dir, const std::string& name, Shape shape, std::vector<float> values) {
  auto t = Tensor::zeros(DType::F32, std::move(shape));
  std::ranges::copy(values, t->as<float>().begin());
  REQUIRE(writeArrays(dir / name, {{"", *t}}));
  return dir / name;
}

std::vector<float> floats(const std::string& file) {
  auto t = readArray(file);
  REQUIRE(t);
  auto span = t->as<float>();
  return {span.begin(), span.end()};
}

TEST_CASE("uoprun: wrong usage is status 2") {
  CHECK(uoprun({}).status == 2);
  CHECK(uoprun({"x.uop", "--input", "x"}).status == 2);
  CHECK(uoprun({"x.uop", "--bench", "0"}).status == 2);
  CHECK(uoprun({"--help"}).status == 0);
  CHECK(uoprun({"--version"}).out.starts_with("uoprun "));
}

struct Device {
  std::string name;
  std::vector<std::string> args;
};
const std::vector<Device> kDevices = {{"interp", {"--device", "interp"}}, {"cpu -O0", {"-O0"}}, {"cpu -O2", {}}};

TEST_CASE("uoprun: binds, runs, writes") {
  Folder dir;
  auto program = dir.write("axpy.uop", kAxpy);
  auto a = vector(dir, "a.npy", {}, {2}), x = vector(dir, "x.npy", {3}, {1, 2, 3}), y = vector(dir, "y.npy", {3}, {10, 10, 10});
  for (const Device& device : kDevices) {
    INFO(device.name);
    std::vector<std::string> args = {program, "--input", "a=" + a, "--input", "x=" + x, "--input", "y=" + y};
    args.insert(args.end(), device.args.begin(), device.args.end());
    auto with = [&](std::vector<std::string> more) {
      more.insert(more.begin(), args.begin(), args.end());
      return uoprun(more);
    };
    auto o = with({});
    INFO(o.err);
    CHECK(o.status == 0);
    CHECK(o.err.empty());
    CHECK(o.out == "now: f32 [3] min 12 max 16 mean 14\ntwice: f32 [3] min 2 max 6 mean 4\n");
    CHECK(with({"--print", "now"}).out == "[12. 14. 16.]\n");
    CHECK(with({"--output", "now=" + dir / "now.npy"}).out.empty());
    CHECK(floats(dir / "now.npy") == std::vector<float>{12, 14, 16});
    CHECK(with({"--steps", "3", "--print", "now", "--save-state", dir / "state.safetensors"}).out == "[16. 22. 28.]\n");
    auto state = readArrays(dir / "state.safetensors");
    REQUIRE(state);
    CHECK(state->at("y").asDouble(0) == 16);
    CHECK(with({"--state", dir / "state.safetensors", "--outputs", dir / "all.npz"}).status == 0);
    CHECK(readArrays(dir / "all.npz")->size() == 2);
    CHECK(with({"--check", "--steps", "2"}).status == 0);
    auto bench = with({"--bench", "3", "--json"});
    CHECK(bench.status == 0);
    CHECK(nlohmann::json::parse(bench.out)["runs"] == 3);
  }
}

TEST_CASE("uoprun: what is compiled in memory is kept, and damage to it does not matter") {
  Folder dir;
  auto program = dir.write("axpy.uop", kAxpy);
  auto run = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {program, "--random", "1", "--check", "-q", "--print", "now"});
    auto o = uoprun(more);
    INFO(o.err);
    CHECK(o.status == 0);
    return o.out;
  };
  const std::string without = run({"--no-cache"});
  CHECK(run({"--cache", dir / "cache"}) == without);
  size_t entries = 0;
  for (const auto& e : std::filesystem::recursive_directory_iterator(dir / "cache")) {
    if (!e.is_regular_file() || e.path().filename() == "tally") continue;
    ++entries;
    std::filesystem::resize_file(e.path(), e.file_size() / 2);
  }
  CHECK(entries > 0);
  CHECK(run({"--cache", dir / "cache"}) == without);
  CHECK(run({"--cache", dir / "cache"}) == without);
  CHECK(run({"--cache", "/proc/none", "--cache-size", "1MB"}) == without);
}

TEST_CASE("uoprun: what is bound wrongly is named") {
  Folder dir;
  auto program = dir.write("axpy.uop", kAxpy);
  auto x = vector(dir, "x.npy", {3}, {1, 2, 3}), four = vector(dir, "four.npy", {4}, {1, 2, 3, 4});
  auto run = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {program, "--device", "interp"});
    return uoprun(more);
  };
  auto o = run({"--input", "x=" + x});
  CHECK(o.status == 1);
  CHECK(o.err == "error: PARAM 'a' (f32 []) is not bound; give --input a=FILE.npy, --inputs FILE.npz or --random SEED\n");
  CHECK(run({"--random", "1", "--input", "z=" + x}).err.find("there is no PARAM or BUFFER 'z'") != std::string::npos);
  ArrayList more{{"x", *readArray(x)}, {"w", *readArray(x)}};
  REQUIRE(writeArrays(dir / "more.npz", more));
  CHECK(run({"--random", "1", "--inputs", dir / "more.npz"}).err.find("is no PARAM or BUFFER of the program and is left unused") != std::string::npos);
  CHECK(run({"--random", "1", "--input", "x=" + four}).err == "error: 'x' is bound to f32 [4], but the program wants f32 [3]\n");
  CHECK(run({"--random", "1", "--print", "nwo"}).err == "error: there is no result 'nwo'; did you mean 'now'?\n");
  CHECK(run({"--random", "1", "--input", "x=" + dir / "none.npy"}).status == 1);
  CHECK(uoprun({dir / "none.uop"}).status == 1);
  CHECK(uoprun({program, "--device", "gpu"}).status == 2);
  CHECK(uoprun({program, "--device", "cuda"}).status == 4);
}

TEST_CASE("uoprun: an unbound BUFFER is zeros, with one warning") {
  Folder dir;
  auto program = dir.write("axpy.uop", kAxpy);
  auto a = vector(dir, "a.npy", {}, {2}), x = vector(dir, "x.npy", {3}, {1, 2, 3});
  for (const Device& device : kDevices) {
    INFO(device.name);
    std::vector<std::string> args = {program, "--input", "a=" + a, "--input", "x=" + x, "--print", "now", "--steps", "2"};
    args.insert(args.end(), device.args.begin(), device.args.end());
    auto o = uoprun(args);
    CHECK(o.out == "[ 4.  8. 12.]\n");
    CHECK(o.err == "warning: BUFFER 'y' is not bound and starts as zeros\n");
  }
}

TEST_CASE("uoprun: a feed advances a slice a step") {
  Folder dir;
  auto program = dir.write("axpy.uop", kAxpy);
  auto feed = vector(dir, "feed.npy", {2, 3}, {1, 2, 3, 10, 20, 30}), a = vector(dir, "a.npy", {}, {1});
  for (const Device& device : kDevices) {
    INFO(device.name);
    std::vector<std::string> args = {program, "-q", "--feed", "x=" + feed, "--input", "a=" + a, "--print", "now"};
    args.insert(args.end(), device.args.begin(), device.args.end());
    CHECK(uoprun(args).out == "[11. 22. 33.]\n");
    args.insert(args.end(), {"--steps", "3"});
    CHECK(uoprun(args).status == 1);
  }
}

TEST_CASE("uoprun: random inputs are reproducible") {
  Folder dir;
  auto program = dir.write("axpy.uop", kAxpy);
  auto first = uoprun({program, "--random", "7", "--device", "interp"}), again = uoprun({program, "--random", "7", "--device", "interp"});
  CHECK(first.status == 0);
  CHECK(first.err.empty());
  CHECK(first.out == again.out);
  CHECK(first.out != uoprun({program, "--random", "8", "--device", "interp"}).out);
  CHECK(uoprun({program, "--random", "7", "--check"}).status == 0);
}

}  // namespace
}  // namespace uop
