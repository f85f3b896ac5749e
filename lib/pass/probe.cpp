#include "pass/probe.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "ir/functions.h"
#include "pass/compare.h"
#include "support/hash.h"

namespace uop {
namespace {

// Floats uniform in [-1, 1), integers in min…max or 0…9, as uoprun --random.
Scalar drawUniform(const Graph& g, NodeId id, uint64_t random) {
  DType d = g.dtype(id);
  if (isFloat(d)) return Scalar::ofDouble(roundTo(static_cast<double>(random >> 40) / (1 << 23) - 1.0, d));
  if (d == DType::Bool) return Scalar::ofInt(static_cast<int64_t>(random >> 63));
  int64_t least = g.attr(id, AttrKey::Min, 0), most = g.attr(id, AttrKey::Max, std::max<int64_t>(least, 9));
  uint64_t span = static_cast<uint64_t>(most) - static_cast<uint64_t>(least) + 1;
  return Scalar::ofInt(wrapTo(static_cast<int64_t>(static_cast<uint64_t>(least) + (span ? random % span : random)), d));
}

std::string compareMaps(std::string_view kind, const Arrays& got, const Arrays& want, int64_t terms) {
  for (const auto& [name, w] : want) {
    auto g = got.find(name);
    if (g == got.end()) continue;  // a BUFFER that is not written any more keeps its contents
    auto view = [](const Array& a) { return ArrayView{a.dtype, a.shape, a.data}; };
    if (auto d = compareArrays(view(g->second), view(w), terms)) return fmt::format("{} '{}' {}", kind, name, d->text);
  }
  return "";
}

}  // namespace

Arrays drawInputs(const Program& program, uint64_t seed, Scalar (*draw)(const Graph&, NodeId, uint64_t)) {
  const Graph& g = program.graph;
  auto roots = program.roots();
  std::vector<NodeId> inputs = Functions(g).of(roots).params;
  for (NodeId id : cone(g, roots, true))
    if (g.op(id) == Op::Buffer) inputs.push_back(id);
  Arrays arrays;
  for (NodeId id : inputs) {
    std::string name = bindingName(g, id);
    Array a{g.dtype(id), {g.shape(id).begin(), g.shape(id).end()}, {}};
    size_t size = byteSize(a.dtype);
    auto count = static_cast<size_t>(g.elements(id));
    a.data.resize(count * size);
    for (size_t i = 0; i < count; ++i) {
      uint64_t bits = toStorage(draw(g, id, hashBytes(name.data(), name.size(), hashMix(seed, i))), a.dtype);
      std::memcpy(a.data.data() + i * size, &bits, size);
    }
    arrays.emplace(std::move(name), std::move(a));
  }
  return arrays;
}

Arrays drawInputs(const Program& program, uint64_t seed) { return drawInputs(program, seed, drawUniform); }

std::string compareResults(const InterpResult& got, const InterpResult& want, int64_t terms) {
  if (auto text = compareMaps("result", got.results, want.results, terms); !text.empty()) return text;
  return compareMaps("BUFFER", got.buffers, want.buffers, terms);
}

std::string compareRuns(std::string_view textBefore, const Program& after, uint64_t seed) {
  SourceBuffer source("before", std::string(textBefore));
  Diagnostics diags(&source);
  auto before = readProgram(source, diags);
  if (!before) return "the program before the pass does not read back:\n" + diags.render();
  Arrays inputs = drawInputs(*before, seed);
  auto want = interpret(*before, inputs);
  if (!want) return "";  // the inputs do not suit the program, which says nothing about the pass
  auto got = interpret(after, inputs);
  if (!got) return "the interpreter fails after it: " + got.error().message;
  return compareResults(*got, *want, longestReduce(*before));
}

}  // namespace uop
