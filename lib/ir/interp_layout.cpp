#include "ir/interp_layout.h"

namespace uop::interp {

Layout Layout::dense(std::span<const Dim> shape) {
  Layout out{{shape.begin(), shape.end()}, std::vector<int64_t>(shape.size()), 0, nullptr};
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    out.strides[i] = stride;
    stride = static_cast<int64_t>(static_cast<uint64_t>(stride) * static_cast<uint64_t>(shape[i]));
  }
  return out;
}

int64_t Layout::count() const {
  int64_t n = 1;
  for (Dim d : shape)
    if (d == 0) return 0;
  for (Dim d : shape) n *= d;
  return n;
}

Positions::Positions(const Layout& l) {
  map_ = l.at ? l.at->data() : nullptr;
  at_ = l.offset;
  // Neighbouring axes that one stride covers are walked as one.
  std::vector<std::pair<int64_t, int64_t>> axes;  // (count, stride), innermost first
  for (size_t i = l.shape.size(); i-- > 0;) {
    if (l.shape[i] == 1) continue;
    if (!axes.empty() && l.strides[i] == axes.back().first * axes.back().second) axes.back().first *= l.shape[i];
    else axes.emplace_back(l.shape[i], l.strides[i]);
  }
  if (axes.empty()) return;
  innerCount_ = axes[0].first;
  innerStride_ = axes[0].second;
  for (size_t i = 1; i < axes.size(); ++i) counts_.push_back(axes[i].first), strides_.push_back(axes[i].second);
  index_.resize(counts_.size());
}

void Positions::carry() {
  at_ -= innerStride_ * (innerCount_ - 1);
  inner_ = 0;
  for (size_t i = 0; i < counts_.size(); ++i) {
    at_ += strides_[i];
    if (++index_[i] < counts_[i]) return;
    at_ -= strides_[i] * counts_[i];
    index_[i] = 0;
  }
}

namespace {

// Strides of the new shape where each new axis lies within one run of old ones; nullopt where they cannot say it.
std::optional<std::vector<int64_t>> reshapeStrides(const Layout& l, std::span<const Dim> to) {
  std::vector<std::pair<int64_t, int64_t>> runs;  // (count, innermost stride), outermost first
  for (size_t i = 0; i < l.shape.size(); ++i) {
    if (l.shape[i] == 1) continue;
    if (!runs.empty() && runs.back().second == l.strides[i] * l.shape[i]) runs.back() = {runs.back().first * l.shape[i], l.strides[i]};
    else runs.emplace_back(l.shape[i], l.strides[i]);
  }
  std::vector<int64_t> out(to.size());
  size_t run = runs.size();
  int64_t left = 1, stride = 0;
  for (size_t i = to.size(); i-- > 0;) {
    if (to[i] == 1) continue;
    if (left == 1) {
      if (run == 0) return std::nullopt;
      --run;
      left = runs[run].first, stride = runs[run].second;
    }
    if (left % to[i] != 0) return std::nullopt;
    out[i] = stride;
    stride *= to[i];
    left /= to[i];
  }
  return out;
}

}  // namespace

Layout reshape(const Layout& l, std::span<const Dim> to) {
  Layout out = Layout::dense(to);
  int64_t n = l.count();
  if (n == 0) return out;
  if (auto strides = reshapeStrides(l, to)) return {{to.begin(), to.end()}, std::move(*strides), l.offset, l.at};
  auto at = std::make_shared<std::vector<int64_t>>();
  at->reserve(static_cast<size_t>(n));
  Positions p(l);
  for (int64_t i = 0; i < n; ++i) at->push_back(p.next());
  out.at = std::move(at);
  return out;
}

Layout expand(const Layout& l, std::span<const Dim> to) {
  Layout out{{to.begin(), to.end()}, std::vector<int64_t>(to.size()), l.offset, l.at};
  size_t added = to.size() - l.shape.size();
  for (size_t i = 0; i < l.shape.size(); ++i) out.strides[added + i] = l.shape[i] == to[added + i] ? l.strides[i] : 0;
  return out;
}

Layout permute(const Layout& l, std::span<const int64_t> axes) {
  Layout out{{}, {}, l.offset, l.at};
  for (int64_t a : axes) out.shape.push_back(l.shape[static_cast<size_t>(a)]), out.strides.push_back(l.strides[static_cast<size_t>(a)]);
  return out;
}

Layout flip(const Layout& l, std::span<const int64_t> axes) {
  Layout out = l;
  for (int64_t a : axes) {
    auto i = static_cast<size_t>(a);
    if (l.shape[i] == 0) continue;
    out.offset += l.strides[i] * (l.shape[i] - 1);
    out.strides[i] = -l.strides[i];
  }
  return out;
}

Layout window(const Layout& l, std::span<const int64_t> begins, std::span<const Dim> shape) {
  Layout out{{shape.begin(), shape.end()}, l.strides, l.offset, l.at};
  for (size_t i = 0; i < shape.size(); ++i) out.offset += begins[i] * l.strides[i];
  return out;
}

}  // namespace uop::interp
