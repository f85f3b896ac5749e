#include "pass/pipeline.h"

#include <fmt/format.h>

#include <algorithm>

#include "pass/form.h"
#include "pass/json_place.h"

namespace uop {
namespace {

using Json = nlohmann::ordered_json;
constexpr std::array<std::string_view, 3> kFpNames = {"strict", "default", "fast"};
constexpr size_t kMaxSteps = 10'000;
constexpr int kMaxRepeatDepth = 8;

std::vector<std::string_view> passNames(PassTable table) {
  std::vector<std::string_view> names;
  for (const PassInfo& p : table) names.push_back(p.name);
  return names;
}

// One reading of a file; every method reports what is wrong and goes on.
class Reader {
 public:
  Reader(PassTable table, Diagnostics& diags) : table_(table), diags_(diags) {}

  Pipeline read(const Json& top) {
    if (!top.is_object()) return wrong("pipeline", "an object", top), Pipeline{};
    checkKeys("", top, {"version", "name", "target", "fp", "passes"});
    version(top);
    if (auto it = top.find("name"); it != top.end()) pipeline_.name = text("name", *it);
    if (auto it = top.find("target"); it != top.end()) pipeline_.target = text("target", *it);
    if (auto it = top.find("fp"); it != top.end()) fp(*it);
    auto passes = top.find("passes");
    if (passes == top.end())
      problem("passes", "is missing: a list of passes is expected");
    else
      pipeline_.items = list("passes", *passes, 0);
    if (!diags_.errorCount()) checkForms(pipeline_.items, Form::Tensor);
    return std::move(pipeline_);
  }

 private:
  void problem(std::string_view place, std::string_view what) { diags_.report(Diag::PipelineError, {}, place, what); }
  void wrong(std::string_view place, std::string_view expected, const Json& found) {
    problem(place, fmt::format("expected {}, found {}", expected, shortJson(found)));
  }
  std::string text(std::string_view place, const Json& v) {
    if (v.is_string()) return v.get<std::string>();
    wrong(place, "a string", v);
    return "";
  }

  void checkKeys(const std::string& place, const Json& object, std::vector<std::string_view> known) {
    for (const auto& [key, value] : object.items())
      if (std::ranges::find(known, key) == known.end())
        problem(place.empty() ? key : place + "." + key, fmt::format("is not known here{}", suggest(key, known)));
  }

  void version(const Json& top) {
    auto it = top.find("version");
    if (it == top.end()) return problem("version", "is missing: 1 is expected");
    if (!it->is_number_integer() || *it != Pipeline::kVersion) wrong("version", "1, the version that this program reads", *it);
  }

  void fp(const Json& v) {
    auto found = v.is_string() ? std::ranges::find(kFpNames, v.get<std::string>()) : kFpNames.end();
    if (found == kFpNames.end()) return wrong("fp", "\"strict\", \"default\" or \"fast\"", v);
    pipeline_.fp = static_cast<FpMode>(found - kFpNames.begin());
  }

  std::vector<PipelineItem> list(const std::string& place, const Json& v, int depth) {
    std::vector<PipelineItem> items;
    if (!v.is_array()) return wrong(place, "a list of passes", v), items;
    for (size_t i = 0; i < v.size() && !diags_.full(); ++i) {
      if (pipeline_.steps.size() >= kMaxSteps) return problem(place, fmt::format("holds more than {} passes", kMaxSteps)), items;
      std::string at = fmt::format("{}[{}]", place, i);
      if (v[i].is_object() && v[i].contains("repeat"))
        items.push_back(repeat(at, v[i], depth));
      else
        items.push_back(pass(at, v[i]));
    }
    return items;
  }

  PipelineItem repeat(const std::string& place, const Json& v, int depth) {
    PipelineItem item{pipeline_.steps.size(), {}, 8};
    checkKeys(place, v, {"repeat"});
    const Json& r = v["repeat"];
    std::string at = place + ".repeat";
    if (!r.is_object()) return wrong(at, "an object with \"until\", \"limit\" and \"passes\"", r), item;
    if (depth >= kMaxRepeatDepth) return problem(at, fmt::format("is nested more than {} deep", kMaxRepeatDepth)), item;
    checkKeys(at, r, {"until", "limit", "passes"});
    if (auto it = r.find("until"); it != r.end() && *it != "fixed-point") wrong(at + ".until", "\"fixed-point\"", *it);
    if (auto it = r.find("limit"); it != r.end()) {
      if (!it->is_number_integer() || *it < 1 || *it > 1'000'000)
        wrong(at + ".limit", "an integer from 1 to 1000000", *it);
      else
        item.limit = it->get<int64_t>();
    }
    if (auto it = r.find("passes"); it != r.end())
      item.body = list(at + ".passes", *it, depth + 1);
    else
      problem(at + ".passes", "is missing: a list of passes is expected");
    return item;
  }

