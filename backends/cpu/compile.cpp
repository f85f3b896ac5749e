#include "backends/cpu/compile.h"

#include <clang/Basic/DiagnosticOptions.h>
#include <clang/Basic/FileManager.h>
#include <clang/Basic/Version.h>
#include <clang/CodeGen/CodeGenAction.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/CompilerInvocation.h>
#include <clang/Frontend/TextDiagnosticPrinter.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/VirtualFileSystem.h>
#include <llvm/Support/raw_ostream.h>

#include <algorithm>
#include <utility>

#include "backends/cpu/headers.h"
#include "backends/cpu/llvm_setup.h"

namespace uop::cpu {
namespace {

// Code positions, sizes and names come from the source alone: no ident string (-Qn), no folder, no debug information.
std::vector<std::string> cc1Arguments(const std::string& file, const CpuTarget& target, const CompileOptions& options) {
  std::vector<std::string> args = {
      "-triple", kTriple, "-main-file-name", file, "-x", "c", "-std=gnu11", "-w", "-Qn",
      "-fdebug-compilation-dir=.", "-fcoverage-compilation-dir=.", "-nostdsysteminc", "-nobuiltininc",
      "-internal-isystem", "/include", "-mrelocation-model", "pic", "-pic-level", "2", "-mframe-pointer=none",
      "-ffp-contract=off", "-fvisibility=hidden",
      // Storage is reused for values of other types, and a kernel's places carry `restrict`: types say nothing more.
      "-relaxed-aliasing", "-target-cpu", target.cpu,
      "-O" + std::to_string(std::min(options.optLevel, 3u))};
  for (const std::string& feature : target.features) args.insert(args.end(), {"-target-feature", feature});
  if (options.optLevel >= 1) args.insert(args.end(), {"-vectorize-loops", "-vectorize-slp"});
  args.push_back("-mprefer-vector-width=" + std::to_string(vectorBits(target)));
  args.push_back("/" + file);
  return args;
}

std::unique_ptr<clang::FrontendAction> makeAction(Emit emit) {
  switch (emit) {
    case Emit::Object: return std::make_unique<clang::EmitObjAction>();
    case Emit::LlvmIr: return std::make_unique<clang::EmitLLVMAction>();
    case Emit::Assembly: return std::make_unique<clang::EmitAssemblyAction>();
    case Emit::Bitcode: return std::make_unique<clang::EmitBCAction>();
  }
  std::unreachable();
}

llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> sourceTree(const std::string& file, std::string_view source) {
  auto tree = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
  tree->addFile("/" + file, 0, llvm::MemoryBuffer::getMemBufferCopy(llvm::StringRef(source.data(), source.size()), file));
  for (const Header& header : kHeaders)
    tree->addFile(std::string("/include/") + header.name, 0, llvm::MemoryBuffer::getMemBuffer(header.text, header.name));
  return tree;
}

struct Outcome {
  bool ok = false;
  std::string bytes, messages;
};

Outcome runClang(const std::string& file, std::string_view source, const CpuTarget& target, const CompileOptions& options) {
  Outcome outcome;
  llvm::raw_string_ostream messages(outcome.messages);
  auto printer = new clang::TextDiagnosticPrinter(messages, new clang::DiagnosticOptions);  // owned by `diagnostics`
  llvm::IntrusiveRefCntPtr<clang::DiagnosticsEngine> diagnostics(
      new clang::DiagnosticsEngine(new clang::DiagnosticIDs, new clang::DiagnosticOptions, printer));
  const std::vector<std::string> args = cc1Arguments(file, target, options);
  std::vector<const char*> argv;
  for (const std::string& arg : args) argv.push_back(arg.c_str());
  auto invocation = std::make_shared<clang::CompilerInvocation>();
  if (!clang::CompilerInvocation::CreateFromArgs(*invocation, argv, *diagnostics)) return outcome;

  llvm::SmallString<0> code;
  clang::CompilerInstance instance;
  instance.setInvocation(std::move(invocation));
  instance.setDiagnostics(diagnostics.get());
  instance.setVerboseOutputStream(messages);
  instance.createFileManager(sourceTree(file, source));
  instance.setOutputStream(std::make_unique<llvm::raw_svector_ostream>(code));
  const std::unique_ptr<clang::FrontendAction> action = makeAction(options.emit);
  outcome.ok = instance.ExecuteAction(*action) && !diagnostics->hasErrorOccurred();
  outcome.bytes.assign(code.begin(), code.end());
  return outcome;
}

}  // namespace

Result<CompiledObject> compileC(std::string_view source, std::string_view name, const CpuTarget& target,
                                CompileOptions options) {
  nativeTarget();
  const std::string file = std::string(name) + ".c";
  Outcome outcome = runClang(file, source, target, options);
  if (!outcome.ok) internalError(fmt::format("the C that was generated for '{}' does not compile:\n{}", name, outcome.messages));
  return CompiledObject{std::move(outcome.bytes)};
}

std::string compileIdentity(const CpuTarget& target, CompileOptions options) {
  // Each part with its length, so that no text can pass for another's parts.
  std::string out;
  auto part = [&](std::string_view text) { out += fmt::format("{}:{}\n", text.size(), text); };
  part(UOPC_CLANG_SETUP);
  part(clangVersion());
  part(llvmVersion());
  part(fmt::format("{}", std::to_underlying(options.emit)));
  for (const std::string& arg : cc1Arguments("", target, options)) part(arg);
  return out;
}

std::string llvmVersion() { return LLVM_VERSION_STRING; }
std::string clangVersion() { return clang::getClangFullVersion(); }

}  // namespace uop::cpu
