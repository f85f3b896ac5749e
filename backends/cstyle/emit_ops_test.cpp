// Every element-wise op on every dtype, as emitted, against the scalar meaning that folding and the interpreter share.
#include <cstring>
#include <random>

#include "backends/cstyle/emit_testing.h"
#include "ir/eval.h"

namespace uop::cstyle {
namespace {

using testing::Kernel;
using testing::Runner;

constexpr size_t kCount = 512;
constexpr DType kTypes[] = {DType::Bool, DType::I8,  DType::I16, DType::I32,  DType::I64, DType::U8,  DType::U16,
                            DType::U32,  DType::U64, DType::F16, DType::BF16, DType::F32, DType::F64, DType::Index};

// Interesting bits first, then random ones.
std::vector<uint64_t> samples(DType d, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<uint64_t> out;
  const unsigned width = 8 * byteSize(d);
  for (uint64_t v : {0, 1, 2, 3, 7, 8, 31, 64, -1, -2, -7})
    out.push_back(isFloat(d) ? toStorage(Scalar::ofDouble(static_cast<double>(static_cast<int64_t>(v))), d) : v);
  for (unsigned shift : {1u, 2u, 3u}) out.push_back(~uint64_t{0} >> (64 - width + shift)), out.push_back(~(~uint64_t{0} >> (64 - width + shift)));
  if (isFloat(d))
    for (double v : {0.5, -0.0, 1e-3, 1e30, -2.75, double(INFINITY), -double(INFINITY), double(NAN), 65504.0}) out.push_back(toStorage(Scalar::ofDouble(v), d));
  while (out.size() < kCount) out.push_back(random() >> (random() % 64));
  std::shuffle(out.begin(), out.end(), random);
  for (uint64_t& v : out) v = d == DType::Bool ? v & 1 : width == 64 ? v : v & ((uint64_t{1} << width) - 1);
  return out;
}

struct Column {
  DType dtype;
  std::vector<uint64_t> bits;
  std::vector<std::byte> memory;

