// Programs as people look at them: text, DOT, SVG, or a page.
#pragma once
#include <ostream>
#include <string>

#include "pass/manager.h"

namespace uop::uopc {

enum class DumpFormat : uint8_t { Uop, Dot, Svg, Html };

// Errors: Diag::Unsupported for a picture of more nodes than anyone can lay out or look at.
Result<std::string> formatProgram(const Program& program, DumpFormat format, std::string_view title);

// Where the manager's dumps go: DIR/03-rangeify.uop, or `out` one after another.
class Dumper {
 public:
  Dumper(std::string dir, DumpFormat format, std::ostream& out) : dir_(std::move(dir)), format_(format), out_(out) {}
  Result<void> operator()(const DumpEvent& event);

 private:
  std::string dir_;
  DumpFormat format_;
  std::ostream& out_;
};

}  // namespace uop::uopc
