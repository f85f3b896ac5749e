#include "pass/json_place.h"

#include <algorithm>
#include <set>
#include <vector>

namespace uop {
namespace {

using Json = nlohmann::ordered_json;
constexpr size_t kMaxDepth = 64;  // of nesting: reading is iterative, but printing and freeing recurse

Loc locate(std::string_view text, size_t byte) {
  std::string_view before = text.substr(0, std::min(byte, text.size()));
  size_t lineStart = before.rfind('\n');
  return {static_cast<uint32_t>(1 + std::ranges::count(before, '\n')),
          static_cast<uint32_t>(1 + (lineStart == std::string_view::npos ? before.size() : before.size() - lineStart - 1))};
}

// Tells of the nesting without building anything, so that a deep file costs nothing.
bool tooDeep(std::string_view text, size_t& at) {
  size_t depth = 0;
  bool quoted = false;
  for (at = 0; at < text.size(); ++at) {
    char c = text[at];
    if (quoted) {
      if (c == '\\') ++at;
      if (c == '"') quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kMaxDepth) return true;
    } else if ((c == ']' || c == '}') && depth) {
      --depth;
    }
  }
  return false;
}

// "…syntax error while parsing value - unexpected '}'; expected…" without the parser's own account of the place.
std::string reason(std::string_view what) {
  if (size_t at = what.find(": "); at != std::string_view::npos) what.remove_prefix(at + 2);
  if (size_t at = what.find(" - "); at != std::string_view::npos) what.remove_prefix(at + 3);
  return std::string(what);
}

}  // namespace

std::optional<Json> readJson(const SourceBuffer& source, Diagnostics& diags) {
  std::string_view text = source.text();
  if (size_t at; tooDeep(text, at)) return diags.report(Diag::JsonSyntax, locate(text, at), "nested too deep"), std::nullopt;
  std::vector<std::set<std::string>> keys;
  std::string twice;
  auto watch = [&](int, Json::parse_event_t event, Json& value) {
    using Event = Json::parse_event_t;
    if (event == Event::object_start || event == Event::array_start) keys.emplace_back();
    if ((event == Event::object_end || event == Event::array_end) && !keys.empty()) keys.pop_back();
    if (event == Event::key && !keys.empty() && !keys.back().insert(value.get<std::string>()).second) twice = value.get<std::string>();
    return true;
  };
  try {
    Json value = Json::parse(text, watch);
    if (twice.empty()) return value;
    diags.report(Diag::JsonSyntax, {}, "the key '" + twice + "' stands twice in one object");
  } catch (const Json::parse_error& e) {
    diags.report(Diag::JsonSyntax, locate(text, e.byte ? e.byte - 1 : 0), reason(e.what()));
  } catch (const Json::exception& e) {
    diags.report(Diag::JsonSyntax, {}, reason(e.what()));
  }
  return std::nullopt;
}

std::string shortJson(const Json& value) {
  std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  constexpr size_t kMax = 60;
  if (text.size() <= kMax) return text;
  size_t end = kMax;
  while (end && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end) + "…";
}

bool hasType(const Json& value, std::string_view type) {
  if (type == "int") return value.is_number_unsigned() ? value.get<uint64_t>() <= INT64_MAX : value.is_number_integer() && value.get<int64_t>() >= 0;
  if (type == "bool") return value.is_boolean();
  if (type == "string") return value.is_string();
  if (type == "strings") return value.is_array() && std::ranges::all_of(value, [](const Json& v) { return v.is_string(); });
  return value.is_array();  // "rules": checked by the pass
}

std::string_view typeText(std::string_view type) {
  if (type == "int") return "an integer of at least 0";
  if (type == "bool") return "true or false";
  if (type == "string") return "a string";
  if (type == "strings") return "a list of strings";
  return "a list of rules";
}

}  // namespace uop
