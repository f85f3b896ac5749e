// The order of forms, and what each form means, as checks.
#pragma once
#include "pass/pass.h"

namespace uop {

// May a pass that needs `need` run on a program of form `have`? A canonical program is a tensor program too, a flat one both.
bool satisfies(Form have, Form need);
// The form after a pass that leaves `leaves`.
Form formAfter(Form have, Form leaves);
// For messages: "flat (CALLs on whole places alone)".
std::string describeForm(Form);

// Does `program` have the form? The first thing that it may not hold, as a text such as "%12 is a CALL"; "" if it has.
std::string formProblem(const Program& program, Form form);

}  // namespace uop
