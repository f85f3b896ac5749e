// Which CALLs can pass places alone, read and written as a whole, with the same results as their bodies in line.
#pragma once
#include <set>

#include "passes/inline_calls.h"

namespace uop {

// A body's arguments, in the order of the new slots.
struct BodyArguments {
  std::vector<NodeId> params;   // PARAMs by slot
  std::vector<NodeId> buffers;  // then what it uses of the program's storage
  std::vector<bool> written;    // of both
  bool fits = true;             // every one can be passed
};
BodyArguments bodyArguments(const Graph&, Functions&, NodeId body);

class CallSites {
 public:
  CallSites(const Program&, const std::unordered_map<NodeId, NodeId>& leaves);

  bool canPlace(NodeId call);
  // Those of the CALLs, all of which can be placed, that compute a reduction of the same arguments as another one: in line it is
  // computed once.
  std::unordered_set<NodeId> sharing(std::span<const NodeId> calls);
  const BodyArguments& arguments(NodeId call);
  // What the CALL passes, by new slot.
  std::vector<NodeId> given(NodeId call);
  // The place whose contents an argument is, if it is one as a whole: PARAM, BUFFER, ALLOC or STAGE, or a later version of it.
  NodeId wholePlace(NodeId argument) const;

 private:
  struct Write {
    NodeId effect, version;
  };
  using ArgumentSet = std::vector<bool>;  // by new slot

  void recordWrites(NodeId effect, bool atTop);
  bool canPass(NodeId argument) const;
  bool isStorage(NodeId argument) const;
  bool overlaps(NodeId call, const std::vector<NodeId>& given);
  bool isChain(NodeId base);
  const std::set<ArgumentSet>& reductions(NodeId call);
  bool follows(NodeId version, NodeId effect) const;

  const Graph& g_;
  const std::unordered_map<NodeId, NodeId>& leaves_;
  Functions functions_;
  std::vector<bool> inLoop_;                                 // effects that an END runs
  std::unordered_set<NodeId> tuplesAfter_;                   // CALLs of TUPLEs that an AFTER orders
  std::unordered_map<NodeId, std::vector<Write>> writes_;    // by base, ascending
  std::unordered_map<NodeId, bool> chains_;                  // by base: each write waits for the one before
  std::unordered_map<NodeId, BodyArguments> bodies_;
  std::unordered_map<NodeId, std::set<ArgumentSet>> reductions_;  // by body: what each REDUCE depends on
};

}  // namespace uop