  Column(DType d, std::vector<uint64_t> b) : dtype(d), bits(std::move(b)), memory(kCount * byteSize(d)) {
    for (size_t i = 0; i < bits.size(); ++i) std::memcpy(&memory[i * byteSize(d)], &bits[i], byteSize(d));
  }
  explicit Column(DType d) : dtype(d), memory(kCount * byteSize(d)) {}
  Scalar at(size_t i) const {
    uint64_t word = 0;
    std::memcpy(&word, &memory[i * byteSize(dtype)], byteSize(dtype));
    return uop::fromStorage(word, dtype);
  }
};

double spacing(double v, DType d) {
  const int digits = d == DType::F16 ? 11 : d == DType::BF16 ? 8 : d == DType::F32 ? 24 : 53, least = d == DType::F16 ? -24 : d == DType::F64 ? -1074 : -149;
  return std::ldexp(1.0, std::max(v == 0 ? least : std::ilogb(v) - digits + 1, least));
}

bool agrees(Op op, DType d, Scalar got, Scalar want) {
  if (!isFloat(d)) return wrapTo(got.asInt(), d) == wrapTo(want.asInt(), d);
  const double a = got.asDouble(), b = want.asDouble();
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (a == b) return op == Op::Max || a != 0 || std::signbit(a) == std::signbit(b);
  if (!hasTrait(op, trait::Transcendental) || std::isinf(a) || std::isinf(b)) return false;
  return std::fabs(a - b) <= std::max(4 * spacing(b, d), op == Op::Sin ? 3e-7 : op == Op::Log2 ? 2e-8 : 0.0);
}

// out[i] = op(columns[i]); `fixed` makes that source a CONST of its first value.
Kernel kernelOf(Op op, std::span<const Column> columns, DType result, int fixed) {
  Program program;
  Graph& g = program.graph;
  const Dim shape[] = {kCount};
  const NodeId i = g.range(int64_t{kCount}, 0, Kind::Loop);
  std::vector<NodeId> sources;
  for (size_t k = 0; k < columns.size(); ++k) {
    const NodeId at = g.indexInto(g.param(static_cast<int64_t>(k), columns[k].dtype, shape), std::span(&i, 1));
    sources.push_back(static_cast<int>(k) == fixed ? g.constant(columns[k].dtype, columns[k].at(0)) : g.load(at));
  }
  const NodeId value = op == Op::Cast || op == Op::Bitcast ? g.make(op, sources, Attrs().set(AttrKey::DTypeKey, static_cast<int64_t>(result))) : g.make(op, sources);
  const NodeId store = g.store(g.indexInto(g.param(static_cast<int64_t>(columns.size()), result, shape), std::span(&i, 1)), value);
  const NodeId body = g.end(store, std::span(&i, 1));
  return Kernel(std::move(program), body);
}

void compare(Op op, std::vector<Column>& columns, DType result, int fixed = -1) {
  Column out(result);
  std::vector<void*> places;
  const Kernel kernel = kernelOf(op, columns, result, fixed);
  Runner run(kernel);
  for (NodeId place : run.source.places) {
    const auto slot = static_cast<size_t>(kernel.program.graph.attr(place, AttrKey::Slot));
    places.push_back(slot == columns.size() ? out.memory.data() : columns[slot].memory.data());
  }
  run(places);
  const DType operand = columns.back().dtype;
  size_t wrong = 0;
  for (size_t i = 0; i < kCount && wrong < 3; ++i) {
    std::vector<Scalar> in;
    for (size_t k = 0; k < columns.size(); ++k) in.push_back(columns[k].at(static_cast<int>(k) == fixed ? 0 : i));
    const Scalar want = evalOp(op, operand, result, in), got = out.at(i);
    if (op == Op::Sin && std::fabs(in[0].asDouble()) > 1e6) continue;
    if (agrees(op, result, got, want)) continue;
    ++wrong;
    std::string text = fmt::format("{} {} -> {}:", name(op), name(operand), name(result));
    for (size_t k = 0; k < in.size(); ++k) text += " " + scalarText(in[k], columns[k].dtype);
    FAIL_CHECK(text << " gives " << scalarText(got, result) << ", not " << scalarText(want, result) << "\n" << run.source.text);
  }
}

bool defined(Op op, DType d) {
  switch (info(op).rule) {
    case TypeRule::Number: return d != DType::Bool;
    case TypeRule::Float: return isFloat(d);
    case TypeRule::Integer: return isInteger(d);
    case TypeRule::IntegerOrBool: return !isFloat(d);
    case TypeRule::Cast:
    case TypeRule::Bitcast: return false;
    default: return hasTrait(op, trait::Elementwise);
  }
}

// x op x, and x op the ends of its dtype on either side: what compilers like to warn about.
std::vector<Kernel> edgeKernels(Op op, DType d) {
  std::vector<Scalar> ends = {zeroOf(d), oneOf(d)};
  if (isFloat(d)) ends.insert(ends.end(), {Scalar::ofDouble(-INFINITY), Scalar::ofDouble(NAN), Scalar::ofDouble(-0.0)});
  else ends.insert(ends.end(), {Scalar::ofInt(minValue(d)), Scalar{maxValue(d)}});
  std::vector<Kernel> out;
  for (size_t variant = 0; variant <= 3 * ends.size(); ++variant) {
    Program program;
    Graph& g = program.graph;
    const Dim shape[] = {4};
    const NodeId i = g.range(int64_t{4}, 0, Kind::Loop);
    const NodeId x = g.load(g.indexInto(g.param(0, d, shape), std::span(&i, 1)));
    const NodeId end = variant == 0 ? x : g.constant(d, ends[(variant - 1) / 3]);
    const NodeId value = variant % 3 == 1 ? g.binary(op, x, end) : variant % 3 == 2 ? g.binary(op, end, x) : g.binary(op, end, end);
    const NodeId store = g.store(g.indexInto(g.param(1, g.dtype(value), shape), std::span(&i, 1)), value);
    const NodeId body = g.end(store, std::span(&i, 1));
    out.emplace_back(std::move(program), body);
  }
  return out;
}

}  // namespace

TEST_CASE("no compiler warns about ends of dtypes or equal operands") {
  std::vector<KernelSource> sources;
  for (size_t i = 0; i < kOpCount; ++i) {
    const Op op = static_cast<Op>(i);
    if (info(op).minSrc != 2 || !hasTrait(op, trait::Elementwise)) continue;
    for (DType d : kTypes) {
      if (!defined(op, d) || (op == Op::Add && d == DType::Bool)) continue;
      for (const Kernel& kernel : edgeKernels(op, d)) sources.push_back(kernel.emit(fmt::format("k{}", sources.size())).value());
    }
  }
  testing::checkWarningFree(emitTranslationUnit(sources), "edges");
}

TEST_CASE("every element-wise op on every dtype, as the format means it") {
  for (size_t i = 0; i < kOpCount; ++i) {
    const Op op = static_cast<Op>(i);
    for (DType d : kTypes) {
      if (!defined(op, d)) continue;
      std::vector<Column> columns;
      if (info(op).rule == TypeRule::Where) columns.emplace_back(DType::Bool, samples(DType::Bool, 3));
      while (columns.size() < info(op).minSrc) columns.emplace_back(d, samples(d, 10 + columns.size()));
      const bool compares = info(op).rule == TypeRule::Compare;
      compare(op, columns, compares ? DType::Bool : d);
      if (d != DType::I32 && d != DType::U8 && d != DType::F32 && d != DType::F16 && d != DType::Bool) continue;
      for (size_t k = 0; k < columns.size() && columns.size() > 1; ++k) compare(op, columns, compares ? DType::Bool : d, static_cast<int>(k));
    }
  }
}

TEST_CASE("CAST between all dtypes") {
  for (DType from : kTypes)
    for (DType to : kTypes) {
      std::vector<Column> columns;
      columns.emplace_back(from, samples(from, 5));
      compare(Op::Cast, columns, to);
    }
}

TEST_CASE("BITCAST between dtypes of one size") {
  for (DType from : kTypes)
    for (DType to : kTypes) {
      if (from == DType::Bool || to == DType::Bool || byteSize(from) != byteSize(to)) continue;
      std::vector<Column> columns;
      columns.emplace_back(from, samples(from, 5));
      if (isFloat(from))  // payloads of NaNs pass through CPU and prelude as they like
        for (size_t i = 0; i < kCount; ++i)
          if (std::isnan(columns[0].at(i).asDouble())) std::memset(&columns[0].memory[i * byteSize(from)], 0, byteSize(from));
      compare(Op::Bitcast, columns, to);
    }
}

}  // namespace uop::cstyle
