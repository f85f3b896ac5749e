// JSON from strangers: no key twice, bounded depth, the error as a value. (nlohmann's parser builds iteratively, but a deep
// tree costs stack where it is copied or printed.)
#pragma once
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "support/diagnostics.h"

namespace uop {

constexpr size_t kMaxJsonDepth = 64;

// Errors: Diag::JsonSyntax, with the parser's account of where.
template <class Json>
Result<Json> parseJson(std::string_view text) {
  std::vector<std::set<std::string>> keys;
  std::string wrong;
  auto watch = [&](int, typename Json::parse_event_t event, Json& value) {
    using Event = typename Json::parse_event_t;
    bool opens = event == Event::object_start || event == Event::array_start;
    if (opens && keys.size() >= kMaxJsonDepth) wrong = "nested too deep";
    if (!wrong.empty()) return false;
    if (opens) keys.emplace_back();
    if ((event == Event::object_end || event == Event::array_end) && !keys.empty()) keys.pop_back();
    if (event == Event::key && !keys.empty() && !keys.back().insert(value.template get<std::string>()).second)
      wrong = "key '" + value.template get<std::string>() + "' stands twice";
    return wrong.empty();
  };
  try {
    Json value = Json::parse(text.begin(), text.end(), watch);
    if (!wrong.empty()) return fail(Diag::JsonSyntax, wrong);
    return value;
  } catch (const typename Json::exception& e) {
    std::string_view what = e.what();
    if (size_t end = what.find("] "); end != std::string_view::npos) what.remove_prefix(end + 2);
    return fail(Diag::JsonSyntax, wrong.empty() ? std::string(what) : wrong);
  }
}

}  // namespace uop
