#include "backends/cpu/llvm_setup.h"

#include <llvm/Support/TargetSelect.h>

#include "support/diagnostics.h"

namespace uop::cpu {

const llvm::Target& nativeTarget() {
  static const llvm::Target* target = [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeX86AsmParser();
    std::string error;
    const llvm::Target* found = llvm::TargetRegistry::lookupTarget(kTriple, error);
    if (!found) internalError("LLVM has no x86 backend: " + error);
    return found;
  }();
  return *target;
}

}  // namespace uop::cpu
