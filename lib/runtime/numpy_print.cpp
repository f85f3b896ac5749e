#include "runtime/numpy_print.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace uop {
namespace {

constexpr int64_t kThreshold = 1000, kEdge = 3;
constexpr size_t kLineWidth = 75;

std::string shortest(double v, DType d, int precision) {
  char buffer[64];
  auto end = d == DType::F64 ? std::to_chars(buffer, buffer + sizeof buffer, v, std::chars_format::fixed).ptr
                             : std::to_chars(buffer, buffer + sizeof buffer, static_cast<float>(v), std::chars_format::fixed).ptr;
  std::string text(buffer, end);
  size_t dot = text.find('.');
  if (dot == std::string::npos) return text + ".";
  if (text.size() - dot - 1 > static_cast<size_t>(precision)) {
    text.assign(buffer, std::to_chars(buffer, buffer + sizeof buffer, v, std::chars_format::fixed, precision).ptr);
    while (text.back() == '0') text.pop_back();
  }
  return text;
}

class Printer {
 public:
  explicit Printer(const Tensor& t) : t_(t), summary_(t.elements() > kThreshold) {}

  std::string run() {
    if (t_.elements() == 0) return "[]";
    collect(0, 0, t_.elements());
    format();
    if (t_.shape.empty()) return texts_.front();
    print(0, "");
    return out_;
  }

 private:
  bool cut(size_t axis) const { return summary_ && t_.shape[axis] > 2 * kEdge; }

  template <class Fn>
  void eachShown(size_t axis, Fn fn) {
    for (int64_t i = 0; i < t_.shape[axis]; ++i) {
      if (cut(axis) && i == kEdge) fn(int64_t{-1}), i = t_.shape[axis] - kEdge;
      fn(i);
    }
  }

  void collect(size_t axis, int64_t first, int64_t block) {
    if (axis == t_.shape.size()) {
      shown_.push_back(first);
      return;
    }
    int64_t inner = block / t_.shape[axis];
    eachShown(axis, [&](int64_t i) { if (i >= 0) collect(axis + 1, first + i * inner, inner); });
  }

  // numpy: one format for all that is shown, exponents where the magnitudes ask for it.
  void format() {
    bool floats = isFloat(t_.dtype), exponent = false;
    double most = 0, least = HUGE_VAL;
    for (int64_t i : shown_) {
      double a = std::fabs(t_.asDouble(i));
      if (!floats || !std::isfinite(a) || a == 0) continue;
      most = std::max(most, a), least = std::min(least, a);
    }
    if (most > 0) exponent = most >= 1e8 || least < 1e-4 || most / least > 1000;
    if (t_.shape.empty()) exponent = most >= 1e16 || (most > 0 && least < 1e-4);
    for (int64_t i : shown_) texts_.push_back(floats ? floatText(t_.asDouble(i), exponent) : integerText(i));
    if (floats && !t_.shape.empty()) alignFractions();
    size_t width = 0;
    for (const auto& s : texts_) width = std::max(width, s.size());
    if (!t_.shape.empty())
      for (auto& s : texts_) s.insert(0, width - s.size(), ' ');
  }

  std::string integerText(int64_t i) const {
    if (t_.dtype == DType::Bool) return t_.asInt(i) ? "True" : "False";
    return t_.dtype == DType::U64 ? std::to_string(static_cast<uint64_t>(t_.asInt(i))) : std::to_string(t_.asInt(i));
  }

  std::string floatText(double v, bool exponent) const {
    if (std::isnan(v)) return "nan";
    if (std::isinf(v)) return v < 0 ? "-inf" : "inf";
    int precision = t_.shape.empty() ? 17 : 8;
    if (!exponent) {
      std::string text = shortest(v, t_.dtype, precision);
      return t_.shape.empty() && text.back() == '.' ? text + "0" : text;
    }
    char buffer[64];
    auto end = t_.dtype == DType::F64 ? std::to_chars(buffer, buffer + sizeof buffer, v, std::chars_format::scientific).ptr
                                      : std::to_chars(buffer, buffer + sizeof buffer, static_cast<float>(v), std::chars_format::scientific).ptr;
    std::string text(buffer, end);
    size_t e = text.find('e'), dot = text.find('.');
    if (dot == std::string::npos && !t_.shape.empty()) text.insert(e, ".");
    else if (dot != std::string::npos && e - dot - 1 > static_cast<size_t>(precision)) text.assign(buffer, std::to_chars(buffer, buffer + sizeof buffer, v, std::chars_format::scientific, precision).ptr);
    return text;
  }

  // The points stand in one column: fractions are padded, with zeros before an exponent and spaces without.
  void alignFractions() {
    size_t longest = 0;
    auto fraction = [](const std::string& s) {
      size_t dot = s.find('.'), e = s.find('e');
      return dot == std::string::npos ? std::string::npos : (e == std::string::npos ? s.size() : e) - dot - 1;
    };
    for (const auto& s : texts_)
      if (fraction(s) != std::string::npos) longest = std::max(longest, fraction(s));
    for (auto& s : texts_) {
      size_t have = fraction(s);
      if (have == std::string::npos) continue;
      size_t e = s.find('e');
      if (e != std::string::npos) s.insert(e, longest - have, '0');
      else s.append(longest - have, ' ');
    }
  }

  void print(size_t axis, const std::string& indent) {
    out_ += '[';
    bool last = axis + 1 == t_.shape.size();
    std::string inner = indent + ' ';
    size_t column = inner.size();
    bool first = true;
    eachShown(axis, [&](int64_t i) {
      if (last) {
        const std::string& text = i < 0 ? dots_ : texts_[next_++];
        if (!first && column + 1 + text.size() >= kLineWidth) out_ += "\n" + inner, column = inner.size();
        else if (!first) out_ += ' ', ++column;
        out_ += text;
        column += text.size();
      } else {
        if (!first) out_ += std::string(t_.shape.size() - axis - 1, '\n') + inner;
        if (i < 0) out_ += dots_;
        else print(axis + 1, inner);
      }
      first = false;
    });
    out_ += ']';
  }

  const Tensor& t_;
  bool summary_;
  std::vector<int64_t> shown_;
  std::vector<std::string> texts_;
  size_t next_ = 0;
  std::string out_, dots_ = "...";
};

}  // namespace

std::string formatTensor(const Tensor& tensor) { return Printer(tensor).run(); }

std::string summarizeTensor(const Tensor& t) {
  double least = HUGE_VAL, most = -HUGE_VAL, sum = 0;
  int64_t nans = 0, infs = 0, n = t.elements();
  for (int64_t i = 0; i < n; ++i) {
    double v = t.asDouble(i);
    if (std::isnan(v)) {
      ++nans;
      continue;
    }
    infs += std::isinf(v);
    least = std::min(least, v), most = std::max(most, v), sum += v;
  }
  std::string out = fmt::format("{} {}", name(t.dtype), shapeText(t.shape));
  if (n > nans) out += fmt::format(" min {:.9g} max {:.9g} mean {:.9g}", least, most, sum / static_cast<double>(n - nans));
  if (nans) out += fmt::format(" nan {}", nans);
  if (infs) out += fmt::format(" inf {}", infs);
  return out;
}

}  // namespace uop
