#pragma once
#include <string>

namespace uop {

// SIGINT and SIGTERM remove what is half-written beside the guarded paths and end the process with status 130.
void installInterruptHandler();

// `path` will be written atomically (support/file.h): until it is complete its contents are under a name beside it.
void guardOutput(const std::string& path);

}  // namespace uop
