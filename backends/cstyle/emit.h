// A kernel body (see schedule/loop_tree.h for its form) as one C11 function
//
//   void SYMBOL(void *const *places, const int64_t *scalars, int64_t task, void *scratch)
//
// places[k] is the memory of KernelSource::places[k]; scalars[k] the value of KernelSource::scalars[k]: integers extended
// to 64 bits, floats as their storage bits in the low bytes. Each task of the grid may run on any thread, with `scratch`
// (64-byte aligned) to itself.
#pragma once
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"

namespace uop::cstyle {

struct EmitOptions {
  int64_t stackLimit = 16 * 1024;  // bytes of local arrays a function may hold; more goes to scratch
  bool grid = true;                // outermost thread and global loops become tasks
};

struct KernelSource {
  std::string symbol, text;      // text: this function only
  std::vector<NodeId> places;    // PARAM nodes by slot
  std::vector<NodeId> scalars;   // the same of rank 0
  std::set<std::string_view> preludeUsed;
  int64_t tasks = 1;                // -1: the product of taskBounds, which only the arguments tell
  std::vector<NodeId> taskBounds;   // of the loops that became the grid, outermost first: CONSTs, scalars and arithmetic
  int64_t scratchBytes = 0;         // a task
  uint64_t flops = 0;               // all tasks; where a bound is not constant, its greatest value
  uint64_t bytes = 0;               // of arguments, each element counted once for reading and once for writing
};

Result<KernelSource> emitKernel(const Graph&, NodeId body, std::string_view symbol, const EmitOptions& = {});

// The same function by another name.
void renameKernel(KernelSource&, std::string_view symbol);

// The helpers that the kernels use, then the kernels: stands alone.
std::string emitTranslationUnit(std::span<const KernelSource>);

}  // namespace uop::cstyle
