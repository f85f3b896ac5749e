// A number of tasks that depends on scalar arguments, as the manifest's expression.
#pragma once
#include <functional>
#include <span>

#include "ir/graph.h"
#include "runtime/amount.h"

namespace uop {

// The product of `bounds`, which are CONSTs, scalar PARAMs and arithmetic on them. `argument`: the manifest's index for a PARAM.
Amount gridAmount(const Graph& g, std::span<const NodeId> bounds, const std::function<int64_t(NodeId)>& argument);

}  // namespace uop
