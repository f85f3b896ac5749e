// A program: a graph and its named results.
#pragma once
#include <string>
#include <vector>

#include "ir/graph.h"

namespace uop {

struct ResultDef {
  std::string name;
  NodeId node;
};

struct Program {
  Graph graph;
  std::vector<ResultDef> results;
  std::vector<uint32_t> lines;  // by node id: where the text defines it; empty after a pass

  std::vector<NodeId> roots() const;

  // Tags: labels for kernel names, profiles and errors; never identity. A node keeps the first that it is given.
  bool hasTag(NodeId n) const { return n < tags_.size() && tags_[n] != 0; }
  std::string_view tag(NodeId n) const { return hasTag(n) ? graph.stringById(tags_[n] - 1) : ""; }
  void setTag(NodeId, std::string_view);
  // Gives the tags of old nodes to the new ones, now[old] or kNoNode.
  void moveTags(std::span<const NodeId> now);

 private:
  std::vector<uint32_t> tags_;  // by node id: 1 + a string of the graph, or 0
};

// The name by which a PARAM or BUFFER is bound: name=, or argN, bufN by slot.
std::string bindingName(const Graph&, NodeId);

// Points results and tags at new nodes, now[old].
void retarget(Program&, std::span<const NodeId> now);

// A copy that holds what the results reach and nothing more, ids in canonical order (post-order from the results,
// sources left to right): the order that printing and reading back gives. The pass manager calls it after each pass, so
// that compiling on from a dump and compiling in memory are the same.
Program compacted(const Program&);

// The canonical order itself: every node reached, CALL bodies included.
std::vector<NodeId> postOrder(const Graph&, std::span<const NodeId> roots);

// What one node reaches, bodies included, as a graph of its own and in the same order: tables by node id stay small there.
struct Excerpt {
  Graph graph;
  NodeId root = kNoNode;
  std::vector<NodeId> from;  // by node id: the node that it was
};
Excerpt excerpt(const Graph&, NodeId root);

// Elements that the longest REDUCE sums, at least 1.
int64_t longestReduce(const Program&);

// An END runs its STOREs in each iteration, in none if there is none, also those that have nothing of the loop in them
// (RANGE as an `if`). pinEffects() puts these behind an AFTER of the RANGE, which says so to every later analysis.
bool hasLooseEffects(const Program&);
void pinEffects(Program&);

// Reads a program, reporting every problem to `diags` (up to 20); nullopt if there was an error. Syntax, types, shapes,
// slots, loops and provable conflicts are checked: what it returns satisfies the format.
std::optional<Program> readProgram(const SourceBuffer&, Diagnostics& diags);

// Canonical text. A fixed point: reading and printing it again gives the same bytes.
std::string printProgram(const Program&);
// One node as a line of text with sources as %id, for messages and dumps.
std::string nodeText(const Graph&, NodeId);

// Function-level checks that no single node can make: slots, names, unordered STOREs, RANGEs closed twice. The reader
// runs it; the pass manager does under --verify-each. Reports at most 20 problems; a line comes from `lines` if there.
void verifyProgram(const Program&, Diagnostics&);

}  // namespace uop
