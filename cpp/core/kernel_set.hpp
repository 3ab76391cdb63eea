// A set of inner loops that is compiled twice, once for each path of cpu.hpp.
#pragma once

#include "core/cpu.hpp"

namespace bayesbox {

template <class Set>
const Set& baseline_set();
template <class Set>
const Set& avx2_set();

// The set in force.
template <class Set>
const Set& kernel_set() {
#if defined(BAYESBOX_AVX2)
  if (avx2_is_on()) return avx2_set<Set>();
#endif
  return baseline_set<Set>();
}

}  // namespace bayesbox
