// For tests: kernel bodies from text.
#pragma once
#include "ir/testing.h"

namespace uop::testing {

struct Body {
  Program program;
  NodeId node;  // the result, or a SINK of several
};

inline Body parsedBody(const std::string& text) {
  Program program = read(text);
  std::vector<NodeId> roots = program.roots();
  const NodeId node = roots.size() == 1 ? roots[0] : program.graph.make(Op::Sink, roots);
  return {std::move(program), node};
}

}  // namespace uop::testing
