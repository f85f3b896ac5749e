// The manifest of an artifact: what a compiled program needs to run. manifest.schema.json describes its JSON form.
//
// Memory of a run: the *arguments* (bound by name, in blocks of their own), the *state* (buffers and constants, at offsets
// of one block that lives as long as the session), and the *arena* (temporaries and results, at offsets of one block whose
// contents mean nothing between runs). Kernels name a place by base, index and byte offset.
//
// Every index into arguments, buffers, constants, results and kernels is a position in the manifest's list, not a slot.
#pragma once
#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "runtime/amount.h"
#include "runtime/tensor.h"

namespace uop {

struct Target {
  std::string name = "cpu";           // cpu, opencl, cuda, hip, interp
  std::string cpu;                    // LLVM's name of the CPU, e.g. "znver5"; or the GPU's architecture
  std::vector<std::string> features;  // of the CPU, in LLVM's names, that the kernels use: all are required
  bool operator==(const Target&) const = default;
};

// A PARAM of the program. shape [] makes it a scalar, which kernels get by value; else it is a place.
struct ArgumentInfo {
  std::string name;
  DType dtype = DType::F32;
  Shape shape;
  int64_t slot = 0;                 // of the PARAM; unique
  std::optional<int64_t> min, max;  // of an integer one; every element is checked when it is bound
  bool isScalar() const { return shape.empty(); }
  bool operator==(const ArgumentInfo&) const = default;
};

// A BUFFER of the program: a place in the state that keeps its contents from run to run.
struct BufferInfo {
  std::string name;
  DType dtype = DType::F32;
  Shape shape;
  int64_t slot = 0;  // of the BUFFER; unique
  bool isConst = false;
  int64_t offset = 0;  // bytes from the start of the state; see layoutState
  bool operator==(const BufferInfo&) const = default;
};

// Data that the compiler made: read from a file, or (no file) written by the `once` launches. A place in the state.
struct ConstantInfo {
  std::string name;
  DType dtype = DType::F32;
  Shape shape;
  int64_t offset = 0;      // bytes from the start of the state
  std::string file;        // "" where `once` fills it; else one of `files`
  int64_t fileOffset = 0;  // bytes; raw little-endian row-major elements
  bool operator==(const ConstantInfo&) const = default;
};

enum class Base : uint8_t { Argument, Buffer, Constant, Arena, Result };

// `bytes` bytes from `offset` of a place argument, a buffer, a constant, the arena (index 0) or a result.
struct Place {
  Base base = Base::Arena;
  int64_t index = 0;
  int64_t offset = 0;
  int64_t bytes = 0;
  bool operator==(const Place&) const = default;
};

// A result, dense and row-major at `place`, whose bytes are exactly the tensor's. Its base is argument, buffer, constant or arena.
struct ResultInfo {
  std::string name;
  DType dtype = DType::F32;
  Shape shape;
  Place place;
  bool operator==(const ResultInfo&) const = default;
};

struct MemoryPlan {
  int64_t arenaBytes = 0;
  int64_t stateBytes = 0;
  int64_t alignment = kAlignment;     // of both blocks, arguments and scratch; always 64
  int64_t peakBytes = 0;              // the most bytes of the arena that are live at once: at most arenaBytes
  int64_t scratchBytesPerThread = 0;  // private to a worker, contents undefined at a task's start
  bool operator==(const MemoryPlan&) const = default;
};

struct FileInfo {
  std::string file;  // relative to the folder, with '/'
  int64_t size = 0;  // bytes
  std::string sha256;
  bool operator==(const FileInfo&) const = default;
};

// A function of a shared object; several kernels may share a file. For an artifact in memory `file` and `sha256` may be empty.
struct KernelInfo {
  std::string name;  // unique
  std::string file;
  std::string symbol;
  std::string sha256;  // of the file
  int64_t size = 0;    // of the file
  std::string source;  // its source text, one of `files`, or ""
  bool operator==(const KernelInfo&) const = default;
};

struct LaunchArg {
  enum class Kind : uint8_t { Place, Scalar } kind = Kind::Place;
  Place place;                // of a Place
  bool write = false;         // of a Place: the kernel may write it. Needed where it is an argument (for --bench) and refused for const
  int64_t index = 0;          // of a Scalar: which argument
  DType dtype = DType::Void;  // of a Scalar: the argument's
  bool operator==(const LaunchArg&) const = default;
};

// One kernel over a grid. On the CPU each of grid[0]*grid[1]*grid[2] tasks is one call, and block is [1,1,1].
struct Launch {
  int64_t kernel = 0;  // index; in JSON also its name
  std::vector<LaunchArg> args;
  std::array<Amount, 3> grid = {Amount{1, {}}, Amount{1, {}}, Amount{1, {}}};
  std::array<int64_t, 3> block = {1, 1, 1};
  int64_t threads = 0;   // the most threads that help; 0: as many as there are, 1: the calling thread alone
  Amount flops, bytes;   // floating-point operations, and bytes of memory read and written at least
  std::string tag;       // the program's label, "" without
  bool operator==(const Launch&) const = default;
};

struct Manifest {
  static constexpr int64_t kVersion = 1;
  std::string name;
  Target target;
  std::vector<ArgumentInfo> arguments;
  std::vector<BufferInfo> buffers;
  std::vector<ConstantInfo> constants;
  std::vector<ResultInfo> results;
  MemoryPlan memory;
  std::vector<KernelInfo> kernels;
  std::vector<Launch> once;      // at load, after the const buffers are bound; again when one is bound anew
  std::vector<Launch> launches;  // of each run, in order
  std::vector<FileInfo> files;   // every file but those of kernels and the program
  FileInfo program;              // the canonical program, "program.uop"
  bool operator==(const Manifest&) const = default;
};

std::string_view baseName(Base base);

// Gives buffers and constants their offsets, in order, and sets memory.stateBytes. Shapes must be within the limits.
void layoutState(Manifest& manifest);

// Where a manifest comes from: an artifact in memory may leave out the files.
enum class ManifestForm : uint8_t { Folder, InMemory };

// Reads and checks everything that can be without the files. `label` stands first in messages, before the place inside:
// "manifest.json: launches[3].args[1].offset: ...". Errors: Diag::ManifestError.
Result<Manifest> parseManifest(std::string_view json, std::string_view label = "manifest.json");

// The checks of parseManifest on a manifest in memory.
Result<void> checkManifest(const Manifest& manifest, ManifestForm form = ManifestForm::Folder, std::string_view label = "manifest.json");

// Every file is inside `folder` (symbolic links followed), of the size and SHA-256 that are stated. Errors: Diag::ManifestError.
Result<void> checkManifestFiles(const Manifest& manifest, const std::filesystem::path& folder, std::string_view label = "manifest.json");

// JSON of the manifest: the same manifest gives the same bytes. Ends in a newline.
std::string writeManifest(const Manifest& manifest);

}  // namespace uop
