// Which of the two compiled paths runs: the baseline, or AVX2 with FMA. Both give the same bits.
#pragma once

#include <atomic>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace bayesbox {

// As __builtin_cpu_supports, whose table of the processor some compilers (zig) do not bring along: the processor has the
// instructions, and the system saves the wide registers.
inline bool has_avx2() {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned kNeeded = bit_FMA | bit_OSXSAVE | bit_AVX;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & kNeeded) != kNeeded) return false;
  unsigned low = 0, high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  constexpr unsigned kSaved = 6;  // the lower and the upper halves
  return (low & kSaved) == kSaved && __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & bit_AVX2) != 0;
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
