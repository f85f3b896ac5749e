#include "backends/cpu/link.h"

#include <fcntl.h>
#include <lld/Common/CommonLinkerContext.h>
#include <lld/Common/Driver.h>
#include <llvm/Support/raw_ostream.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <mutex>
#include <vector>

LLD_HAS_DRIVER(elf)

namespace uop::cpu {
namespace {

std::unexpected<Error> ioError() { return fail(Diag::CannotWrite, "a linker's temporary file", std::strerror(errno)); }

// A nameless file in memory that lld opens by its place in /proc.
class MemoryFile {
 public:
  explicit MemoryFile(const char* label) : fd_(::memfd_create(label, MFD_CLOEXEC)) {}
  ~MemoryFile() {
    if (fd_ >= 0) ::close(fd_);
  }
  MemoryFile(MemoryFile&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  MemoryFile& operator=(MemoryFile&&) = delete;

  bool write(std::string_view data) const {
    while (fd_ >= 0 && !data.empty()) {
      const ssize_t n = ::write(fd_, data.data(), data.size());
      if (n < 0 && errno != EINTR) return false;
      if (n > 0) data.remove_prefix(static_cast<size_t>(n));
    }
    return fd_ >= 0;
  }
  std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }

 private:
  int fd_;
};

// A folder for the library, since lld replaces its output by renaming.
class PrivateFolder {
 public:
  PrivateFolder() {
    if (!::mkdtemp(path_)) path_[0] = '\0';
  }
  ~PrivateFolder() {
    if (!*this) return;
    ::unlink(library().c_str());
    ::rmdir(path_);
  }
  explicit operator bool() const { return path_[0] != '\0'; }
  std::string library() const { return std::string(path_) + "/out.so"; }

 private:
  char path_[32] = "/tmp/uopc-link-XXXXXX";
};

Result<std::string> readAll(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return ioError();
  std::string data;
  char chunk[1 << 16];
  ssize_t n;
  while ((n = ::read(fd, chunk, sizeof chunk)) > 0 || (n < 0 && errno == EINTR))
    if (n > 0) data.append(chunk, static_cast<size_t>(n));
  ::close(fd);
  if (n < 0) return ioError();
  return data;
}

void runLld(const std::vector<std::string>& args) {
  static std::mutex serial;  // lld keeps its state in one global context
  const std::lock_guard lock(serial);
  std::vector<const char*> argv;
  for (const std::string& arg : args) argv.push_back(arg.c_str());
  std::string messages;
  llvm::raw_string_ostream out(messages);
  const bool ok = lld::elf::link(argv, out, out, /*exitEarly=*/false, /*disableOutput=*/false);
  lld::CommonLinkerContext::destroy();
  if (!ok) internalError("kernels do not link:\n" + messages);
}

}  // namespace

Result<std::string> linkShared(std::span<const std::string> objects, std::string_view soname) {
  const PrivateFolder folder;
  if (!folder) return ioError();
  std::vector<std::string> args = {"ld.lld", "-shared", "--build-id=none", "--hash-style=gnu", "-z", "noexecstack",
                                   "-z", "relro", "-z", "now", "--threads=1", "-O1", "--strip-debug", "--fatal-warnings",
                                   "-soname", std::string(soname), "-o", folder.library()};
  std::vector<MemoryFile> inputs;
  for (const std::string& object : objects) {
    inputs.emplace_back("uopc-object");
    if (!inputs.back().write(object)) return ioError();
    args.push_back(inputs.back().path());
  }
  runLld(args);
  return readAll(folder.library());
}

}  // namespace uop::cpu
