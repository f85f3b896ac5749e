#include "backends/cstyle/prelude.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "backends/cstyle/prelude_testing.h"

namespace uop::cstyle {
namespace {

std::string whole() {
  const std::vector<std::string_view> names = preludeNames();
  return preludeText({names.begin(), names.end()});
}

std::string loopIr(std::string_view helper, std::string_view result, std::string_view argument, bool binary, const char* spec) {
  const std::string source = testing::loopSource(helper, result, argument, binary);
  return cpu::compileC(source, "loop", cpu::parseTarget(spec).value(), {.optLevel = 2, .emit = cpu::Emit::LlvmIr}).value().bytes;
}

bool calls(const std::string& ir, std::string_view what) { return ir.find(what) != std::string::npos; }

}  // namespace

TEST_CASE("a kernel gets the helpers it uses and theirs, each once, callees first") {
  const std::string text = preludeText({"uop_floordiv_f32", "uop_f64_to_bf16"});
  for (const char* name : {"uop_floor_f32(float", "uop_trunc_f32(float", "uop_f64_to_f32_odd(double", "uop_bits_f32_u32(float"}) {
    const size_t at = text.find(std::string(" ") + name);
    REQUIRE(at != std::string::npos);
    CHECK(text.find(std::string("UOP_INLINE float ") + name, at + 1) == std::string::npos);
  }
  CHECK(text.find("uop_exp2") == std::string::npos);
  CHECK(text.find("uop_trunc_f32(float x) {") < text.find("uop_floor_f32(float x) {"));
  CHECK(preludeText({}).find("UOP_KERNEL") != std::string::npos);
  CHECK_THROWS_AS(preludeText({"uop_nothing"}), InternalError);
}

TEST_CASE("the table has every helper that the header promises, and nothing is left unsubstituted") {
  const std::vector<std::string> integers = {"i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"};
  for (const std::string& t : integers) {
    for (const char* op : {"floordiv_", "floormod_", "shl_", "shr_", "f32_to_", "f64_to_"}) CHECK(preludeHas("uop_" + (op + t)));
    for (const char* to : {"_to_f32", "_to_f16", "_to_bf16"}) CHECK(preludeHas("uop_" + t + to));
  }
  for (const char* op : {"exp2", "log2", "sin", "sqrt", "trunc", "floor", "max", "floordiv", "floormod"})
    for (const char* t : {"_f32", "_f64"}) CHECK(preludeHas(std::string("uop_") + op + t));
  CHECK(whole().find('@') == std::string::npos);
}

TEST_CASE("the system's C compiler takes the whole prelude without a warning") {
  if (std::system("cc --version >/dev/null 2>&1") != 0) return;
  char folder[] = "/tmp/uop-prelude-XXXXXX";
  REQUIRE(::mkdtemp(folder));
  const std::string base = std::string(folder) + "/p";
  std::ofstream(base + ".c") << whole() << "int main(void) { return uop_sin_f32(0.0f) != 0.0f; }\n";
  const std::string command = "cc -std=c11 -O2 -Wall -Wextra -Werror " + base + ".c -o " + base + " -lm && " + base;
  CHECK(std::system(command.c_str()) == 0);
  std::filesystem::remove_all(folder);
}

// LLVM's costs for f16 choose 4 lanes; "#pragma clang loop vectorize_width(16)" gives 16 and runs 1.5 to 3 times as fast.
TEST_CASE("loops of the helpers become vectors of 512 bits") {
  struct Row {
    const char *helper, *result, *argument;
    bool binary;
    const char* vector;
  };
  for (const Row& row : {Row{"uop_exp2_f32", "float", "float", false, "<16 x float>"},
                         Row{"uop_log2_f32", "float", "float", false, "<16 x float>"},
                         Row{"uop_sin_f32", "float", "float", false, "x double>"},
                         Row{"uop_max_f32", "float", "float", true, "<16 x float>"},
                         Row{"uop_floordiv_f32", "float", "float", true, "<16 x float>"},
                         Row{"uop_exp2_f64", "double", "double", false, "<8 x double>"},
                         Row{"uop_log2_f64", "double", "double", false, "<8 x double>"},
                         Row{"uop_f16_to_f32", "float", "uint16_t", false, "x half>"},
                         Row{"uop_f32_to_f16", "uint16_t", "float", false, "x half>"},
                         Row{"uop_f32_to_bf16", "uint16_t", "float", false, "<16 x i32>"},
                         Row{"uop_f64_to_bf16", "uint16_t", "double", false, "x double>"},
                         Row{"uop_f32_to_i8", "int8_t", "float", false, "x float>"},
                         Row{"uop_f32_to_i32", "int32_t", "float", false, "<16 x i32>"},
                         Row{"uop_f32_to_u64", "uint64_t", "float", false, "x i64>"},
                         Row{"uop_i64_to_bf16", "uint16_t", "int64_t", false, "x i64>"},
                         Row{"uop_floordiv_i8", "int8_t", "int8_t", true, "x float>"},
                         Row{"uop_floordiv_i32", "int32_t", "int32_t", true, "x double>"},
                         Row{"uop_floormod_u32", "uint32_t", "uint32_t", true, "x double>"},
                         Row{"uop_shl_i16", "int16_t", "int16_t", true, "x i16>"},
                         Row{"uop_shr_i64", "int64_t", "int64_t", true, "<8 x i64>"}}) {
    INFO(row.helper);
    CHECK(calls(loopIr(row.helper, row.result, row.argument, row.binary, "cpu:znver4"), row.vector));
  }
}

TEST_CASE("no helper calls a library on the baseline target") {
  const std::string source = whole() + "UOP_KERNEL double f(double x, float y) { return uop_floor_f64(x) + uop_trunc_f32(y) + "
                                       "uop_sqrt_f32(y) + uop_sin_f64(x) + uop_f16_to_f32(uop_f64_to_f16(x)); }\n";
  const std::string text = cpu::compileC(source, "f", cpu::parseTarget("cpu:x86-64").value(), {.emit = cpu::Emit::Assembly}).value().bytes;
  CHECK(text.find("call") == std::string::npos);
}

TEST_CASE("a divisor known at compile time is multiplied by") {
  const std::string source = preludeText({"uop_floordiv_i32", "uop_floormod_i64"}) +
                             "UOP_KERNEL int64_t f(int32_t x, int64_t y) { return uop_floordiv_i32(x, 7) + uop_floormod_i64(y, 12); }\n";
  const std::string text = cpu::compileC(source, "f", cpu::parseTarget("cpu:x86-64").value(), {.emit = cpu::Emit::Assembly}).value().bytes;
  CHECK(text.find("div") == std::string::npos);
}

}  // namespace uop::cstyle
