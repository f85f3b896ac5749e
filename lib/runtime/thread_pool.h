// Runs numbered tasks on a few threads. The caller is worker 0; the others start at the first run that can use them and
// sleep between runs. Tasks are handed out in order by one counter: they are independent, so which worker runs which task
// never shows in a result.
#pragma once
#include <atomic>
#include <cstdint>
#include <thread>
#include <type_traits>
#include <vector>

namespace uop {

class ThreadPool {
 public:
  // `threads`: the most that run tasks, the caller included; 0 is one a core this process may use. At most kMaxThreads.
  explicit ThreadPool(int threads = 0);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  static constexpr int kMaxThreads = 1024;
  int threads() const { return threads_; }

  // Calls fn(task, worker) for every task in 0…tasks-1, worker in 0…threads()-1, on at most `limit` threads (0: no limit),
  // and returns when all are done. `fn` must not throw. One run at a time, none from inside a task. Allocates nothing,
  // apart from starting the threads once. Where the system refuses a thread, the pool goes on with those it has.
  template <class Fn>
  void run(int64_t tasks, Fn&& fn, int limit = 0) {
    using F = std::remove_reference_t<Fn>;
    runTasks(tasks, [](void* f, int64_t task, int worker) { (*static_cast<F*>(f))(task, worker); },
             const_cast<void*>(static_cast<const void*>(&fn)), limit);
  }

  // Starts the threads now. `run` does it by itself.
  void start();

 private:
  using Call = void (*)(void* context, int64_t task, int worker);
  void runTasks(int64_t tasks, Call call, void* context, int limit);
  void work(int worker);
  void workerLoop(int worker);

  int threads_;
  std::vector<std::thread> workers_;
  // The job. Written by the caller while no worker is inside one; read by workers that joined through `state_`.
  Call call_ = nullptr;
  void* context_ = nullptr;
  int64_t tasks_ = 0;
  int limit_ = 0;
  std::atomic<bool> stop_{false};
  alignas(64) std::atomic<int64_t> next_{0};
  // Generation (16 bits), open flag, number of workers inside (15 bits): see thread_pool.cpp.
  alignas(64) std::atomic<uint32_t> state_{0};
};

}  // namespace uop
