// Changing and printing a pipeline.
#include <fmt/format.h>

#include <charconv>

#include "pass/json_place.h"
#include "pass/pipeline.h"

namespace uop {
namespace {

using Json = nlohmann::ordered_json;

std::optional<Json> parseValue(std::string_view text, std::string_view type) {
  if (type == "string") return Json(std::string(text));
  if (type == "strings" && !text.starts_with('[')) {
    Json items = Json::array();
    for (size_t at = 0; at <= text.size() && !text.empty();) {
      size_t end = std::min(text.find(',', at), text.size());
      items.push_back(std::string(text.substr(at, end - at)));
      at = end + 1;
    }
    return items;
  }
  SourceBuffer source("--set", std::string(text));
  Diagnostics ignored;
  auto value = readJson(source, ignored);
  if (value && hasType(*value, type)) return value;
  return std::nullopt;
}

void printItems(const Pipeline& p, const std::vector<PipelineItem>& items, int indent, std::string& out) {
  std::string pad(static_cast<size_t>(indent), ' ');
  for (size_t i = 0; i < items.size(); ++i) {
    const PipelineItem& item = items[i];
    if (item.isRepeat()) {
      out += fmt::format("{}{{ \"repeat\": {{ \"until\": \"fixed-point\", \"limit\": {}, \"passes\": [\n", pad, item.limit);
      printItems(p, item.body, indent + 2, out);
      out += pad + "] } }";
    } else {
      const PassStep& step = p.steps[item.step];
      out += fmt::format("{}{{ \"pass\": {}", pad, Json(std::string(step.pass->name)).dump());
      for (const auto& [key, value] : step.options.all().items()) out += fmt::format(", {}: {}", Json(key).dump(), value.dump());
      out += " }";
    }
    out += i + 1 < items.size() ? ",\n" : "\n";
  }
}

}  // namespace

Result<void> setOption(Pipeline& pipeline, std::string_view assignment) {
  auto usage = [&](std::string text) { return fail(Diag::Usage, fmt::format("--set {}: {}", assignment, text)); };
  size_t equals = assignment.find('='), dot = assignment.find('.');
  if (equals == std::string_view::npos || dot == std::string_view::npos || dot > equals) return usage("expected PASS.option=value");
  std::string_view instance = assignment.substr(0, dot), option = assignment.substr(dot + 1, equals - dot - 1), text = assignment.substr(equals + 1);
  auto step = std::ranges::find(pipeline.steps, instance, &PassStep::instance);
  if (step == pipeline.steps.end())
    return usage(fmt::format("the pipeline '{}' has no pass '{}'{}", pipeline.name, instance, suggest(instance, pipeline.instances())));
  std::vector<std::string_view> names;
  for (const OptionSpec& spec : step->pass->options) names.push_back(spec.name);
  auto spec = std::ranges::find(step->pass->options, option, &OptionSpec::name);
  if (spec == step->pass->options.end())
    return usage(fmt::format("{} has no option '{}'{}", step->pass->name, option, suggest(option, names)));
  auto value = parseValue(text, spec->type);
  if (!value) return usage(fmt::format("expected {}, found '{}'", typeText(spec->type), text));
  Json values = step->options.all();
  values[std::string(option)] = *value;
  PassOptions changed(std::move(values));
  if (step->pass->check)
    if (auto ok = step->pass->check(changed, step->instance); !ok) return usage(ok.error().message);
  step->options = std::move(changed);
  return {};
}

std::string printPipeline(const Pipeline& pipeline) {
  auto quoted = [](const std::string& s) { return Json(s).dump(-1, ' ', false, Json::error_handler_t::replace); };
  std::string out = fmt::format("{{ \"version\": {}, \"name\": {},", Pipeline::kVersion, quoted(pipeline.name));
  if (!pipeline.target.empty()) out += fmt::format(" \"target\": {},", quoted(pipeline.target));
  out += fmt::format(" \"fp\": \"{}\",\n  \"passes\": [\n", fpModeName(pipeline.fp));
  printItems(pipeline, pipeline.items, 4, out);
  return out + "  ] }\n";
}

}  // namespace uop
