// Forward and backward over a group of sequences, with the code for AVX2: a unit of its own, since it takes long to compile.
#include "chain/forward_backward.hpp"
#include "chain/states.hpp"

namespace bayesbox::chain {
namespace {

template <int S>
BAYESBOX_AVX2_CODE void run_with(const ChainRequest& request, const Scaled& scaled, const ChainResult& result) {
  run_all<S, true>(request, scaled, result);
}

}  // namespace

void run_group_avx2(const ChainRequest& request, const Scaled& scaled, const ChainResult& result) {
  BAYESBOX_FOR_STATES(request.states, run_with, request, scaled, result)
}

}  // namespace bayesbox::chain
