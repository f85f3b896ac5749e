#include "cmd/check/isolate.h"

#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <vector>

namespace uop {
namespace {

constexpr uint64_t kBatch = 64;  // one process after another, since what leaks or is corrupted should not last
constexpr rlim_t kMemory = rlim_t{8} << 30;

int64_t now() { return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

void limitMemory() {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__clang__)  // whose shadow memory counts
  rlimit limit{kMemory, kMemory};
  setrlimit(RLIMIT_AS, &limit);
#endif
}

struct Child {
  pid_t pid = 0;
  int from = -1;
};

Child start(const std::function<void(int)>& body) {
  int ends[2];
  if (pipe(ends)) throw std::runtime_error("no pipe");
  pid_t pid = fork();
  if (pid < 0) throw std::runtime_error("no process");
  if (pid > 0) return close(ends[1]), Child{pid, ends[0]};
  close(ends[0]);
  for (int s : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTERM}) signal(s, SIG_DFL);  // what a test program has set would report it
  limitMemory();
  body(ends[1]);
  _exit(0);
}

// Waits for the end, or makes it.
Ending finish(const Child& c, bool late, std::string* why = nullptr) {
  if (late) kill(c.pid, SIGKILL);
  close(c.from);
  int status = 0;
  waitpid(c.pid, &status, 0);
  if (late) return Ending::Hang;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return Ending::Done;
  if (why) *why = WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "exit status " + std::to_string(WEXITSTATUS(status));
  return Ending::Crash;
}

void send(int to, const void* data, size_t size) {
  for (auto* at = static_cast<const char*>(data); size > 0;) {
    ssize_t n = write(to, at, size);
    if (n <= 0) _exit(1);
    at += n, size -= static_cast<size_t>(n);
  }
}

struct Batch {
  Child child;
  uint64_t next, end;
  int64_t deadline;
};

class Workers {
 public:
  Workers(uint64_t count, unsigned processes, int seconds, const Work& work, const Done& done) : processes_(processes), patience_(seconds * int64_t{1000}), work_(work), done_(done) {
    for (uint64_t end = (count + kBatch - 1) / kBatch * kBatch; end > 0; end -= kBatch) todo_.emplace_back(end - kBatch, std::min(end, count));
  }
  void run() {
    while (go_ && (!running_.empty() || !todo_.empty())) {
      while (!todo_.empty() && running_.size() < processes_) startNext();
      wait();
    }
    for (const Batch& b : running_) finish(b.child, true);
  }

 private:
  void startNext();
  void wait();
  bool hear(Batch& b, bool ready);  // whether it goes on

  unsigned processes_;
  int64_t patience_;
  const Work& work_;
  const Done& done_;
  std::vector<Batch> running_;
  std::vector<std::pair<uint64_t, uint64_t>> todo_;  // what is left, next last
  bool go_ = true;
};

void Workers::startNext() {
  auto [first, end] = todo_.back();
  todo_.pop_back();
  Child c = start([&, first = first, end = end](int to) {
    for (uint64_t i = first; i < end; ++i) {
      uint64_t word = work_(i);
      send(to, &word, sizeof word);
    }
  });
  running_.push_back({c, first, end, now() + patience_});
}

void Workers::wait() {
  std::vector<pollfd> polls;
  int64_t wake = INT64_MAX;
  for (const Batch& b : running_) polls.push_back({b.child.from, POLLIN, 0}), wake = std::min(wake, b.deadline);
  poll(polls.data(), polls.size(), static_cast<int>(std::clamp<int64_t>(wake - now(), 0, 1000)));
  for (size_t k = running_.size(); k-- > 0;) {
    bool ready = polls[k].revents != 0;
    if (!ready && now() < running_[k].deadline) continue;
    if (!hear(running_[k], ready)) running_.erase(running_.begin() + static_cast<long>(k));
  }
}

bool Workers::hear(Batch& b, bool ready) {
  uint64_t word = 0;
  // A word is written at once, so it is read at once.
  if (ready && read(b.child.from, &word, sizeof word) == sizeof word) {
    b.deadline = now() + patience_;
    go_ = done_(b.next++, Ending::Done, word) && go_;
    return true;
  }
  Ending ending = finish(b.child, !ready);
  if (b.next == b.end) return false;
  go_ = done_(b.next, ending == Ending::Done ? Ending::Crash : ending, 0) && go_;
  if (b.next + 1 < b.end) todo_.emplace_back(b.next + 1, b.end);
  return false;
}

}  // namespace

Isolated isolated(const std::function<std::string()>& work, int seconds) {
  Child c = start([&](int to) {
    std::string out = work();
    send(to, out.data(), out.size());
  });
  Isolated result;
  int64_t deadline = now() + seconds * int64_t{1000};
  for (char buffer[4096];;) {
    pollfd p{c.from, POLLIN, 0};
    int64_t left = deadline - now();
    bool late = left <= 0 || poll(&p, 1, static_cast<int>(left)) == 0;
    ssize_t n = late ? 0 : read(c.from, buffer, sizeof buffer);
    if (n > 0) result.output.append(buffer, static_cast<size_t>(n));
    if (n > 0) continue;
    std::string why;
    result.ending = finish(c, late, &why);
    if (result.ending != Ending::Done) result.output = why;
    return result;
  }
}

void isolatedAll(uint64_t count, unsigned processes, int seconds, const Work& work, const Done& done) { Workers(count, processes, seconds, work, done).run(); }

}  // namespace uop
