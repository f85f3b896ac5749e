#include "cmd/common/interrupt.h"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <set>
#include <thread>

namespace uop {
namespace fs = std::filesystem;
namespace {

int wakeFd = -1;
std::mutex foldersLock;
std::set<fs::path>& folders() {
  static auto* all = new std::set<fs::path>;  // outlives the thread below, whatever ends first
  return *all;
}

void onSignal(int) {
  char byte = 0;
  [[maybe_unused]] ssize_t n = ::write(wakeFd, &byte, 1);
}

// The names that the writers of support/file.h use: ".NAME.tmpPID" and ".NAME.tmpPID.old".
void removePending() {
  std::scoped_lock lock(foldersLock);
  std::string mark = ".tmp" + std::to_string(getpid());
  std::error_code ec;
  for (const fs::path& folder : folders())
    for (auto it = fs::directory_iterator(folder, ec); !ec && it != fs::directory_iterator(); it.increment(ec)) {
      std::string name = it->path().filename().string();
      if (name.starts_with(".") && name.ends_with(mark)) fs::remove_all(it->path(), ec);
    }
}

}  // namespace

// A handler may call next to nothing, so a thread of its own waits for it and tidies up.
void installInterruptHandler() {
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0) return;
  wakeFd = fds[1];
  std::thread([fd = fds[0]] {
    char byte;
    while (::read(fd, &byte, 1) < 0) continue;
    removePending();
    std::_Exit(130);
  }).detach();
  struct sigaction action {};
  action.sa_handler = onSignal;
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

void guardOutput(const std::string& path) {
  if (path.empty() || path == "-") return;
  std::error_code ec;
  fs::path target = fs::absolute(path, ec).lexically_normal();
  if (!target.has_filename()) target = target.parent_path();
  std::scoped_lock lock(foldersLock);
  folders().insert(target.parent_path());
}

}  // namespace uop
