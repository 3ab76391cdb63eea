// A set of inner loops that is compiled once for each path of cpu.hpp.
#pragma once

#include "core/cpu.hpp"

namespace bayesbox {

template <class Set>
const Set& baseline_set();
template <class Set>
const Set& avx2_set();
template <class Set>
const Set& avx512_set();

// Whether there is a set for AVX-512; the one for AVX2 runs where there is none.
template <class Set>
inline constexpr bool kHasAvx512Set = false;

// The set in force.
template <class Set>
const Set& kernel_set() {
#if defined(BAYESBOX_AVX2)
  if constexpr (kHasAvx512Set<Set>)
    if (instructions() == Instructions::avx512) return avx512_set<Set>();
  if (avx2_is_on()) return avx2_set<Set>();
#endif
  return baseline_set<Set>();
}

}  // namespace bayesbox
