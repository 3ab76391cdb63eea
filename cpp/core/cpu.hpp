// Which of the compiled paths runs: the baseline, AVX2 with FMA, or AVX-512. All give the same bits.
#pragma once

#include <atomic>
#include <cstdint>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace bayesbox {

// Each has the instructions of those before it.
enum class Instructions : std::uint8_t { baseline, avx2, avx512 };

// As __builtin_cpu_supports, whose table of the processor some compilers (zig) do not bring along: the processor has the
// instructions, and the system saves the wide registers.
inline Instructions best_instructions() {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned kNeeded = bit_FMA | bit_OSXSAVE | bit_AVX;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & kNeeded) != kNeeded) return Instructions::baseline;
  unsigned low = 0, high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  constexpr unsigned kSaved = 6, kWideSaved = 0xe6;  // the halves of 256 bits; masks and the rest of 512 besides
  if ((low & kSaved) != kSaved || __get_cpuid_count(7, 0, &a, &b, &c, &d) == 0 || (b & bit_AVX2) == 0)
    return Instructions::baseline;
  constexpr unsigned kWide = bit_AVX512F | bit_AVX512DQ | bit_AVX512BW | bit_AVX512VL;
  return (low & kWideSaved) == kWideSaved && (b & kWide) == kWide ? Instructions::avx512 : Instructions::avx2;
#else
  return Instructions::baseline;
#endif
}

// The only mutable global: a switch for tests and benchmarks.
inline std::atomic<Instructions>& instructions_switch() {
  static std::atomic<Instructions> chosen{best_instructions()};
  return chosen;
}

inline Instructions instructions() { return instructions_switch().load(std::memory_order_relaxed); }

// Selects the best available path up to the given one; returns the active one.
inline Instructions use_instructions(Instructions wanted) {
  const Instructions best = best_instructions();
  instructions_switch().store(wanted < best ? wanted : best);
  return instructions();
}

inline bool has_avx2() { return best_instructions() >= Instructions::avx2; }
inline bool avx2_is_on() { return instructions() >= Instructions::avx2; }

// All instructions, or the baseline.
inline bool use_avx2(bool enabled) {
  return use_instructions(enabled ? Instructions::avx512 : Instructions::baseline) != Instructions::baseline;
}

}  // namespace bayesbox
