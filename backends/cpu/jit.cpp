#include "backends/cpu/jit.h"

#include <llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h>
#include <llvm/Support/MemoryBuffer.h>

#include <mutex>
#include <utility>

#include "backends/cpu/llvm_setup.h"

namespace uop::cpu {
namespace orc = llvm::orc;

struct Jit::Impl {
  std::unique_ptr<orc::LLJIT> jit;
  std::mutex mutex;
  std::string reported;  // what ORC's session reported since the last lookup: the reasons behind a "failed to materialize"
};

namespace {

llvm::Expected<std::unique_ptr<orc::ObjectLayer>> makeLinkingLayer(orc::ExecutionSession& session, const llvm::Triple&) {
  return std::make_unique<orc::ObjectLinkingLayer>(session);
}

// Only objects are added, so that neither a compiler nor the runtime for IR constructors is wanted.
llvm::Expected<std::unique_ptr<orc::LLJIT>> makeJit() {
  return orc::LLJITBuilder()
      .setJITTargetMachineBuilder(orc::JITTargetMachineBuilder(llvm::Triple(kTriple)))
      .setObjectLinkingLayerCreator(makeLinkingLayer)
      .setPlatformSetUp(orc::setUpInactivePlatform)
      .create();
}

}  // namespace

Jit::Jit(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Jit::~Jit() = default;

Result<std::unique_ptr<Jit>> Jit::create() {
  nativeTarget();
  auto jit = makeJit();
  if (!jit) return fail(Diag::Unsupported, "cannot make code in this process: " + llvm::toString(jit.takeError()));
  auto impl = std::make_unique<Impl>();
  impl->jit = std::move(*jit);
  impl->jit->getExecutionSession().setErrorReporter([state = impl.get()](llvm::Error error) {
    const std::lock_guard lock(state->mutex);
    state->reported += llvm::toString(std::move(error)) + "\n";
  });
  return std::unique_ptr<Jit>(new Jit(std::move(impl)));
}

Result<void> Jit::addObject(std::string_view bytes) {
  auto buffer = llvm::MemoryBuffer::getMemBufferCopy(llvm::StringRef(bytes.data(), bytes.size()), "kernel");
  if (llvm::Error error = impl_->jit->addObjectFile(std::move(buffer)))
    return fail(Diag::KernelLoad, "an object", llvm::toString(std::move(error)));
  return {};
}

Result<void*> Jit::lookup(std::string_view symbol) {
  auto address = impl_->jit->lookup(llvm::StringRef(symbol.data(), symbol.size()));
  if (address) return address->toPtr<void*>();
  std::string text = llvm::toString(address.takeError());
  const std::lock_guard lock(impl_->mutex);
  text += "\n" + std::exchange(impl_->reported, {});
  while (text.ends_with('\n')) text.pop_back();
  return fail(Diag::KernelLoad, fmt::format("'{}'", symbol), text);
}

}  // namespace uop::cpu
