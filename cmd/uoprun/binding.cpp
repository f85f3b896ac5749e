#include "cmd/uoprun/binding.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/random.h"

namespace uop::uoprun {
namespace {

struct Slot {
  std::string_view name;
  DType dtype;
  const Shape* shape;
  std::optional<int64_t> min, max;
};

std::vector<Slot> slotsOf(const Signature& s) {
  std::vector<Slot> slots;
  for (const auto& a : s.arguments) slots.push_back({a.name, a.dtype, &a.shape, a.min, a.max});
  for (const auto& b : s.buffers) slots.push_back({b.name, b.dtype, &b.shape, {}, {}});
  return slots;
}

const Slot* find(const std::vector<Slot>& slots, std::string_view name) {
  auto it = std::ranges::find(slots, name, &Slot::name);
  return it == slots.end() ? nullptr : &*it;
}

Result<void> requireName(const std::vector<Slot>& slots, std::string_view name) {
  if (find(slots, name)) return {};
  std::vector<std::string_view> names;
  for (const Slot& s : slots) names.push_back(s.name);
  return fail(Diag::UnknownName, name, suggest(name, names));
}

// numpy has no bf16: where the program wants one, u16 holds its bits.
Tensor fitted(const Slot& slot, Tensor tensor) {
  if (slot.dtype == DType::BF16 && tensor.dtype == DType::U16) tensor.dtype = DType::BF16;
  return tensor;
}

// Arrays of a file by name; those that the program does not know only warn.
Result<void> takeFile(const std::string& file, const std::vector<Slot>& slots, const Messages& messages, ArrayMap& into) {
  auto arrays = readArrays(file);
  if (!arrays) return std::unexpected(arrays.error());
  for (auto& [name, tensor] : *arrays) {
    if (const Slot* slot = find(slots, name))
      into.insert_or_assign(name, fitted(*slot, std::move(tensor)));
    else
      messages.warn(formatDiag(Diag::UnusedInput, name, file));
  }
  return {};
}

Result<void> takeFeeds(const Options& o, const std::vector<Slot>& slots, Bindings& b) {
  for (const auto& [name, file] : o.feeds) {
    if (auto known = requireName(slots, name); !known) return known;
    auto tensor = readArray(file);
    if (!tensor) return std::unexpected(tensor.error());
    if (tensor->shape.empty() || tensor->shape[0] == 0)
      return fail(Diag::BadFile, file, fmt::format("--feed needs an array with an axis 0 of steps, found shape {}", shapeText(tensor->shape)));
    if (!o.steps) b.steps = b.feeds.empty() ? tensor->shape[0] : std::min(b.steps, tensor->shape[0]);
    if (o.steps && tensor->shape[0] < *o.steps)
      return fail(Diag::BadFile, file, fmt::format("holds {} slices along axis 0, but --steps {} needs {}", tensor->shape[0], *o.steps, *o.steps));
    b.feeds.emplace_back(name, fitted(*find(slots, name), std::move(*tensor)));
  }
  return {};
}

Result<void> takeRandom(uint64_t seed, const std::vector<Slot>& slots, Bindings& b) {
  for (const Slot& s : slots) {
    bool fed = std::ranges::any_of(b.feeds, [&](const auto& f) { return f.first == s.name; });
    if (fed || b.arrays.contains(std::string(s.name))) continue;
    auto tensor = randomTensor(s.dtype, *s.shape, seed, s.name, s.min, s.max);
    if (!tensor) return std::unexpected(tensor.error());
    b.arrays.emplace(s.name, std::move(*tensor));
  }
  return {};
}

}  // namespace

Result<Bindings> readBindings(const Options& o, const Signature& signature, const Messages& messages) {
  auto slots = slotsOf(signature);
  Bindings b;
  b.steps = o.steps.value_or(1);
  for (const std::string& file : o.inputFiles)
    if (auto ok = takeFile(file, slots, messages, b.arrays); !ok) return std::unexpected(ok.error());
  if (!o.state.empty())
    if (auto ok = takeFile(o.state, slots, messages, b.arrays); !ok) return std::unexpected(ok.error());
  for (const auto& [name, file] : o.inputs) {
    if (auto known = requireName(slots, name); !known) return std::unexpected(known.error());
    auto tensor = readArray(file);
    if (!tensor) return std::unexpected(tensor.error());
    b.arrays.insert_or_assign(name, fitted(*find(slots, name), std::move(*tensor)));
  }
  if (auto ok = takeFeeds(o, slots, b); !ok) return std::unexpected(ok.error());
  if (o.random)
    if (auto ok = takeRandom(*o.random, slots, b); !ok) return std::unexpected(ok.error());
  return b;
}

Result<void> bindStep(Runner& runner, const Bindings& bindings, int64_t step) {
  for (const auto& [name, tensor] : bindings.feeds) {
    auto slice = tensor.slice(step);
    if (!slice) return std::unexpected(slice.error());
    if (auto ok = runner.bind(name, std::move(*slice)); !ok) return ok;
  }
  return {};
}

Result<void> bindAll(Runner& runner, const Bindings& bindings) {
  for (const auto& [name, tensor] : bindings.arrays)
    if (auto ok = runner.bind(name, tensor); !ok) return ok;
  if (auto ok = bindStep(runner, bindings, 0); !ok) return ok;
  auto unbound = runner.unboundArguments();
  if (unbound.empty()) return {};
  const auto& arguments = runner.signature().arguments;
  auto a = std::ranges::find(arguments, unbound.front(), &ArgumentInfo::name);
  return fail(Diag::Unbound, a->name, name(a->dtype), shapeText(a->shape), a->name);
}

void warnUnboundBuffers(const Runner& runner, const Messages& messages) {
  for (const std::string& name : runner.unboundBuffers()) messages.warn(formatDiag(Diag::UnboundBuffer, name));
}

}  // namespace uop::uoprun
