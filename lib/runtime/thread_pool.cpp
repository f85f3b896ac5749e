// `state_` holds all that a worker needs to know whether it may touch the job:
//   bits 16…31  generation: changes with each job, so that a worker joins a job once
//   bit  15     open: tasks may be left
//   bits 0…14   workers inside
// A worker enters by a compare-and-swap that adds 1 while the job is open; the caller closes the job when the counter has run
// out and waits for those inside to leave. So a worker that sleeps through a job delays nobody, and the job's fields never
// change under one that is inside.
#include "runtime/thread_pool.h"

#include <sched.h>

#include <algorithm>
#include <system_error>

namespace uop {
namespace {

constexpr uint32_t kOpen = 1u << 15;
constexpr uint32_t kInside = kOpen - 1;
constexpr int kSpins = 2000;  // some 20 µs: the gap between two launches is shorter than a futex's wake-up

int availableCores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(CPU_COUNT(&set), 1);
  return std::max(static_cast<int>(std::thread::hardware_concurrency()), 1);
}

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

// Waits until state is not `seen`; spins first.
uint32_t waitChange(const std::atomic<uint32_t>& state, uint32_t seen) {
  for (int i = 0; i < kSpins; ++i) {
    if (uint32_t now = state.load(std::memory_order_acquire); now != seen) return now;
    relax();
  }
  state.wait(seen, std::memory_order_acquire);
  return state.load(std::memory_order_acquire);
}

}  // namespace

ThreadPool::ThreadPool(int threads) : threads_(std::clamp(threads > 0 ? threads : availableCores(), 1, kMaxThreads)) {}

ThreadPool::~ThreadPool() {
  if (workers_.empty()) return;
  stop_ = true;
  uint32_t generation = (state_.load() >> 16) + 1;
  state_.store(generation << 16 | kOpen, std::memory_order_release);
  state_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::start() {
  if (!workers_.empty() || threads_ == 1) return;
  workers_.reserve(static_cast<size_t>(threads_ - 1));
  for (int i = 1; i < threads_; ++i) {
    try {
      workers_.emplace_back([this, i] { workerLoop(i); });
    } catch (const std::system_error&) {
      threads_ = i;  // no more threads to be had: those there are do
      return;
    }
  }
}

void ThreadPool::work(int worker) {
  for (int64_t task; (task = next_.fetch_add(1, std::memory_order_relaxed)) < tasks_;) call_(context_, task, worker);
}

void ThreadPool::workerLoop(int worker) {
  uint32_t last = 0;  // generation of the last job seen; jobs start from 1
  uint32_t state = state_.load(std::memory_order_acquire);
  // stop_ is looked at for every state: the generation, which wraps, may be `last` again.
  while (!stop_.load(std::memory_order_relaxed)) {
    uint32_t generation = state >> 16;
    if (!(state & kOpen) || generation == last) {
      state = waitChange(state_, state);
      continue;
    }
    if (!state_.compare_exchange_weak(state, state + 1, std::memory_order_acq_rel, std::memory_order_acquire)) continue;
    last = generation;
    if (worker < limit_) work(worker);
    state = state_.fetch_sub(1, std::memory_order_acq_rel) - 1;
    if ((state & (kInside | kOpen)) == 0) state_.notify_all();
  }
}

void ThreadPool::runTasks(int64_t tasks, Call call, void* context, int limit) {
  int wanted = limit > 0 ? std::min(limit, threads_) : threads_;
  if (wanted == 1 || tasks <= 1) {
    for (int64_t task = 0; task < tasks; ++task) call(context, task, 0);
    return;
  }
  start();
  call_ = call;
  context_ = context;
  tasks_ = tasks;
  limit_ = static_cast<int>(std::min<int64_t>(wanted, tasks));
  next_.store(0, std::memory_order_relaxed);
  uint32_t generation = (state_.load(std::memory_order_relaxed) >> 16) + 1;
  state_.store(generation << 16 | kOpen, std::memory_order_release);
  state_.notify_all();
  work(0);
  uint32_t state = state_.fetch_and(~kOpen, std::memory_order_acq_rel) & ~kOpen;
  while (state & kInside) state = waitChange(state_, state);
}

}  // namespace uop
