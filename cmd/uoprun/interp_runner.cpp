#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "cmd/uoprun/runner.h"
#include "ir/interp.h"

namespace uop::uoprun {
namespace {

class InterpreterRunner final : public Runner {
 public:
  explicit InterpreterRunner(Program program) : program_(std::move(program)), signature_(signatureOf(program_)) {}
  const Signature& signature() const override { return signature_; }

  Result<void> bind(std::string_view name, Tensor value) override {
    auto a = std::ranges::find(signature_.arguments, name, &ArgumentInfo::name);
    auto b = std::ranges::find(signature_.buffers, name, &BufferInfo::name);
    if (a != signature_.arguments.end()) {
      if (auto ok = checkType(name, a->dtype, a->shape, value); !ok) return ok;
      if (auto ok = checkRange(*a, value); !ok) return ok;
      value.dtype = a->dtype;
    } else if (b != signature_.buffers.end()) {
      if (auto ok = checkType(name, b->dtype, b->shape, value); !ok) return ok;
      value.dtype = b->dtype;
    } else {
      return fail(Diag::UnknownName, name, suggest(name, names()));
    }
    inputs_.insert_or_assign(std::string(name), Array{value.dtype, value.shape, {value.raw().begin(), value.raw().end()}});
    return {};
  }

  std::vector<std::string> unboundArguments() const override { return unbound(signature_.arguments); }
  std::vector<std::string> unboundBuffers() const override { return unbound(signature_.buffers); }

  Result<void> run() override {
    auto done = interpret(program_, inputs_);
    if (!done) return std::unexpected(done.error());
    results_ = std::move(done->results);
    for (auto& [name, array] : done->buffers) inputs_.insert_or_assign(name, std::move(array));
    return {};
  }

  Result<Tensor> result(std::string_view name) override {
    auto it = results_.find(std::string(name));
    if (it == results_.end()) return fail(Diag::UnknownName, name, "");
    return tensorOf(it->second);
  }
  Result<Tensor> state(std::string_view name) override {
    if (auto it = inputs_.find(std::string(name)); it != inputs_.end()) return tensorOf(it->second);
    auto b = std::ranges::find(signature_.buffers, name, &BufferInfo::name);
    return b == signature_.buffers.end() ? Result<Tensor>(fail(Diag::UnknownName, name, suggest(name, names()))) : Tensor::zeros(b->dtype, b->shape);
  }
  Result<void> snapshot() override { return saved_ = inputs_, Result<void>{}; }
  void restore() override { inputs_ = saved_; }

 private:
  static Result<void> checkType(std::string_view name, DType dtype, const Shape& shape, const Tensor& value) {
    if (sameDType(dtype, value.dtype) && shape == value.shape) return {};
    return fail(Diag::BindType, name, uop::name(value.dtype), shapeText(value.shape), uop::name(dtype), shapeText(shape));
  }
  static Result<void> checkRange(const ArgumentInfo& a, const Tensor& value) {
    if (!a.min && !a.max) return {};
    int64_t least = a.min.value_or(minValue(a.dtype)), most = a.max.value_or(INT64_MAX);
    for (int64_t i = 0; i < value.elements(); ++i)
      if (int64_t v = value.asInt(i); v < least || v > most) return fail(Diag::BindRange, a.name, v, least, most);
    return {};
  }
  static Result<Tensor> tensorOf(const Array& a) {
    auto t = Tensor::zeros(a.dtype, a.shape);
    if (t && t->bytes) std::memcpy(t->data(), a.data.data(), std::min(t->bytes, a.data.size()));
    return t;
  }
  std::vector<std::string_view> names() const {
    std::vector<std::string_view> all;
    for (const auto& a : signature_.arguments) all.push_back(a.name);
    for (const auto& b : signature_.buffers) all.push_back(b.name);
    return all;
  }
  template <class Infos>
  std::vector<std::string> unbound(const Infos& infos) const {
    std::vector<std::string> all;
    for (const auto& i : infos)
      if (!inputs_.contains(i.name)) all.push_back(i.name);
    return all;
  }

  Program program_;
  Signature signature_;
  std::map<std::string, Array> inputs_, saved_, results_;
};

}  // namespace

std::unique_ptr<Runner> interpreterRunner(Program program) { return std::make_unique<InterpreterRunner>(std::move(program)); }

}  // namespace uop::uoprun
