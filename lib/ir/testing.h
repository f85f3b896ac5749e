// For tests: programs from text, arrays from plain values and back.
#pragma once
#include <catch2/catch.hpp>
#include <cstring>

#include "ir/interp.h"

namespace uop::testing {

inline Program readText(std::string text) {
  SourceBuffer source("t.uop", std::move(text));
  Diagnostics diags(&source);
  auto p = readProgram(source, diags);
  INFO(source.text());
  INFO(diags.render());
  REQUIRE(p);
  return std::move(*p);
}

// The text without its first line, "uop 1".
inline Program read(const std::string& body) { return readText("uop 1\n" + body); }

template <class T>
Array array(DType d, std::vector<int64_t> shape, const std::vector<T>& values) {
  Array out{d, std::move(shape), {}};
  out.data.resize(values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(out.data.data(), values.data(), out.data.size());
  return out;
}

template <class T>
std::vector<T> values(const Array& a) {
  std::vector<T> out(a.data.size() / sizeof(T));
  if (!out.empty()) std::memcpy(out.data(), a.data.data(), a.data.size());
  return out;
}

}  // namespace uop::testing