  // {"pass": NAME, OPTION: value…}, or NAME alone.
  PipelineItem pass(const std::string& place, const Json& v) {
    PipelineItem item{pipeline_.steps.size(), {}, 0};
    std::string name;
    if (v.is_string()) {
      name = v.get<std::string>();
    } else if (v.is_object() && v.contains("pass")) {
      if (name = text(place + ".pass", v["pass"]); name.empty()) return item;
    } else {
      return wrong(place, "a pass, {\"pass\": NAME, …}, or {\"repeat\": …}", v), item;
    }
    const PassInfo* info = findPass(table_, name);
    if (!info) return problem(v.is_string() ? place : place + ".pass", fmt::format("there is no pass '{}'{}", name, suggest(name, passNames(table_)))), item;
    size_t count = 1 + static_cast<size_t>(std::ranges::count_if(pipeline_.steps, [&](const PassStep& s) { return s.pass == info; }));
    pipeline_.steps.push_back({info, count == 1 ? name : fmt::format("{}#{}", name, count), options(place, *info, v), place});
    return item;
  }

  PassOptions options(const std::string& place, const PassInfo& info, const Json& v) {
    size_t before = diags_.errorCount();
    Json values = Json::object();
    std::vector<std::string_view> known = {"pass"};
    for (const OptionSpec& spec : info.options) {
      known.push_back(spec.name);
      values[std::string(spec.name)] = Json::parse(spec.def);
      auto given = v.is_object() ? v.find(spec.name) : v.end();
      if (!v.is_object() || given == v.end()) continue;
      if (!hasType(*given, spec.type))
        wrong(fmt::format("{}.{}", place, spec.name), typeText(spec.type), *given);
      else
        values[std::string(spec.name)] = *given;
    }
    if (v.is_object()) checkKeys(place, v, known);
    PassOptions result(std::move(values));
    if (info.check && diags_.errorCount() == before)
      if (auto ok = info.check(result, place); !ok) diags_.add(ok.error());
    return result;
  }

  Form checkForms(const std::vector<PipelineItem>& items, Form have) {
    for (const PipelineItem& item : items) {
      if (item.isRepeat()) {
        // The second round starts from what the first one left.
        Form first = checkForms(item.body, have);
        if (first != have && !diags_.errorCount()) first = checkForms(item.body, first);
        have = first;
        continue;
      }
      const PassStep& step = pipeline_.steps[item.step];
      if (!satisfies(have, step.pass->needs)) {
        orderProblem(step, have);
        return have;
      }
      have = formAfter(have, step.pass->leaves);
    }
    return have;
  }

  void orderProblem(const PassStep& step, Form have) {
    std::string hint;
    for (const PassInfo& p : table_)
      if (p.leaves == step.pass->needs) hint = have < p.leaves ? fmt::format("; {} gives it", p.name) : "; it stands too late";
    problem(step.place, fmt::format("{} needs a program of form {}, but here it has form {}{}", step.instance, describeForm(step.pass->needs),
                                    describeForm(have), hint));
  }

  PassTable table_;
  Diagnostics& diags_;
  Pipeline pipeline_;
};

Form walkForms(const Pipeline& p, const std::vector<PipelineItem>& items, Form have, std::string_view instance, std::optional<Form>& found) {
  for (const PipelineItem& item : items) {
    if (item.isRepeat()) {
      have = walkForms(p, item.body, have, instance, found);
      continue;
    }
    if (!found && p.steps[item.step].instance == instance) found = have;
    have = formAfter(have, p.steps[item.step].pass->leaves);
  }
  return have;
}

}  // namespace

std::string_view fpModeName(FpMode mode) { return kFpNames[static_cast<size_t>(mode)]; }

const PassStep* Pipeline::find(std::string_view instance) const {
  auto it = std::ranges::find(steps, instance, &PassStep::instance);
  return it == steps.end() ? nullptr : &*it;
}

std::vector<std::string_view> Pipeline::instances() const {
  std::vector<std::string_view> names;
  for (const PassStep& s : steps) names.push_back(s.instance);
  return names;
}

std::optional<Pipeline> readPipeline(const SourceBuffer& source, PassTable table, Diagnostics& diags) {
  std::optional<Json> json = readJson(source, diags);
  if (!json) return std::nullopt;
  Pipeline pipeline = Reader(table, diags).read(*json);
  if (diags.errorCount()) return std::nullopt;
  if (pipeline.name.empty()) pipeline.name = source.name();
  return pipeline;
}

Form finalForm(const Pipeline& pipeline) {
  std::optional<Form> none;
  return walkForms(pipeline, pipeline.items, Form::Tensor, "", none);
}

Form formBefore(const Pipeline& pipeline, std::string_view instance) {
  std::optional<Form> found;
  walkForms(pipeline, pipeline.items, Form::Tensor, instance, found);
  return found.value_or(Form::Tensor);
}

}  // namespace uop
