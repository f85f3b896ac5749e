#include "cmd/uoprun/compiler.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cmd/libuopc/entry.h"
#include "runtime/library.h"

namespace uop::uoprun {
namespace fs = std::filesystem;
namespace {

// Beside the program, as it was built or installed: bin/uoprun and lib/libuopc.so.
Result<std::string> libraryPath() {
  std::error_code ec;
  fs::path self = fs::read_symlink("/proc/self/exe", ec);
  if (ec) return fail(Diag::KernelLoad, "libuopc.so", "this program's own place is not known: " + ec.message());
  fs::path prefix = self.parent_path().parent_path();
  for (const char* dir : {UOPC_LIBDIR, "lib"})
    if (fs::path path = prefix / dir / "libuopc.so"; fs::exists(path, ec)) return path.string();
  return fail(Diag::KernelLoad, "libuopc.so", "it is not in " + (prefix / "lib").string() + "; run an artifact, or give --device interp");
}

// Everything the code needs to live: the reply, and below it the library.
struct Loaded {
  Library library;
  UopcReply reply{};
  UopcReleaseFn release = nullptr;
  UopcLookupFn lookup = nullptr;
  Loaded() = default;
  Loaded(const Loaded&) = delete;
  ~Loaded() {
    if (release) release(&reply);
  }
};

template <class Fn>
Result<Fn> function(const Library& library, const char* name) {
  auto symbol = library.symbol(name);
  if (!symbol) return std::unexpected(symbol.error());
  return reinterpret_cast<Fn>(*symbol);
}

std::string requestOptions(const Options& o, bool color) {
  nlohmann::json json = {{"color", color}, {"set", o.sets}, {"no-cache", !o.useCache}, {"cache", o.cache}};
  if (!o.target.empty()) json["target"] = o.target;
  if (o.cacheSize) json["cache-size"] = *o.cacheSize;
  if (o.level) json["level"] = *o.level;
  if (!o.pipeline.empty()) json["pipeline"] = o.pipeline;
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Result<Artifact> artifactOf(const std::shared_ptr<Loaded>& loaded) {
  auto manifest = nlohmann::json::parse(loaded->reply.manifest);
  auto parsed = parseManifest(loaded->reply.manifest, "libuopc.so");
  if (!parsed) return std::unexpected(parsed.error());
  auto resolve = [loaded](const KernelInfo& kernel) -> Result<KernelFn> {
    if (void* symbol = loaded->lookup(loaded->reply.code, kernel.symbol.c_str())) return reinterpret_cast<KernelFn>(symbol);
    return fail(Diag::KernelLoad, kernel.symbol, "the compiled code does not hold it");
  };
  return Artifact::inMemory(std::move(*parsed), resolve, loaded->reply.program);
}

}  // namespace

Result<Compiled> compileInMemory(const SourceBuffer& source, const Options& options, const Messages& messages) {
  auto path = libraryPath();
  if (!path) return std::unexpected(path.error());
  auto library = Library::open(*path);
  if (!library) return std::unexpected(library.error());
  auto loaded = std::make_shared<Loaded>();
  loaded->library = std::move(*library);
  auto compile = function<UopcCompileFn>(loaded->library, "uopc_compile");
  auto lookup = function<UopcLookupFn>(loaded->library, "uopc_lookup");
  auto release = function<UopcReleaseFn>(loaded->library, "uopc_release");
  if (!compile) return std::unexpected(compile.error());
  if (!lookup) return std::unexpected(lookup.error());
  if (!release) return std::unexpected(release.error());
  std::string json = requestOptions(options, messages.color);
  UopcRequest request{source.text().data(), source.text().size(), source.name().c_str(), json.c_str()};
  (*compile)(&request, &loaded->reply);
  loaded->release = *release;
  loaded->lookup = *lookup;
  messages.err << loaded->reply.messages << std::flush;
  if (loaded->reply.status) return Compiled{loaded->reply.status, std::nullopt};
  auto artifact = artifactOf(loaded);
  if (!artifact) return std::unexpected(artifact.error());
  return Compiled{0, std::move(*artifact)};
}

}  // namespace uop::uoprun
