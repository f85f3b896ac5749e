// A program made again with something left out or smaller; what follows from a changed shape follows.
#pragma once
#include <optional>

#include "ir/program.h"

namespace uop {

struct Edit {
  // One node becomes another: an earlier one, `kZero`, or from `kLeaf` on; kNoNode: none does.
  static constexpr NodeId kZero = kNoNode - 1;        // zeros of its type
  static constexpr NodeId kLeaves = 4, kLeaf = kNoNode - 1 - kLeaves;  // a PARAM of its type; its name, and so what it is bound to, differs
  NodeId from = kNoNode, to = kNoNode;
  // One node loses these sources.
  NodeId less = kNoNode;
  size_t first = 0, count = 0;
  // Axes and loops of `size` shrink to `smaller`.
  Dim size = -1, smaller = -1;
  // One PAD adds nothing.
  NodeId unpadded = kNoNode;
};

// `p` is compacted, and so is what comes back; nullopt where the edit breaks the format.
std::optional<Program> rebuilt(const Program& p, const Edit& edit);

}  // namespace uop
