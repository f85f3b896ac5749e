#include "runtime/npy.h"

#include <algorithm>
#include <charconv>
#include <cstring>

namespace uop {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kMaxHeader = 1 << 20;  // numpy's own limit is 10,000 characters

Result<DType> dtypeOf(std::string_view descr, std::string_view name, bool& bigEndian) {
  bigEndian = descr.starts_with('>');
  std::string_view item = descr;
  if (!item.empty() && std::string_view("<>=|").contains(item[0])) item.remove_prefix(1);
  for (size_t i = 0; i < static_cast<size_t>(DType::Void); ++i)
    if (std::string_view known = info(static_cast<DType>(i)).npyDescr; !known.empty() && known.substr(1) == item) return static_cast<DType>(i);
  if (item == "?") return DType::Bool;
  if (item.starts_with('O')) return fail(Diag::BadFile, name, "it holds Python objects, which are not read; save an array of numbers");
  return fail(Diag::BadFile, name, fmt::format("dtype '{}' is not supported; expected bool, an integer, f16, f32 or f64", descr));
}

// The header is the repr of a Python dict of three entries. Only that form is read.
class HeaderReader {
 public:
  HeaderReader(std::string_view text, std::string_view name) : text_(text), name_(name) {}

  Result<NpyHeader> read() {
    NpyHeader header;
    bool descr = false, order = false, shape = false;
    if (!take('{')) return bad("it does not begin with '{'");
    while (!take('}')) {
      auto key = string();
      if (!key || !take(':')) return bad("a key and ':' are expected");
      Result<void> done = {};
      if (*key == "descr" && !descr) {
        descr = true, done = readDescr(header);
      } else if (*key == "fortran_order" && !order) {
        order = true, done = readOrder(header);
      } else if (*key == "shape" && !shape) {
        shape = true, done = readShape(header);
      } else {
        return bad(fmt::format("key '{}' is unknown or stands twice", *key));
      }
      if (!done) return std::unexpected(done.error());
      if (!take(',') && peek() != '}') return bad("',' or '}' is expected");
    }
    if (peek()) return bad("there is text after '}'");
    if (!descr || !order || !shape) return bad("descr, fortran_order and shape are expected");
    return header;
  }

 private:
  std::unexpected<Error> bad(std::string_view what) const { return fail(Diag::BadFile, name_, fmt::format("bad .npy header: {}", what)); }

  char peek() {
    while (at_ < text_.size() && std::string_view(" \n\t\r").contains(text_[at_])) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char c) { return peek() == c && at_ < text_.size() ? ++at_, true : false; }
  bool takeWord(std::string_view word) {
    peek();
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }
  std::optional<std::string_view> string() {
    char quote = peek();
    if (quote != '\'' && quote != '"') return std::nullopt;
    size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) return std::nullopt;
    std::string_view body = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return body;
  }

  Result<void> readDescr(NpyHeader& header) {
    if (peek() == '[') return fail(Diag::BadFile, name_, "it holds records (a structured dtype), which are not read");
    auto descr = string();
    if (!descr) return bad("descr is no string");
    auto dtype = dtypeOf(*descr, name_, header.bigEndian);
    if (!dtype) return std::unexpected(dtype.error());
    header.dtype = *dtype;
    return {};
  }
  Result<void> readOrder(NpyHeader& header) {
    header.fortranOrder = takeWord("True");
    if (!header.fortranOrder && !takeWord("False")) return bad("fortran_order is neither True nor False");
    return {};
  }
  Result<void> readShape(NpyHeader& header) {
    if (!take('(')) return bad("shape is no tuple");
    while (!take(')')) {
      peek();
      int64_t n = 0;
      auto [end, ec] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), n);
      if (ec != std::errc() || n < 0) return bad("an axis of shape is no count");
      at_ = static_cast<size_t>(end - text_.data());
      takeWord("L");  // Python 2 wrote long integers so
      header.shape.push_back(n);
      if (header.shape.size() > 32) return bad("shape has more than 32 axes");
      if (!take(',') && peek() != ')') return bad("',' or ')' is expected in shape");
    }
    if (!byteCount(header.dtype, header.shape)) return bad("the shape is too large");
    return {};
  }

  std::string_view text_, name_;
  size_t at_ = 0;
};

void swapBytes(Tensor& tensor) {
  size_t size = byteSize(tensor.dtype);
  std::byte* at = tensor.data();
  for (size_t i = 0; i + size <= tensor.bytes; i += size) std::reverse(at + i, at + i + size);
}

