// The passes of the compiler, one file each; passes.def is their table.
#pragma once
#include "pass/pass.h"

namespace uop {

#define OPTION(...)
#define PASS(function, ...) Result<Program> function(Program, PassContext&);
#include "passes/passes.def"

PassTable passes();

}  // namespace uop
