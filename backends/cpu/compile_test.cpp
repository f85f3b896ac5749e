#include "backends/cpu/compile.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <thread>

#include "backends/cpu/jit.h"
#include "backends/cpu/link.h"

namespace uop::cpu {
namespace {

constexpr std::string_view kScale = R"(#include <stdint.h>
#include <stdbool.h>
#define EXPORT __attribute__((visibility("default")))
float helper(float x) { return x * 2.0f + 1.0f; }
EXPORT void scale(float* restrict o, const float* restrict a, int64_t n) {
  for (int64_t i = 0; i < n; i++) o[i] = helper(a[i]);
}
EXPORT void clear(uint8_t* o, int64_t n) {
  for (int64_t i = 0; i < n; i++) o[i] = 0;
}
)";
using Scale = void (*)(float*, const float*, int64_t);
using Clear = void (*)(uint8_t*, int64_t);

CpuTarget target(std::string_view spec) { return parseTarget(spec).value(); }
std::string compiled(std::string_view source, CompileOptions options = {}, std::string_view spec = "cpu") {
  return compileC(source, "kernel", target(spec), options).value().bytes;
}
bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

void checkRuns(void* scale, void* clear) {
  REQUIRE(scale);
  REQUIRE(clear);
  float in[3] = {1, 2, -3}, out[3];
  reinterpret_cast<Scale>(scale)(out, in, 3);
  CHECK((out[0] == 3 && out[1] == 5 && out[2] == -5));
  std::vector<uint8_t> bytes(1000, 7);
  reinterpret_cast<Clear>(clear)(bytes.data(), 999);
  CHECK(std::ranges::count(bytes, 0) == 999);
}

// A library opened from memory, as a loader would from a file.
struct Opened {
  int fd;
  void* handle;
  explicit Opened(const std::string& bytes) : fd(::memfd_create("library", MFD_CLOEXEC)) {
    REQUIRE(::write(fd, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
    handle = ::dlopen(("/proc/self/fd/" + std::to_string(fd)).c_str(), RTLD_NOW | RTLD_LOCAL);
  }
  ~Opened() {
    if (handle) ::dlclose(handle);
    ::close(fd);
  }
  int needed() const {
    link_map* map = nullptr;
    REQUIRE(::dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0);
    int count = 0;
    for (const ElfW(Dyn)* entry = map->l_ld; entry->d_tag != DT_NULL; entry++) count += entry->d_tag == DT_NEEDED;
    return count;
  }
};

}  // namespace

TEST_CASE("C compiles in the process to each kind of output") {
  CHECK(compiled(kScale).substr(1, 3) == "ELF");
  CHECK(has(compiled(kScale, {.emit = Emit::LlvmIr}), "void @scale("));
  CHECK(has(compiled(kScale, {.emit = Emit::Assembly}), "scale:"));
  CHECK(compiled(kScale, {.emit = Emit::Bitcode}).starts_with("BC"));
  for (unsigned level = 0; level <= 3; level++) CHECK(!compiled(kScale, {.optLevel = level}).empty());
  CHECK(llvmVersion().starts_with("19."));
  CHECK(has(clangVersion(), "19."));
}

TEST_CASE("vectors are as wide as the cpu's, and nothing is contracted") {
  CHECK(has(compiled(kScale, {.emit = Emit::LlvmIr}, "cpu:znver4"), "<16 x float>"));
  CHECK(has(compiled(kScale, {.emit = Emit::LlvmIr}, "cpu:x86-64-v3"), "<8 x float>"));
  CHECK(!has(compiled(kScale, {.emit = Emit::LlvmIr}, "cpu:znver4,-avx512f"), "<16 x float>"));
  CHECK(has(compiled(kScale, {.emit = Emit::Assembly}, "cpu:znver4"), "%zmm"));
  CHECK(!has(compiled(kScale, {.emit = Emit::Assembly}, "cpu:znver4"), "fmadd"));
  const std::string root = "float f(float x) { return __builtin_sqrtf(x); }";
  CHECK(!has(compiled(root, {.emit = Emit::Assembly}), "call"));
  CHECK(!has(compiled(root, {.emit = Emit::Assembly}), "jmp"));
}

TEST_CASE("every known cpu compiles") {
  for (const std::string& cpu : knownCpus()) CHECK(!compiled("int f(int x) { return x + 1; }", {}, "cpu:" + cpu).empty());
}

TEST_CASE("the same source gives the same bytes, which tell no place") {
  const std::string object = compiled(kScale);
  CHECK(compiled(kScale) == object);
  CHECK(has(object, "kernel.c"));
  CHECK(!has(object, "clang version"));
  CHECK(!has(object, "/kernel"));
  CHECK(!has(object, UOPC_SOURCE_DIR));
}

TEST_CASE("generated C that does not compile is our fault, with Clang's words") {
  try {
    (void)compileC("int f(void) { return nothing; }", "broken", target("cpu"));
    FAIL("no exception");
  } catch (const InternalError& error) {
    CHECK(has(error.what(), "broken.c:1:22: error: use of undeclared identifier 'nothing'"));
  }
  CHECK_THROWS_AS(compileC("#include <math.h>\n", "header", target("cpu")), InternalError);
}

TEST_CASE("several threads compile and link at once") {
  const std::string object = compiled(kScale), library = linkShared(std::span(&object, 1), "k.so").value();
  std::vector<std::string> objects(6), libraries(6);
  {
    std::vector<std::jthread> threads;
    for (size_t i = 0; i < objects.size(); i++)
      threads.emplace_back([&, i] {
        objects[i] = compiled(kScale);
        libraries[i] = linkShared(std::span(&objects[i], 1), "k.so").value();
      });
  }
  CHECK(std::ranges::count(objects, object) == 6);
  CHECK(std::ranges::count(libraries, library) == 6);
}

TEST_CASE("a linked library loads by dlopen, needs none and shows kernels only") {
  const std::string two = compiled("__attribute__((visibility(\"default\"))) int two(void) { return 2; }");
  const std::vector<std::string> objects = {compiled(kScale), two};
  const std::string library = linkShared(objects, "kernels.so").value();
  CHECK(linkShared(objects, "kernels.so").value() == library);
  CHECK(has(library, "kernels.so"));
  CHECK(!has(library, "/tmp"));
  const Opened opened(library);
  REQUIRE(opened.handle);
  CHECK(opened.needed() == 0);
  CHECK(::dlsym(opened.handle, "helper") == nullptr);
  CHECK(::dlsym(opened.handle, "two") != nullptr);
  checkRuns(::dlsym(opened.handle, "scale"), ::dlsym(opened.handle, "clear"));
}

TEST_CASE("a link that fails is our fault, and leaves the linker usable") {
  const std::vector<std::string> twice = {compiled(kScale), compiled(kScale)};
  try {
    (void)linkShared(twice, "k.so");
    FAIL("no exception");
  } catch (const InternalError& error) {
    CHECK(has(error.what(), "duplicate symbol: "));
  }
  const std::vector<std::string> garbage = {"no object"};
  CHECK_THROWS_AS(linkShared(garbage, "k.so"), InternalError);
  CHECK(linkShared(std::span(twice).first(1), "k.so").has_value());
}

TEST_CASE("the JIT runs an object and resolves memset from the process") {
  const auto jit = Jit::create().value();
  REQUIRE(jit->addObject(compiled(kScale)));
  checkRuns(jit->lookup("scale").value(), jit->lookup("clear").value());
  CHECK(jit->lookup("scale").value() == jit->lookup("scale").value());
}

TEST_CASE("what the JIT cannot load is an error") {
  const auto jit = Jit::create().value();
  CHECK(jit->addObject("garbage").error().kind == Diag::KernelLoad);
  CHECK(has(jit->lookup("nowhere").error().message, "'nowhere'"));
  REQUIRE(jit->addObject(compiled("void missing(void); __attribute__((visibility(\"default\"))) void f(void) { missing(); }")));
  CHECK(has(jit->lookup("f").error().message, "missing"));
  REQUIRE(jit->addObject(compiled(kScale)));
  CHECK(has(jit->addObject(compiled(kScale)).error().message, "Duplicate definition"));
  CHECK(jit->lookup("scale").has_value());
}

}  // namespace uop::cpu
