// uoprun without its process: arguments and streams come from outside, so that tests call it.
#pragma once
#include <ostream>
#include <string>
#include <vector>

namespace uop::uoprun {

// argv[0] is the program's name. `errIsTerminal`: colour and progress may be shown. Returns the exit status.
int run(const std::vector<std::string>& argv, std::ostream& out, std::ostream& err, bool errIsTerminal);

}  // namespace uop::uoprun
