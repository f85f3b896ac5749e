// eval against tables that numpy and Python's integers made: scripts/make_eval_tables.py.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "ir/eval.h"

using namespace uop;

namespace {

uint64_t readBits(const std::string& word) { return std::stoull(word, nullptr, 16); }

// A NaN's bits are any NaN's.
Scalar readScalar(const std::string& word, DType d) { return word == "nan" ? Scalar::ofDouble(std::nan("")) : fromStorage(readBits(word), d); }

bool near(Scalar got, const std::string& want, const std::string& note, DType d) {
  if (isFloat(d) && std::isnan(got.asDouble())) return want == "nan";
  if (want == "nan") return false;
  uint64_t g = toStorage(got, d), w = readBits(want);
  if (note == "=0") return got.asDouble() == 0;
  return g == w || (note == "~" && (g == w + 1 || g + 1 == w));
}

// What is wrong in a line of a table; "" if nothing is.
std::string check(Op op, const std::string& line) {
  std::istringstream in(line);
  std::string operand, result, word, want, note;
  in >> operand >> result;
  auto d = dtypeByName(operand), to = dtypeByName(result);
  if (!d || !to) return "unknown dtype: " + line;
  std::vector<Scalar> sources;
  while (in >> word && word != "=") sources.push_back(readScalar(word, op == Op::Where && sources.empty() ? DType::Bool : *d));
  in >> want >> note;
  if (!evalFn(op, *d, *to)) return "no meaning: " + line;
  Scalar got = evalOp(op, *d, *to, sources);
  return near(got, want, note, *to) ? "" : line + "   got " + scalarText(got, *to);
}

}  // namespace

TEST_CASE("eval: tables of every element-wise op on every dtype") {
  size_t tables = 0, wanted = 0;
  for (auto name : opNames()) wanted += hasTrait(*opByName(name), trait::Elementwise);
  for (auto& file : std::filesystem::directory_iterator(UOPC_TESTDATA "/eval")) {
    std::string name = file.path().stem().string();
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    auto op = opByName(name);
    INFO(name);
    REQUIRE(op);
    ++tables;
    std::ifstream in(file.path());
    size_t lines = 0, wrong = 0;
    std::string report;
    for (std::string line; std::getline(in, line); ++lines)
      if (std::string text = check(*op, line); !text.empty() && ++wrong <= 10) report += text + "\n";
    INFO(report);
    CHECK(lines > 3);
    CHECK(wrong == 0);
  }
  CHECK(tables == wanted);
}

TEST_CASE("eval: what an op is not defined on") {
  CHECK_FALSE(evalFn(Op::Sin, DType::I32, DType::I32));
  CHECK_FALSE(evalFn(Op::Reduce, DType::F32, DType::F32));
  CHECK_FALSE(evalFn(Op::Add, DType::Void, DType::Void));
  CHECK_FALSE(evalFn(Op::Cast, DType::F32, DType::Tuple));
}

TEST_CASE("eval: identities") {
  CHECK(identityOf(ReduceOp::Add, DType::F32).asDouble() == 0);
  CHECK(identityOf(ReduceOp::Mul, DType::Bool).bits == 1);
  CHECK(identityOf(ReduceOp::Mul, DType::BF16).asDouble() == 1);
  CHECK(identityOf(ReduceOp::Max, DType::F16).asDouble() == -HUGE_VAL);
  CHECK(identityOf(ReduceOp::Max, DType::I64).asInt() == INT64_MIN);
  CHECK(identityOf(ReduceOp::Max, DType::Index).asInt() == INT64_MIN);
  CHECK(identityOf(ReduceOp::Max, DType::U8).bits == 0);
  CHECK(identityOf(ReduceOp::Max, DType::Bool).bits == 0);
}
