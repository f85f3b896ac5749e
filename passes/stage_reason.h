// Why a value becomes memory. A STAGE that the compiler made carries the reason as a dotted key, so that every dump shows it
// and later passes know that it is theirs to decide; a STAGE without one is a boundary that the user asked for.
#pragma once
#include <span>
#include <string_view>

#include "passes/passes.h"

namespace uop {

NodeId stageBecause(Graph&, NodeId value, std::span<const NodeId> ranges, Space, std::string_view reason);

// A STAGE of `value` with the attributes of `like`.
NodeId stageLike(Graph&, NodeId like, NodeId value, std::span<const NodeId> ranges);

// "" for a STAGE that is the user's.
std::string_view stageReason(const Graph&, NodeId stage);

// One remark a reason: "staged 3: used at several indices".
void remarkStages(const Program&, std::string_view verb, PassContext&);

}  // namespace uop
