#include "passes/passes.h"

namespace uop {

PassTable passes() {
  static const std::vector<PassInfo> table = {
#define OPTION(name, type, def, help) OptionSpec{name, type, def, help},
#define PASS(function, name, needs, leaves, help, ...) {name, function, Form::needs, Form::leaves, help, {__VA_ARGS__}},
#include "passes/passes.def"
  };
  return table;
}

}  // namespace uop
