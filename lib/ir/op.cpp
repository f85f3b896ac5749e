#include "ir/op.h"

#include <algorithm>
#include <unordered_map>

namespace uop {
namespace {

struct AttrRow {
  std::string_view name;
  AttrType type;
};
constexpr auto kAttrs = std::to_array<AttrRow>({
#define ATTR(id, name, type) {name, AttrType::type},
#include "ir/attrs.def"
});

constexpr std::array<std::string_view, kOpCount> kNames = {
#define OP(id, name, ...) name,
#include "ir/ops.def"
};

constexpr AttrKey keyOf(std::string_view word) {
  for (size_t i = 0; i < kAttrs.size(); ++i)
    if (kAttrs[i].name == word) return static_cast<AttrKey>(i);
  throw "ops.def names an attribute that attrs.def lacks";
}

constexpr OpInfo makeInfo(std::string_view name, uint32_t minSrc, uint32_t maxSrc, std::string_view schema, TypeRule rule, uint16_t traits,
                          std::string_view c) {
  OpInfo out{name, minSrc, maxSrc, rule, traits, c, 0, {}, {}};
  while (!schema.empty()) {
    std::string_view word = schema.substr(0, schema.find(' '));
    schema.remove_prefix(std::min(word.size() + 1, schema.size()));
    out.optional[out.attrCount] = word.ends_with('?');
    if (word.ends_with('?')) word.remove_suffix(1);
    out.attrs[out.attrCount++] = keyOf(word);
  }
  return out;
}

constexpr std::array<OpInfo, kOpCount> makeInfos() {
  using namespace trait;
  return {
#define OP(id, name, least, most, attrs, rule, traits, c) makeInfo(name, least, most, attrs, TypeRule::rule, traits, c),
#include "ir/ops.def"
  };
}

constexpr auto makePositions() {
  std::array<std::array<int8_t, kAttrKeyCount>, kOpCount> out{};
  const auto rows = makeInfos();
  for (size_t op = 0; op < kOpCount; ++op) {
    out[op].fill(-1);
    for (int8_t i = 0; i < rows[op].attrCount; ++i) out[op][static_cast<size_t>(rows[op].attrs[static_cast<size_t>(i)])] = i;
  }
  return out;
}

}  // namespace

constexpr std::array<OpInfo, kOpCount> kOpInfos = makeInfos();
constexpr std::array<std::array<int8_t, kAttrKeyCount>, kOpCount> kAttrPositions = makePositions();

std::optional<Op> opByName(std::string_view text) {
  static const auto byName = [] {
    std::unordered_map<std::string_view, Op> map;
    for (size_t i = 0; i < kOpCount; ++i) map.emplace(kNames[i], static_cast<Op>(i));
    return map;
  }();
  auto it = byName.find(text);
  return it == byName.end() ? std::nullopt : std::optional(it->second);
}

std::span<const std::string_view> opNames() { return kNames; }
std::string_view attrName(AttrKey key) { return kAttrs[static_cast<size_t>(key)].name; }
AttrType attrType(AttrKey key) { return kAttrs[static_cast<size_t>(key)].type; }

std::optional<AttrKey> attrByName(std::string_view word) {
  for (size_t i = 0; i < kAttrs.size(); ++i)
    if (kAttrs[i].name == word) return static_cast<AttrKey>(i);
  return std::nullopt;
}

Op opOf(ReduceOp op) {
  switch (op) {
    case ReduceOp::Add: return Op::Add;
    case ReduceOp::Mul: return Op::Mul;
    case ReduceOp::Max: return Op::Max;
  }
  return Op::Add;
}

}  // namespace uop
