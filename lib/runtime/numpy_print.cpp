#include "runtime/numpy_print.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "runtime/half.h"

namespace uop {
namespace {

constexpr int64_t kThreshold = 1000, kEdge = 3;
constexpr size_t kLineWidth = 75, kAllDigits = 400;

// The fewest digits that give the value back in its dtype, as a double: 0.1 for the f16 nearest to 0.1.
double fewestDigits(double v, DType d) {
  if (d == DType::F64) return v;
  auto narrow = [d](double x) {
    auto f = static_cast<float>(x);
    return d == DType::F16 ? halfToFloat(floatToHalf(f)) : d == DType::BF16 ? bfloatToFloat(floatToBfloat(f)) : f;
  };
  char buffer[64];
  for (int digits = 0; digits < 9; ++digits) {
    auto end = std::to_chars(buffer, buffer + sizeof buffer, v, std::chars_format::scientific, digits).ptr;
    double back = v;
    std::from_chars(buffer, end, back);
    if (narrow(back) == narrow(v)) return back;
  }
  return v;
}

// Fixed or scientific, at most `precision` digits after a point that is always there ("1.", "1.5e-05"); no zeros at its end.
std::string shortest(double v, DType d, std::chars_format format, size_t precision) {
  char buffer[512];
  // An array's numbers have all digits before the point, 24128 in f16, a scalar the fewest: 24130.
  bool whole = format == std::chars_format::fixed && std::fabs(v) >= 1024 && precision != kAllDigits;
  bool f32 = whole && d == DType::F32;  // to_chars knows what the fewest digits after the point are
  auto end = f32 ? std::to_chars(buffer, buffer + sizeof buffer, static_cast<float>(v), format).ptr
                 : std::to_chars(buffer, buffer + sizeof buffer, whole ? v : fewestDigits(v, d), format).ptr;
  std::string text(buffer, end);
  auto split = [&] { return std::min(text.find('e'), text.size()); };
  if (size_t dot = text.find('.'); dot == std::string::npos) {
    text.insert(split(), ".");
  } else if (split() - dot - 1 > precision) {
    text.assign(buffer, std::to_chars(buffer, buffer + sizeof buffer, v, format, static_cast<int>(precision)).ptr);
    size_t stop = split(), keep = stop;
    while (text[keep - 1] == '0') --keep;
    text.erase(keep, stop - keep);
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
    // numpy compares in the array's dtype: the f32 nearest to 1e-4 is not below 1e-4.
    double small = t_.dtype == DType::F64 ? 1e-4 : t_.dtype == DType::F16 ? halfToFloat(floatToHalf(1e-4f)) : 1e-4f;
    if (most > 0) exponent = most >= 1e8 || least < small || most / least > 1000;
    if (t_.shape.empty()) exponent = most >= 1e16 || (most > 0 && least < 1e-4);
    for (int64_t i : shown_) texts_.push_back(floats ? floatText(t_.asDouble(i), exponent) : integerText(i));
    if (floats && !t_.shape.empty()) alignFractions(exponent);
    size_t width = t_.dtype == DType::Bool ? 5 : 0;  // that of False, shown or not
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
    bool scalar = t_.shape.empty();
    std::string text = shortest(v, t_.dtype, exponent ? std::chars_format::scientific : std::chars_format::fixed, scalar ? kAllDigits : 8);
    if (!scalar) return text;
    // A scalar is written as Python does: 1.0 and 1e+16.
    if (size_t dot = text.find(".e"); dot != std::string::npos) text.erase(dot, 1);
    return text.back() == '.' ? text + "0" : text;
  }

  static size_t fractionDigits(const std::string& s) {
    size_t dot = s.find('.');
    return dot == std::string::npos ? 0 : std::min(s.find('e'), s.size()) - dot - 1;
  }

  // The points stand in one column. Without exponents, spaces follow shorter fractions; with them, every value gets the
  // digits that the longest needs, and as many digits of exponent.
  void alignFractions(bool exponent) {
    size_t longest = 0, exponentDigits = 0;
    for (const auto& s : texts_) {
      longest = std::max(longest, fractionDigits(s));
      if (size_t e = s.find('e'); e != std::string::npos) exponentDigits = std::max(exponentDigits, s.size() - e - 2);
    }
    for (size_t i = 0; i < texts_.size(); ++i) {
      std::string& s = texts_[i];
      if (s.find('.') == std::string::npos) continue;  // nan and inf
      if (!exponent) {
        s.append(longest - fractionDigits(s), ' ');
        continue;
      }
      char buffer[64];
      s.assign(buffer, std::to_chars(buffer, buffer + sizeof buffer, t_.asDouble(shown_[i]), std::chars_format::scientific, static_cast<int>(longest)).ptr);
      size_t e = s.find('e');
      if (longest == 0) s.insert(e++, ".");
      s.insert(e + 2, exponentDigits - (s.size() - e - 2), '0');
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
        if (!first && column + 1 + text.size() + t_.shape.size() > kLineWidth) {
          out_.resize(out_.find_last_not_of(' ') + 1);
          out_ += "\n" + inner, column = inner.size();
        } else if (!first) {
          out_ += ' ', ++column;
        }
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
