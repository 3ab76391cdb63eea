// Code for each number of states, and for each instruction set: both do the same operations in the same order, without
// fused ones, so they give the same bits.
#pragma once

#include "core/cpu.hpp"

#define BAYESBOX_AVX2_CODE __attribute__((target("avx2")))

// Calls `with<S>` for up to eight states, `with<0>` for more. The module under the sanitizers has few, which compile in
// a third of the time; the tests of the core have all.
#if defined(BAYESBOX_FEW_STATES)
#define BAYESBOX_FOR_STATES(count, with, ...) \
  switch (count) {                            \
    case 2: return with<2>(__VA_ARGS__);      \
    default: return with<0>(__VA_ARGS__);     \
  }
#else
#define BAYESBOX_FOR_STATES(count, with, ...) \
  switch (count) {                            \
    case 2: return with<2>(__VA_ARGS__);      \
    case 3: return with<3>(__VA_ARGS__);      \
    case 4: return with<4>(__VA_ARGS__);      \
    case 5: return with<5>(__VA_ARGS__);      \
    case 6: return with<6>(__VA_ARGS__);      \
    case 7: return with<7>(__VA_ARGS__);      \
    case 8: return with<8>(__VA_ARGS__);      \
    default: return with<0>(__VA_ARGS__);     \
  }
#endif
