#include "cmd/compiler/target.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace uop {
namespace {

struct Row {
  std::string_view name, help;
  bool built;
};
constexpr auto kTargets = std::to_array<Row>({
    {"cpu", "x86-64, through Clang and LLVM: cpu (this machine), cpu:NAME[,+feature,-feature]", true},
    {"interp", "the reference interpreter: the program is checked, nothing is compiled", true},
    {"opencl", "OpenCL C", false},
    {"cuda", "NVIDIA GPUs: cuda:sm_90", false},
    {"hip", "AMD GPUs: hip:gfx942", false},
});

}  // namespace

Result<TargetChoice> parseTargetChoice(std::string_view spec) {
  TargetChoice choice;
  choice.name = spec.substr(0, spec.find(':'));
  auto row = std::ranges::find(kTargets, choice.name, &Row::name);
  if (row == kTargets.end()) {
    std::vector<std::string_view> names;
    for (const Row& r : kTargets) names.push_back(r.name);
    return fail(Diag::Usage, fmt::format("there is no target '{}'{}", choice.name, suggest(choice.name, names)));
  }
  if (!row->built) return fail(Diag::Unsupported, fmt::format("target '{}': this build generates no code for {}", spec, row->name));
  if (choice.name != "cpu") {
    if (spec != choice.name) return fail(Diag::Usage, fmt::format("target '{}' takes nothing after its name", choice.name));
    return choice;
  }
  auto parsed = cpu::parseTarget(spec);
  if (!parsed) return std::unexpected(parsed.error());
  choice.cpu = std::move(*parsed);
  return choice;
}

std::string targetsText() {
  std::string out;
  for (const Row& r : kTargets) out += fmt::format("{:8} {}{}\n", r.name, r.help, r.built ? "" : " (not in this build)");
  out += fmt::format("this machine: {}\ncpu names:", cpu::targetSpec(cpu::hostTarget()));
  for (const auto& name : cpu::knownCpus()) out += " " + name;
  return out + "\n";
}

}  // namespace uop
