// Ops, constants and types as C expressions. f16 and bf16 are held as a float that has been rounded to them.
#pragma once
#include <functional>
#include <set>
#include <string>

#include "backends/cstyle/interval.h"

namespace uop::cstyle {

std::string_view valueType(DType);    // C type of a value
std::string_view storageType(DType);  // C type of an element in memory
std::string literal(DType, Scalar);   // an expression of no more than a unary minus, in parentheses if that

class Speller {
 public:
  // `name` gives the C name of a value that is no CONST.
  Speller(const Graph& g, const Intervals& intervals, std::function<std::string(NodeId)> name) : g_(g), intervals_(intervals), name_(std::move(name)) {}

  std::string expression(NodeId elementwise);
  std::string operand(NodeId value, DType as);              // a name or a literal
  std::string operand(NodeId value) { return operand(value, g_.dtype(value)); }
  std::string fromStorage(DType, const std::string& element);  // what memory holds, as a value
  std::string toStorage(DType, const std::string& value);
  std::string fromBits(DType, const std::string& word);        // an int64_t that carries a scalar argument
  const std::set<std::string_view>& used() const { return used_; }

 private:
  enum class Class : uint8_t { Float, Bool, Int, Wrap };
  Class classOf(NodeId, DType operands) const;
  std::string_view text(Op, Class) const;
  std::string call(const std::string& helper, const std::string& argument);
  std::string cast(const std::string& x, DType from, DType to);
  std::string bitcast(const std::string& x, DType from, DType to);
  std::string rounded(DType half, const std::string& x) { return fromStorage(half, toStorage(half, x)); }
  std::string substitute(std::string_view text, DType, const std::string (&operands)[3]);
  void spellOperands(NodeId, DType, std::string (&operands)[3]);
  void use(std::string_view helper);

  const Graph& g_;
  const Intervals& intervals_;
  std::function<std::string(NodeId)> name_;
  std::set<std::string_view> used_;
};

}  // namespace uop::cstyle
