#include "cmd/uopc/list_rules.h"

#include <fmt/format.h>

#include "passes/rules.h"

namespace uop::uopc {

std::string rulesText() {
  std::string out;
  for (const RuleSetInfo& set : ruleSets()) {
    out += fmt::format("{}: {}\n", set.name, set.help);
    for (const Rule& r : set.rules()) {
      std::string guards;
      for (const std::string& g : r.guards) guards += (guards.empty() ? "  if " : ", ") + g;
      out += fmt::format("    {:28} {} -> {}{}{}\n", r.name, r.match, r.replace, guards, r.fastOnly ? "  (fast)" : "");
    }
  }
  return out;
}

}  // namespace uop::uopc
