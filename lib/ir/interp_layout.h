// How the elements of a value or place lie in an array of scalars: strides, or one position an element where strides
// cannot say it.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "ir/graph.h"

namespace uop::interp {

struct Layout {
  std::vector<Dim> shape;
  std::vector<int64_t> strides;
  int64_t offset = 0;
  std::shared_ptr<const std::vector<int64_t>> at;  // row-major positions; strides and offset then index into it

  static Layout dense(std::span<const Dim> shape);
  int64_t count() const;
  int64_t position(int64_t flat) const { return at ? (*at)[static_cast<size_t>(flat)] : flat; }
};

Layout reshape(const Layout&, std::span<const Dim> to);
Layout expand(const Layout&, std::span<const Dim> to);
Layout permute(const Layout&, std::span<const int64_t> axes);
Layout flip(const Layout&, std::span<const int64_t> axes);
Layout window(const Layout&, std::span<const int64_t> begins, std::span<const Dim> shape);

// Walks the positions of a layout in row-major order.
class Positions {
 public:
  explicit Positions(const Layout&);
  int64_t next() {
    int64_t p = at_;
    if (++inner_ < innerCount_) at_ += innerStride_;
    else carry();
    return map_ ? map_[p] : p;
  }

 private:
  void carry();
  const int64_t* map_ = nullptr;
  int64_t at_ = 0, inner_ = 0, innerCount_ = 1, innerStride_ = 0;
  std::vector<int64_t> counts_, strides_, index_;  // outer axes, innermost first
};

}  // namespace uop::interp
