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

std::string statsText(const std::vector<PassRecord>& records, const std::vector<TraceSlice>& stages) {
  std::string out = fmt::format("{:24} {:>10} {:>10} {:>10}\n", "pass", "ms", "nodes in", "nodes out");
  double total = 0;
  for (const PassRecord& r : records) {
    total += r.durationUs;
    out += fmt::format("{:24} {:>10.3f} {:>10} {:>10}\n", r.instance, r.durationUs * 1e-3, r.nodesIn, r.nodesOut);
    std::vector<std::pair<std::string, uint64_t>> hits(r.hits.begin(), r.hits.end());
    std::ranges::stable_sort(hits, std::greater{}, &std::pair<std::string, uint64_t>::second);
    for (const auto& [rule, count] : hits) out += fmt::format("    {:>8} {}\n", count, rule);
  }
  out += fmt::format("{:24} {:>10.3f}\n", "passes", total * 1e-3);
  double clang = 0;
  size_t compiled = 0, cached = 0;
  for (const TraceSlice& s : stages) {
    if (s.category == "stage") out += fmt::format("{:24} {:>10.3f}\n", s.name, s.durationUs * 1e-3);
    if (s.category == "cached") ++cached;
    if (s.category == "clang") ++compiled, clang += s.durationUs;
  }
  return out + fmt::format("objects: {} from the cache, {} compiled in {:.3f} ms of Clang's time\n", cached, compiled, clang * 1e-3);
}

Trace timeTrace(const std::vector<PassRecord>& records, double passesStart, const std::vector<TraceSlice>& stages) {
  Trace trace;
  for (const PassRecord& r : records)
    trace.add({r.instance, "pass", passesStart + r.startUs, r.durationUs, 0, {{"nodes in", static_cast<double>(r.nodesIn)}, {"nodes out", static_cast<double>(r.nodesOut)}}});
  for (const TraceSlice& s : stages) trace.add(s);
  return trace;
}

}  // namespace uop::uopc
