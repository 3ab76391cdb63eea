// Work shared by the threads of one call; an interrupt of the call stops all of them.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "core/interrupt.hpp"

namespace bayesbox {

// Threads that are joined at the end of their scope, as std::jthread, which some standard libraries still lack.
class JoinedThreads {
 public:
  JoinedThreads() = default;
  JoinedThreads(const JoinedThreads&) = delete;
  JoinedThreads& operator=(const JoinedThreads&) = delete;
  ~JoinedThreads() {
    for (std::thread& thread : threads_) thread.join();
  }
  template <class Work>
  void start(Work&& work) {
    threads_.reserve(threads_.size() + 1);  // a running thread must not be lost if memory is exhausted
    threads_.emplace_back(std::forward<Work>(work));
  }

 private:
  std::vector<std::thread> threads_;
};

// Calls work(0) here and work(1), ..., work(threads - 1) on threads of their own, and waits for all. The first
// exception of any is rethrown here; the other threads then stop at their next poll.
template <class Work>
void run_on_threads(std::size_t threads, const Work& work) {
  const auto stop = std::make_shared<StopFlag>(stop_flag);
  std::mutex lock;
  std::condition_variable ended;
  std::exception_ptr failed;
  std::size_t running = 0;
  const auto run = [&](const auto& step) {
    try {
      step();
    } catch (...) {
      const std::lock_guard held(lock);
      if (!failed) failed = std::current_exception();
      stop->set();
    }
  };
  {
    JoinedThreads others;
    run([&] {
      for (std::size_t thread = 1; thread < threads; ++thread) {
        others.start([&, thread] {
          stop_flag = stop;
          run([&] { work(thread); });
          const std::lock_guard held(lock);
          --running;
          ended.notify_one();
        });
        const std::lock_guard held(lock);
        ++running;
      }
      work(0);
    });
    // The waiting thread can be interrupted like the working ones.
    std::unique_lock held(lock);
    while (!ended.wait_for(held, std::chrono::milliseconds(20), [&] { return running == 0; })) {
      held.unlock();
      run(look_for_interrupt);
      held.lock();
    }
  }
  if (failed) std::rethrow_exception(failed);
}

}  // namespace bayesbox
