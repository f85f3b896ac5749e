// Nodes of one graph taken over by another, sources first. They were checked where they were made: nothing is inferred again.
#pragma once
#include "ir/graph.h"

namespace uop {

class GraphCopier {
 public:
  GraphCopier(const Graph& from, Graph& to) : from_(from), to_(to), now_(from.size(), kNoNode) {}
  NodeId copy(NodeId old);
  NodeId operator[](NodeId old) const { return now_[old]; }

 private:
  static constexpr uint32_t kUnknown = ~0u;
  struct KnownAttrs {
    Op op;  // which says what the words are
    AttrId now = kUnknown;
  };

  AttrId attrs(NodeId old);
  uint32_t list(uint32_t old);
  RangeSetId rangeSet(RangeSetId old);
  static uint32_t& slot(std::vector<uint32_t>& table, uint32_t at);

  const Graph& from_;
  Graph& to_;
  std::vector<NodeId> now_, sources_;
  std::vector<uint32_t> lists_, rangeSets_;  // by old id
  std::vector<KnownAttrs> attrs_;
};

}  // namespace uop
