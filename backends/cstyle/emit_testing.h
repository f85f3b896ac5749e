// For tests: a kernel from .uop text to running code.
#pragma once
#include <unistd.h>

#include <bit>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "backends/cpu/compile.h"
#include "backends/cpu/jit.h"
#include "backends/cstyle/emit.h"
#include "ir/testing.h"

namespace uop::cstyle::testing {

inline std::string fileText(const std::string& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

// The body of the function whose results are effects.
struct Kernel {
  Program program;
  NodeId body;

  explicit Kernel(const std::string& text) : program(uop::testing::readText(text)) {
    std::vector<NodeId> roots = program.roots();
    body = roots.size() == 1 ? roots[0] : program.graph.make(Op::Sink, roots);
  }
  Kernel(Program p, NodeId b) : program(std::move(p)), body(b) {}
  static Kernel fromFile(const std::string& name) { return Kernel(fileText(UOPC_TESTDATA "/cstyle/" + name + ".uop")); }
  Result<KernelSource> emit(std::string_view symbol = "kernel", EmitOptions options = {}) const { return emitKernel(program.graph, body, symbol, options); }
};

struct Folder {
  std::string path;
  Folder() {
    char name[] = "/tmp/uop-emit-XXXXXX";
    REQUIRE(::mkdtemp(name));
    path = name;
  }
  ~Folder() { std::filesystem::remove_all(path); }
};

// With the system's compilers, where there are any.
inline void checkWarningFree(const std::string& source, const std::string& name) {
  Folder folder;
  const std::string file = folder.path + "/" + name + ".c";
  std::ofstream(file) << source;
  for (const std::string compiler : {"cc", "clang-19"}) {
    if (std::system((compiler + " --version >/dev/null 2>&1").c_str()) != 0) continue;
    INFO(compiler << " on " << name);
    CHECK(std::system((compiler + " -std=c11 -O2 -Wall -Wextra -Werror -c " + file + " -o " + file + ".o").c_str()) == 0);
  }
}

class Runner {
 public:
  explicit Runner(const Kernel& kernel, EmitOptions options = {}) : source(kernel.emit("kernel", options).value()) {
    const std::string text = emitTranslationUnit(std::span(&source, 1));
    auto object = cpu::compileC(text, "kernel", cpu::hostTarget()).value();
    jit_ = cpu::Jit::create().value();
    jit_->addObject(object.bytes).value();
    function_ = reinterpret_cast<Function>(jit_->lookup("kernel").value());
  }
  void operator()(std::vector<void*> places, std::vector<int64_t> scalars = {}, int64_t tasks = -1) const {
    REQUIRE(places.size() == source.places.size());
    REQUIRE(scalars.size() == source.scalars.size());
    std::vector<std::byte> scratch(static_cast<size_t>(source.scratchBytes) + 64);
    void* aligned = reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(scratch.data()) + 63) / 64 * 64);
    if (tasks < 0) tasks = source.tasks;
    for (int64_t task = tasks; task-- > 0;) function_(places.data(), scalars.data(), task, aligned);
  }
  const KernelSource source;

 private:
  using Function = void (*)(void* const*, const int64_t*, int64_t, void*);
  std::unique_ptr<cpu::Jit> jit_;
  Function function_;
};

}  // namespace uop::cstyle::testing
