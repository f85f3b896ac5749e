#include "cmd/libuopc/entry.h"

#include <nlohmann/json.hpp>
#include <sstream>

#include "cmd/compiler/artifact.h"

namespace uop {
namespace {

struct Owner {
  std::string messages, manifest, program;
  std::unique_ptr<cpu::Jit> code;
};

CompileChoices choicesOf(const nlohmann::json& o) {
  CompileChoices c;
  c.target = o.value("target", "");
  if (o.contains("level")) c.level = o["level"].get<int>();
  c.pipelineFile = o.value("pipeline", "");
  c.sets = o.value("set", std::vector<std::string>{});
  return c;
}

CodegenOptions codegenOf(const nlohmann::json& o) {
  CodegenOptions c;
  c.cache.folder = o.value("cache", "");
  c.cache.enabled = !o.value("no-cache", false);
  c.cache.limit = o.value("cache-size", c.cache.limit);
  return c;
}

int compile(const SourceBuffer& source, const nlohmann::json& options, const Messages& messages, Owner& owner) {
  int status = kDone;
  auto compilation = chooseCompilation(choicesOf(options), messages, status);
  if (!compilation) return status;
  Diagnostics diags(&source);
  auto program = readProgram(source, diags);
  messages.show(diags);
  if (!program) return kInputError;
  Program original = compacted(*program);
  try {
    auto lowered = PassManager(compilation->pipeline, {}).run(std::move(*program));
    if (!lowered) return messages.show(lowered.error(), &source);
    auto built = build(*lowered, original, *compilation);
    if (!built) return messages.show(built.error(), &source);
    owner.program = built->program;
    auto jitted = jit(std::move(*built), *compilation, codegenOf(options));
    if (!jitted) return messages.show(jitted.error());
    owner.manifest = writeManifest(jitted->manifest);
    owner.code = std::move(jitted->code);
    return kDone;
  } catch (const PassFault& fault) {
    return reportFault(fault, *compilation, {}, source, "uoprun " + source.name(), messages);
  } catch (const InternalError& error) {
    return reportFault(PassFault("code generation", SIZE_MAX, error.what()), *compilation, {}, source, "uoprun " + source.name(), messages);
  }
}

}  // namespace
}  // namespace uop

int uopc_compile(const UopcRequest* request, UopcReply* reply) {
  auto owner = std::make_unique<uop::Owner>();
  std::ostringstream err;
  try {
    auto options = nlohmann::json::parse(request->options);
    uop::SourceBuffer source(request->name, std::string(request->text, request->textSize));
    reply->status = uop::compile(source, options, {err, options.value("color", false)}, *owner);
  } catch (const std::exception& e) {
    err << "uopc: internal error: " << e.what() << '\n';
    reply->status = uop::kCompilerFault;
  }
  owner->messages = err.str();
  reply->messages = owner->messages.c_str();
  reply->manifest = owner->manifest.c_str();
  reply->program = owner->program.c_str();
  reply->code = owner->code.get();
  reply->owner = owner.release();
  return reply->status;
}

void* uopc_lookup(void* code, const char* symbol) {
  if (!code) return nullptr;
  auto found = static_cast<uop::cpu::Jit*>(code)->lookup(symbol);
  return found ? *found : nullptr;
}

void uopc_release(UopcReply* reply) {
  delete static_cast<uop::Owner*>(reply->owner);
  *reply = {};
}
