// An expression with some of its nodes replaced.
#pragma once
#include <unordered_map>

#include "ir/graph.h"

namespace uop {

using Substitution = std::unordered_map<NodeId, NodeId>;

// `root` with the nodes in `to` replaced; `to` gets all that was visited. `keys` are the RANGEs that lead to what is replaced:
// what is inside of none of them stays as it is. LOADs that change are gated by `gate` as well (kNoNode: by nothing); one of
// an element that provably is not there gives what its gate leaves.
NodeId substituted(Graph&, NodeId root, std::span<const NodeId> keys, Substitution& to, NodeId gate = kNoNode);

}  // namespace uop
