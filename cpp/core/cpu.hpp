// Which of the two compiled paths runs: the baseline, or AVX2 with FMA. Both give the same bits.
#pragma once

#include <atomic>

namespace bayesbox {

inline bool has_avx2() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  return false;
#endif
}

// The one mutable global: the switch that tests and measurements may turn.
inline std::atomic<bool>& avx2_switch() {
  static std::atomic<bool> enabled{has_avx2()};
  return enabled;
}

inline bool avx2_is_on() { return avx2_switch().load(std::memory_order_relaxed); }

inline bool use_avx2(bool enabled) {
  avx2_switch().store(enabled && has_avx2());
  return avx2_switch().load();
}

}  // namespace bayesbox
