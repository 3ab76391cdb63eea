// Hidden Markov chains: log-likelihood, posteriors, expected counts and the best path, for many sequences in one call.
//
// The emission terms are rows of log P(step | state). A step names its row by a code, so that a chain of a few symbols
// holds a few rows only. Each row is scaled by its own largest term, and the running vectors by powers of two, which
// rounds nothing: the scale is a sum of integers. Where a scaled number that may still matter would get too small, the
// sequence is done again in logarithms, so that -inf is said of impossible sequences only, and nothing is ever NaN.
#pragma once

#include "chain_best_path.hpp"
#include "chain_forward_backward.hpp"
#include "chain_groups.hpp"

namespace bayesbox {
namespace chain {

// Both instruction sets do the same operations in the same order, without fused ones, so they give the same bits.
#if defined(BAYESBOX_AVX2)
#define BAYESBOX_AVX2_CODE __attribute__((target("avx2")))
template <int S>
BAYESBOX_AVX2_CODE void run_avx2(const ChainRequest& request, const Scaled& scaled, const ChainResult& result) {
  run_all<S, true>(request, scaled, result);
}
template <int S>
BAYESBOX_AVX2_CODE void best_avx2(const ChainRequest& request, double* log_p, std::int32_t* path) {
  best_paths_of<S, true>(request, log_p, path);
}
#endif

template <int S>
void run_with(const ChainRequest& request, const Scaled& scaled, const ChainResult& result) {
#if defined(BAYESBOX_AVX2)
  if (avx2_switch().load(std::memory_order_relaxed)) return run_avx2<S>(request, scaled, result);
#endif
  run_all<S, false>(request, scaled, result);
}
template <int S>
void best_with(const ChainRequest& request, double* log_p, std::int32_t* path) {
#if defined(BAYESBOX_AVX2)
  if (avx2_switch().load(std::memory_order_relaxed)) return best_avx2<S>(request, log_p, path);
#endif
  best_paths_of<S, false>(request, log_p, path);
}

// Calls `with<S>` for up to eight states, `with<0>` for more.
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

inline void run_group(const ChainRequest& request, const Scaled& scaled, const ChainResult& result) {
  BAYESBOX_FOR_STATES(request.states, run_with, request, scaled, result)
}
inline void best_of_group(const ChainRequest& request, double* log_p, std::int32_t* path) {
  BAYESBOX_FOR_STATES(request.states, best_with, request, log_p, path)
}

}  // namespace chain

// Forward and, where asked for, backward over every sequence.
inline void forward_backward(const ChainRequest& request, const ChainResult& result, std::size_t threads = 1) {
  const chain::Scaled scaled(request);
  const std::vector<ChainRequest> groups = chain::groups_of(request);
  std::vector<chain::GroupCounts> counts(groups.size());
  chain::for_each_group(groups.size(), threads, [&](std::size_t g) {
    const auto first = static_cast<std::size_t>(groups[g].offsets - request.offsets);
    chain::run_group(groups[g], scaled, counts[g].result(request, result, first));
  });
  for (const chain::GroupCounts& each : counts) each.add_to(result);
}

// The most probable path of every sequence and the log of its joint probability; ties go to the first state.
inline void best_paths(const ChainRequest& request, double* log_p, std::int32_t* path, std::size_t threads = 1) {
  const std::vector<ChainRequest> groups = chain::groups_of(request);
  chain::for_each_group(groups.size(), threads, [&](std::size_t g) {
    chain::best_of_group(groups[g], log_p + (groups[g].offsets - request.offsets), path);
  });
}

#undef BAYESBOX_FOR_STATES
#undef BAYESBOX_AVX2_CODE
#undef BAYESBOX_INLINE

}  // namespace bayesbox
