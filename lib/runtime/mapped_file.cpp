#include "runtime/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "support/file.h"

namespace uop {

Result<MappedFile> MappedFile::open(const std::string& path) {
  MappedFile file;
  int fd = path == "-" ? -1 : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0 && path != "-") return fail(Diag::CannotOpen, path, std::strerror(errno));
  struct stat status = {};
  if (fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
    void* map = mmap(nullptr, static_cast<size_t>(status.st_size), PROT_READ, MAP_PRIVATE, fd, 0);
    if (map != MAP_FAILED) file.map_ = map, file.size_ = static_cast<size_t>(status.st_size);
  }
  if (fd >= 0) ::close(fd);
  if (file.map_) return file;
  auto text = readFile(path);
  if (!text) return std::unexpected(text.error());
  file.text_ = std::move(*text);
  return file;
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : map_(std::exchange(other.map_, nullptr)), size_(other.size_), text_(std::move(other.text_)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(map_, other.map_);
  std::swap(size_, other.size_);
  std::swap(text_, other.text_);
  return *this;
}

MappedFile::~MappedFile() {
  if (map_) munmap(map_, size_);
}

}  // namespace uop
