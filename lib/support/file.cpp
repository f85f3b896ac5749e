#include "support/file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <system_error>

namespace uop {
namespace fs = std::filesystem;
namespace {

std::string errnoText() { return std::strerror(errno); }

// A sibling name, so that the rename stays inside one file system. The process id and a count keep two writers apart.
fs::path pendingName(const fs::path& path) {
  static std::atomic<unsigned> count{0};
  fs::path name = path;
  if (!name.has_filename()) name = name.parent_path();
  return name.parent_path() / fmt::format(".{}.tmp{}.{}", name.filename().string(), getpid(), count++);
}

Result<void> writeAll(const fs::path& path, std::string_view data) {
  int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) return fail(Diag::CannotWrite, path.string(), errnoText());
  while (!data.empty()) {
    ssize_t n = ::write(fd, data.data(), data.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      auto error = fail(Diag::CannotWrite, path.string(), errnoText());
      ::close(fd);
      return error;
    }
    data.remove_prefix(static_cast<size_t>(n));
  }
  if (::close(fd) != 0) return fail(Diag::CannotWrite, path.string(), errnoText());
  return {};
}

// Removes the pending file or folder unless the write came to its end.
struct Pending {
  fs::path path;
  ~Pending() {
    std::error_code ignored;
    if (!path.empty()) fs::remove_all(path, ignored);
  }
};

}  // namespace

Result<std::string> readFile(const std::string& path) {
  if (path == "-") return std::string(std::istreambuf_iterator<char>(std::cin), {});
  std::error_code ec;
  if (fs::is_directory(path, ec)) return fail(Diag::CannotOpen, path, "it is a folder");
  std::ifstream in(path, std::ios::binary);
  if (!in) return fail(Diag::CannotOpen, path, errnoText());
  std::string text(std::istreambuf_iterator<char>(in), {});
  if (in.bad()) return fail(Diag::CannotOpen, path, "it cannot be read");
  return text;
}

std::vector<fs::path> filesBelow(const std::string& folder, std::string_view extension) {
  std::vector<fs::path> out;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.path().extension() == extension) out.push_back(entry.path());
  std::ranges::sort(out);
  return out;
}

Result<void> writeFileAtomically(const std::string& path, std::string_view data) {
  if (path == "-") {
    std::cout.write(data.data(), static_cast<std::streamsize>(data.size())).flush();
    if (!std::cout) return fail(Diag::CannotWrite, "standard output", errnoText());
    return {};
  }
  // A device or a pipe cannot be replaced by a rename.
  std::error_code ec;
  if (auto status = fs::status(path, ec); fs::exists(status) && !fs::is_regular_file(status)) {
    if (fs::is_directory(status)) return fail(Diag::CannotWrite, path, "it is a folder");
    return writeAll(path, data);
  }
  Pending pending{pendingName(path)};
  if (auto done = writeAll(pending.path, data); !done) return done;
  fs::rename(pending.path, path, ec);
  if (ec) return fail(Diag::CannotWrite, path, ec.message());
  return {};
}

Result<void> writeFolderAtomically(const std::string& path, const std::vector<std::pair<std::string, std::string>>& files,
                                   const std::string& marker) {
  std::error_code ec;
  fs::path target = fs::path(path).lexically_normal();
  if (!target.has_filename()) target = target.parent_path();
  bool exists = fs::exists(target, ec);
  if (exists && !fs::is_directory(target, ec)) return fail(Diag::CannotWrite, path, "it exists and is no folder");
  if (exists && !fs::is_empty(target, ec) && !fs::exists(target / marker, ec))
    return fail(Diag::CannotWrite, path, "the folder exists and holds no " + marker + "; give another name or remove it");
  Pending pending{pendingName(target)};
  fs::remove_all(pending.path, ec);
  for (const auto& [name, data] : files) {
    fs::path file = pending.path / name;
    fs::create_directories(file.parent_path(), ec);
    if (ec) return fail(Diag::CannotWrite, file.string(), ec.message());
    if (auto done = writeAll(file, data); !done) return done;
  }
  Pending old;
  if (exists) {
    old.path = pending.path.string() + ".old";
    fs::rename(target, old.path, ec);
    if (ec) return fail(Diag::CannotWrite, path, ec.message());
  }
  fs::rename(pending.path, target, ec);
  if (ec) return fail(Diag::CannotWrite, path, ec.message());
  return {};
}

}  // namespace uop
