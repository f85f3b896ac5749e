#include "pass/pass.h"

#include <array>

namespace uop {

std::string_view formName(Form form) {
  constexpr std::array<std::string_view, 7> names = {"any", "tensor", "canonical", "flat", "ranges", "kernels", "lowered"};
  return names[static_cast<size_t>(form)];
}

const nlohmann::ordered_json& PassOptions::json(std::string_view name) const {
  auto found = values_.find(name);
  if (found == values_.end()) internalError("a pass asks for the option '" + std::string(name) + "', which it does not declare");
  return *found;
}
int64_t PassOptions::integer(std::string_view name) const { return json(name).get<int64_t>(); }
bool PassOptions::boolean(std::string_view name) const { return json(name).get<bool>(); }
std::string PassOptions::string(std::string_view name) const { return json(name).get<std::string>(); }
std::vector<std::string> PassOptions::strings(std::string_view name) const { return json(name).get<std::vector<std::string>>(); }

const PassInfo* findPass(PassTable table, std::string_view name) {
  for (const PassInfo& pass : table)
    if (pass.name == name) return &pass;
  return nullptr;
}

}  // namespace uop
