// reader_bench FILE RUNS: reads a program RUNS times. One line: nodes, bytes of text, the most memory that the first reading
// held beyond the text, and nanoseconds of processor time of each reading. scripts/bench_reader.py makes a table of it.
#include <ctime>
#include <fstream>

#include "ir/program.h"
#include "support/file.h"

using namespace uop;

namespace {

// Of /proc/self/status, in bytes.
int64_t memory(const std::string& key) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(key + ":")) return std::stoll(line.substr(key.size() + 1)) * 1024;
  return 0;
}

// The peak counts from here on.
void forgetPeak() { std::ofstream("/proc/self/clear_refs") << "5"; }

}  // namespace

int main(int argc, char** argv) {
  auto text = argc == 3 ? readFile(argv[1]) : fail(Diag::Usage, "reader_bench FILE RUNS");
  if (!text) return fmt::print(stderr, "{}\n", text.error().message), 1;
  size_t bytes = text->size();
  Diagnostics none;
  (void)readProgram(SourceBuffer("first", "uop 1\n%x = CONST value=1 dtype=i32\nreturn %x\n"), none);  // the code is in memory
  SourceBuffer source(argv[1], std::move(*text));
  forgetPeak();
  int64_t before = memory("VmRSS"), most = 0;
  for (int run = 0; run < std::stoi(argv[2]); ++run) {
    Diagnostics diags(&source);
    std::clock_t start = std::clock();
    auto program = readProgram(source, diags);
    std::clock_t time = std::clock() - start;
    if (!program) return fmt::print(stderr, "{}", diags.render()), 1;
    if (run == 0) most = memory("VmHWM") - before, fmt::print("{} {} {}", program->graph.size(), bytes, most);
    fmt::print(" {}", static_cast<int64_t>(time) * (1'000'000'000 / CLOCKS_PER_SEC));
  }
  fmt::print("\n");
}
