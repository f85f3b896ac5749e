#include "cmd/uopc/lists.h"

#include <fmt/format.h>

#include <algorithm>

#include "pass/form.h"
#include "passes/passes.h"

namespace uop::uopc {
namespace {

std::string optionsText(const PassInfo& pass) {
  std::string out;
  for (const OptionSpec& o : pass.options) out += fmt::format("    {}: {} = {}\n        {}\n", o.name, o.type, o.def, o.help);
  return out;
}

std::string formsText(const PassInfo& pass) {
  if (pass.needs == Form::Any && pass.leaves == Form::Any) return "keeps the program's form, whichever it is";
  return fmt::format("needs {}, leaves {}", describeForm(pass.needs), describeForm(pass.leaves));
}

}  // namespace

std::string passesText() {
  std::string out;
  for (const PassInfo& p : passes()) out += fmt::format("{}\n    {}\n    {}\n{}", p.name, p.help, formsText(p), optionsText(p));
  return out;
}

Result<std::string> describeText(std::string_view name) {
  name = name.substr(0, name.find('#'));
  if (const PassInfo* p = findPass(passes(), name)) return fmt::format("{}: {}\n  {}\n{}", p->name, p->help, formsText(*p), p->options.empty() ? "" : "  options\n" + optionsText(*p));
  std::vector<std::string_view> names;
  for (const PassInfo& p : passes()) names.push_back(p.name);
  return fail(Diag::Usage, fmt::format("there is no pass '{}'{}", name, suggest(name, names)));
}

std::string statsText(const std::vector<PassRecord>& records) {
  std::string out = fmt::format("{:24} {:>10} {:>10} {:>10}\n", "pass", "ms", "nodes in", "nodes out");
  double total = 0;
  for (const PassRecord& r : records) {
    total += r.durationUs;
    out += fmt::format("{:24} {:>10.3f} {:>10} {:>10}\n", r.instance, r.durationUs * 1e-3, r.nodesIn, r.nodesOut);
    std::vector<std::pair<std::string, uint64_t>> hits(r.hits.begin(), r.hits.end());
    std::ranges::stable_sort(hits, std::greater{}, &std::pair<std::string, uint64_t>::second);
    for (const auto& [rule, count] : hits) out += fmt::format("    {:>8} {}\n", count, rule);
  }
  return out + fmt::format("{:24} {:>10.3f}\n", "total", total * 1e-3);
}

Trace timeTrace(const std::vector<PassRecord>& records) {
  Trace trace;
  for (const PassRecord& r : records)
    trace.add({r.instance, "pass", r.startUs, r.durationUs, 0, {{"nodes in", static_cast<double>(r.nodesIn)}, {"nodes out", static_cast<double>(r.nodesOut)}}});
  return trace;
}

}  // namespace uop::uopc