// `data` runs with the first axis fastest. Walks the result in order; `index` counts along it and `at` follows in the source.
void copyFortran(const char* data, Tensor& out) {
  size_t size = byteSize(out.dtype), rank = out.shape.size();
  std::vector<size_t> strides(rank), index(rank);
  size_t stride = size;
  for (size_t axis = 0; axis < rank; ++axis) strides[axis] = stride, stride *= static_cast<size_t>(out.shape[axis]);
  size_t at = 0;
  for (size_t to = 0; to < out.bytes; to += size) {
    std::memcpy(out.data() + to, data + at, size);
    for (size_t axis = rank; axis-- > 0;) {
      at += strides[axis];
      if (++index[axis] < static_cast<size_t>(out.shape[axis])) break;
      at -= strides[axis] * index[axis];
      index[axis] = 0;
    }
  }
}

}  // namespace

Result<NpyHeader> parseNpyHeader(std::string_view data, std::string_view name) {
  if (!data.starts_with(kMagic)) return fail(Diag::BadFile, name, "it is no .npy file: it does not begin with \\x93NUMPY");
  if (data.size() < 12) return fail(Diag::BadFile, name, "the .npy header is cut off");
  auto byte = [&](size_t i) { return static_cast<size_t>(static_cast<unsigned char>(data[i])); };
  if (byte(6) < 1 || byte(6) > 3) return fail(Diag::BadFile, name, fmt::format(".npy version {} is not known", byte(6)));
  size_t start = byte(6) == 1 ? 10 : 12;
  size_t length = byte(8) | byte(9) << 8;
  if (start == 12) length |= byte(10) << 16 | byte(11) << 24;
  if (length > kMaxHeader || length > data.size() - start) return fail(Diag::BadFile, name, "the .npy header is cut off");
  auto header = HeaderReader(data.substr(start, length), name).read();
  if (!header) return header;
  // A dict may give the shape before the dtype, so that only now its bytes are known.
  if (!byteCount(header->dtype, header->shape)) return fail(Diag::BadFile, name, "the shape is too large");
  header->dataOffset = start + length;
  return header;
}

Result<void> checkNpySize(const NpyHeader& header, uint64_t fileBytes, std::string_view name) {
  uint64_t bytes = *byteCount(header.dtype, header.shape), found = fileBytes - header.dataOffset;
  if (found == bytes) return {};
  return fail(Diag::BadFile, name, fmt::format("{} {} takes {} bytes, found {}", uop::name(header.dtype), shapeText(header.shape), bytes, found));
}

Result<Tensor> parseNpy(std::string_view data, std::string_view name) {
  auto header = parseNpyHeader(data, name);
  if (!header) return std::unexpected(header.error());
  if (auto ok = checkNpySize(*header, data.size(), name); !ok) return std::unexpected(ok.error());
  std::string_view body = data.substr(header->dataOffset);
  uint64_t bytes = body.size();
  auto tensor = Tensor::zeros(header->dtype, header->shape);
  if (!tensor) return tensor;
  if (header->fortranOrder) {
    copyFortran(body.data(), *tensor);
  } else if (bytes) {
    std::memcpy(tensor->data(), body.data(), bytes);
  }
  if (header->bigEndian) swapBytes(*tensor);
  if (header->dtype == DType::Bool)
    for (uint8_t& b : tensor->as<uint8_t>()) b = b != 0;  // kernels may count on 0 and 1
  return tensor;
}

Result<std::string> serializeNpy(const Tensor& tensor, std::string_view name) {
  std::string_view descr = info(tensor.dtype).npyDescr;
  if (descr.empty())
    return fail(Diag::BadFile, name, fmt::format(".npy and .npz cannot hold {}; write a .safetensors file", uop::name(tensor.dtype)));
  std::string shape = fmt::format("({}{})", fmt::join(tensor.shape, ", "), tensor.shape.size() == 1 ? "," : "");
  std::string dict = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", descr, shape);
  // numpy leaves room for the first axis to grow in place, to 21 digits; its bytes are kept.
  if (!tensor.shape.empty()) dict.append(21 - std::min<size_t>(21, std::to_string(tensor.shape[0]).size()), ' ');
  size_t total = (10 + dict.size() + 1 + 63) / 64 * 64;
  dict.append(total - 10 - dict.size() - 1, ' ');
  dict += '\n';
  std::string out(kMagic);
  out += '\x01';
  out += '\0';
  out += static_cast<char>(dict.size() & 255);
  out += static_cast<char>(dict.size() >> 8);
  out.reserve(total + tensor.bytes);
  out += dict;
  out.append(reinterpret_cast<const char*>(tensor.data()), tensor.bytes);
  return out;
}

}  // namespace uop
