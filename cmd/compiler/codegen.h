// C functions to objects: a few each, compiled side by side, or taken from the user's cache of those compiled before.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backends/cpu/compile.h"
#include "backends/cstyle/emit.h"
#include "cmd/compiler/timeline.h"
#include "support/disk_cache.h"

namespace uop {

struct CodeUnit {
  std::string name, source;
};

// Few functions a unit, so that a program that changes in one place finds its others in the cache and that every core has
// work; not one each, since starting Clang costs 2 to 3 ms, a third of a usual kernel. Where units end is told by the
// functions' contents: what comes or goes changes the unit that it is in, and none further on.
std::vector<CodeUnit> makeUnits(std::span<const cstyle::KernelSource> sources);

struct CacheChoices {
  bool enabled = true;
  std::string folder;                  // "": "uopc" in the user's folder of caches
  uint64_t limit = uint64_t{512} << 20;  // bytes
};
// Null where there is none: not wanted, or no home to keep it in.
std::unique_ptr<DiskCache> openCache(const CacheChoices& choices);

// Of a unit's object: hex digits of a hash of the unit and of all that compiling it depends on (cpu::compileIdentity).
std::string objectKey(const CodeUnit& unit, std::string_view identity);

struct CodegenOptions {
  CacheChoices cache;
  Timeline* timeline = nullptr;  // gets a slice a unit, of category "clang" or "cached"
};

// Objects in the order of their units.
Result<std::vector<std::string>> compileUnits(std::span<const CodeUnit> units, const cpu::CpuTarget& target, unsigned optLevel, const CodegenOptions& options = {});

}  // namespace uop
