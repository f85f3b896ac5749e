// Passes that ask which function a node is in run on each of a program's functions alone.
#pragma once
#include "passes/passes.h"

namespace uop {

// Runs the pass on the body of each CALL, equal ones once, and then on the program itself.
Result<Program> runOnFunctions(Program, PassContext&, PassFn);

}  // namespace uop
