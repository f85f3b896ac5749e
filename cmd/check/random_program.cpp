#include "cmd/check/random_program.h"

#include "cmd/check/random_function.h"

namespace uop {
namespace {

Scalar draw(const Graph& g, NodeId n, uint64_t random) {
  DType d = g.dtype(n);
  Rng rng(random);
  if (isFloat(d)) return Scalar::ofDouble(static_cast<double>(rng.between(-4, 4)));
  if (d == DType::Bool) return Scalar::ofInt(rng.between(0, 1));
  if (g.hasAttr(n, AttrKey::Min)) return Scalar::ofInt(rng.between(g.attr(n, AttrKey::Min), g.attr(n, AttrKey::Max)));
  if (rng.chance(80)) return Scalar::ofInt(wrapTo(rng.between(isUnsigned(d) ? 0 : -5, 9), d));
  return Scalar::ofInt(rng.chance(50) ? minValue(d) : static_cast<int64_t>(maxValue(d)));
}

}  // namespace

Program randomProgram(uint64_t seed, const RandomOptions& options) {
  RandomProgram made{{}, Rng(seed), options, 0, {}};
  if (made.rng.chance(options.largePercent)) made.options.maxElements = options.largeElements;
  made.program.results = FunctionWriter(made, 0).writeProgram();
  return compacted(made.program);
}

Arrays randomInputs(const Program& p, uint64_t seed) { return drawInputs(p, seed, draw); }

}  // namespace uop
