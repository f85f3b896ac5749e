#include "backends/cstyle/prelude.h"

#include <array>
#include <initializer_list>
#include <map>
#include <span>
#include <utility>

#include "support/diagnostics.h"

namespace uop::cstyle {
namespace {

constexpr std::string_view kHead = R"(#include <stdbool.h>
#include <stdint.h>
#define UOP_KERNEL __attribute__((visibility("default")))
#define UOP_INLINE static inline __attribute__((always_inline, unused))
)";

using Variables = std::vector<std::pair<std::string_view, std::string_view>>;  // longer names first

const Variables kF32 = {{"@T", "f32"}, {"@C", "float"}, {"@U", "uint32_t"}, {"@S", "f"}, {"@B", "0x1p23f"}};
const Variables kF64 = {{"@T", "f64"}, {"@C", "double"}, {"@U", "uint64_t"}, {"@S", ""}, {"@B", "0x1p52"}};

Variables integer(std::string_view name, std::string_view c, std::string_view u, std::string_view x, std::string_view width,
                  std::string_view min, std::string_view max, std::string_view lo, std::string_view hi) {
  return {{"@MIN", min}, {"@MAX", max}, {"@LO", lo}, {"@HI", hi}, {"@T", name},
          {"@C", c},     {"@U", u},     {"@X", x},   {"@W", width}};
}
const Variables kI8 = integer("i8", "int8_t", "uint8_t", "uint32_t", "8", "-128", "127", "", "");
const Variables kI16 = integer("i16", "int16_t", "uint16_t", "uint32_t", "16", "-32768", "32767", "", "");
const Variables kU8 = integer("u8", "uint8_t", "uint8_t", "uint32_t", "8", "0", "255", "", "");
const Variables kU16 = integer("u16", "uint16_t", "uint16_t", "uint32_t", "16", "0", "65535", "", "");
const Variables kI32 = integer("i32", "int32_t", "uint32_t", "uint32_t", "32", "INT32_MIN", "INT32_MAX", "-0x1p31", "0x1p31");
const Variables kU32 = integer("u32", "uint32_t", "uint32_t", "uint32_t", "32", "0u", "UINT32_MAX", "0x0p0", "0x1p32");
const Variables kI64 = integer("i64", "int64_t", "uint64_t", "uint64_t", "64", "INT64_MIN", "INT64_MAX", "-0x1p63", "0x1p63");
const Variables kU64 = integer("u64", "uint64_t", "uint64_t", "uint64_t", "64", "0u", "UINT64_MAX", "0x0p0", "0x1p64");

struct Helper {
  std::string name, text;
  std::vector<size_t> calls;  // places in the table, all before this one
};

struct Table {
  std::vector<Helper> helpers;
  std::map<std::string, size_t, std::less<>> places;

  Table();
  void add(std::string name, std::string text);
  void expand(std::string_view name, std::string_view text, std::initializer_list<const Variables*> types);
};

std::string substitute(std::string_view text, const Variables& variables) {
  std::string out(text);
  for (const auto& [from, to] : variables)
    for (size_t at = 0; (at = out.find(from, at)) != std::string::npos; at += to.size()) out.replace(at, from.size(), to);
  return out;
}

// The dependencies are the names in the text, so that a row cannot state them wrongly.
void Table::add(std::string name, std::string text) {
  Helper helper{std::move(name), std::move(text), {}};
  for (size_t at = 0; (at = helper.text.find("uop_", at)) != std::string::npos;) {
    const size_t end = helper.text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_", at);
    const auto found = places.find(helper.text.substr(at, end - at));
    if (found != places.end()) helper.calls.push_back(found->second);
    at = end;
  }
  if (!places.emplace(helper.name, helpers.size()).second) internalError("two prelude rows are called " + helper.name);
  helpers.push_back(std::move(helper));
}

void Table::expand(std::string_view name, std::string_view text, std::initializer_list<const Variables*> types) {
  for (const Variables* type : types) add(substitute(name, *type), substitute(text, *type));
}

Table::Table() {
#define HELPER(name, text) add(name, text);
#define FOR_FLOATS(name, text) expand(name, text, {&kF32, &kF64});
#define FOR_SMALL(name, text) expand(name, text, {&kI8, &kI16, &kU8, &kU16});
#define FOR_LARGE(name, text) expand(name, text, {&kI32, &kI64, &kU32, &kU64});
#define FOR_I32(name, text) expand(name, text, {&kI32});
#define FOR_U32(name, text) expand(name, text, {&kU32});
#define FOR_I64(name, text) expand(name, text, {&kI64});
#define FOR_U64(name, text) expand(name, text, {&kU64});
#define FOR_SIGNED(name, text) expand(name, text, {&kI8, &kI16, &kI32, &kI64});
#define FOR_UNSIGNED(name, text) expand(name, text, {&kU8, &kU16, &kU32, &kU64});
#include "backends/cstyle/prelude.def"
}

const Table& table() {
  static const Table instance;
  return instance;
}

}  // namespace

std::string preludeText(const std::set<std::string_view>& used) {
  const std::vector<Helper>& helpers = table().helpers;
  std::vector<bool> wanted(helpers.size());
  for (std::string_view name : used) {
    const auto found = table().places.find(name);
    if (found == table().places.end()) internalError("the prelude has no " + std::string(name));
    wanted[found->second] = true;
  }
  for (size_t i = helpers.size(); i-- > 0;)
    if (wanted[i])
      for (size_t call : helpers[i].calls) wanted[call] = true;
  std::string text(kHead);
  for (size_t i = 0; i < helpers.size(); i++)
    if (wanted[i]) text += helpers[i].text;
  return text;
}

bool preludeHas(std::string_view name) { return table().places.contains(name); }

std::vector<std::string_view> preludeNames() {
  std::vector<std::string_view> names;
  for (const Helper& helper : table().helpers) names.push_back(helper.name);
  return names;
}

}  // namespace uop::cstyle
