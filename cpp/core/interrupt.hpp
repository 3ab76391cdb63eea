// Cancellation of long calls: the user has interrupted it, or its caller no longer waits.
//
// Loops that may be long call `poll` with about the number of steps they have done, a step being a few nanoseconds. It
// counts them, and checks at intervals. A worker thread has the stop flag that its caller sets when it stops waiting;
// any other thread calls the function set by the bindings, often enough for a person not to notice a delay. Partial
// results are discarded: polls are only where nothing that outlives the call is in an inconsistent state.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <utility>

namespace bayesbox {

// The exception of a poll in a thread whose flag is set.
struct Interrupted : std::exception {
  const char* what() const noexcept override { return "interrupted"; }
};

// Set by a thread that no longer waits for others. A flag created in a thread with a flag is also set by that one.
class StopFlag {
 public:
  explicit StopFlag(std::shared_ptr<const StopFlag> outer) : outer_(std::move(outer)) {}
  void set() { set_.store(true, std::memory_order_relaxed); }
  bool is_set() const { return set_.load(std::memory_order_relaxed) || (outer_ != nullptr && outer_->is_set()); }

 private:
  std::atomic<bool> set_{false};
  std::shared_ptr<const StopFlag> outer_;
};

// Throws if the call of this thread must end. Without it, polls do nothing.
using InterruptCheck = void (*)();
inline std::atomic<InterruptCheck> interrupt_check{nullptr};

struct Polling {
  std::int64_t steps_left = 0;
  std::chrono::steady_clock::time_point next_check{};
};
inline thread_local Polling polling;
inline thread_local std::shared_ptr<const StopFlag> stop_flag;

inline constexpr std::int64_t kStepsALook = 1 << 17;
inline constexpr std::chrono::milliseconds kBetweenChecks{50};

// Checks immediately. Not marked as cold: compilers take a function that calls a cold one at its start, as every long
// call of the bindings does, for cold as a whole, and compile its loops for size.
[[gnu::noinline]] inline void look_for_interrupt() {
  polling.steps_left = kStepsALook;
  if (stop_flag != nullptr) {
    if (stop_flag->is_set()) throw Interrupted();
    return;
  }
  const InterruptCheck check = interrupt_check.load(std::memory_order_relaxed);
  if (check == nullptr) return;
  const auto now = std::chrono::steady_clock::now();
  if (now < polling.next_check) return;
  polling.next_check = now + kBetweenChecks;
  check();
}

inline void poll(std::size_t steps) {
  if ((polling.steps_left -= static_cast<std::int64_t>(steps)) < 0) [[unlikely]] look_for_interrupt();
}

// For a loop over rows or cells of a given cost in steps: a poll every 1024 of them.
inline void poll_at(std::size_t row, std::size_t steps = 1) {
  if ((row & 1023) == 0) poll(1024 * steps);
}

}  // namespace bayesbox
