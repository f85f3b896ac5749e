// Replacements: terms → nodes, dtypes of literals from their neighbours, broadcasts explicit.
#pragma once
#include "rewrite/match.h"

namespace uop {

Result<NodeId> buildReplacement(Match&);

// The dtype that a term has by itself: a literal without like= has none.
std::optional<DType> termDType(const Match&, TermId);

}  // namespace uop
