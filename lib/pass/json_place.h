// JSON of pipelines: reading with the place of a syntax error, values as messages show them, option types.
#pragma once
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "support/diagnostics.h"

namespace uop {

// No key twice, bounded depth. Reports Diag::JsonSyntax with line and column.
std::optional<nlohmann::ordered_json> readJson(const SourceBuffer& source, Diagnostics& diags);

// The value as text, cut short.
std::string shortJson(const nlohmann::ordered_json& value);

// Types of OptionSpec.
bool hasType(const nlohmann::ordered_json& value, std::string_view type);
std::string_view typeText(std::string_view type);  // "an integer"

}  // namespace uop
