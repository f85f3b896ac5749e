#include <unistd.h>

#include <iostream>

#include "cmd/common/interrupt.h"
#include "cmd/uoprun/driver.h"

int main(int argc, char** argv) {
  uop::installInterruptHandler();
  return uop::uoprun::run({argv, argv + argc}, std::cout, std::cerr, isatty(STDERR_FILENO) != 0);
}
