#include "runtime/library.h"

#include <dlfcn.h>

#include <utility>

namespace uop {
namespace {

std::string dlText() {
  const char* text = dlerror();
  return text ? text : "unknown error";
}

}  // namespace

Result<Library> Library::open(const std::string& path) {
  Library library;
  // A name without '/' would be looked for in the system's folders.
  library.path_ = path.find('/') == std::string::npos ? "./" + path : path;
  library.handle_ = dlopen(library.path_.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library.handle_) return fail(Diag::KernelLoad, path, dlText());
  return library;
}

Library& Library::operator=(Library&& other) noexcept {
  std::swap(handle_, other.handle_);
  std::swap(path_, other.path_);
  return *this;
}

Library::~Library() {
  if (handle_) dlclose(handle_);
}

Result<void*> Library::symbol(const std::string& name) const {
  void* address = handle_ ? dlsym(handle_, name.c_str()) : nullptr;
  if (!address) return fail(Diag::KernelLoad, "'" + name + "' of " + path_, handle_ ? dlText() : "the library is not open");
  return address;
}

}  // namespace uop
