// C to object code with Clang in this process: nothing is spawned, no file is read or written.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "backends/cpu/target.h"
#include "support/diagnostics.h"

namespace uop::cpu {

enum class Emit : uint8_t { Object, LlvmIr, Assembly, Bitcode };

struct CompileOptions {
  unsigned optLevel = 2;  // 0 … 3, as clang's -O
  Emit emit = Emit::Object;
};

struct CompiledObject {
  std::string bytes;  // or text, for LlvmIr and Assembly
};

// `name` is the module's name; the object carries it as "name.c" and holds nothing else of the place or the time.
//
// The source sees <stdint.h>, <stdbool.h> and <stddef.h> and no other header. Floats are as written: no contraction, no
// reassociation, no errno. Aliasing is by `restrict` only, types don't matter. What is not marked
// __attribute__((visibility("default"))) stays inside the object's library. A loop may become a call of memcpy, memmove
// or memset, which Jit and the loader resolve; no other function is called that the source does not call.
//
// The source is ours: one that does not compile is an internalError with Clang's messages. Safe from several threads.
Result<CompiledObject> compileC(std::string_view source, std::string_view name, const CpuTarget& target,
                                CompileOptions options = {});

// Everything that compileC's bytes depend on beside source and name, as text: equal texts, equal bytes.
std::string compileIdentity(const CpuTarget& target, CompileOptions options = {});

std::string llvmVersion();   // "19.1.7"
std::string clangVersion();  // with the distribution's own part, as Clang writes it

}  // namespace uop::cpu
