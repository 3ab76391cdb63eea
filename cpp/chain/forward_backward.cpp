// Forward and backward over all sequences, with the code of the baseline.
#include "chain/forward_backward.hpp"

#include <vector>

#include "chain/groups.hpp"
#include "chain/states.hpp"

namespace bayesbox {
namespace chain {
namespace {

template <int S>
void run_with(const ChainRequest& request, const Scaled& scaled, const ChainResult& result) {
  run_all<S, false>(request, scaled, result);
}

void run_group(const ChainRequest& request, const Scaled& scaled, const ChainResult& result) {
#if defined(BAYESBOX_AVX2)
  if (avx2_is_on()) return run_group_avx2(request, scaled, result);
#endif
  BAYESBOX_FOR_STATES(request.states, run_with, request, scaled, result)
}

}  // namespace
}  // namespace chain

void forward_backward(const ChainRequest& request, const ChainResult& result, std::size_t threads) {
  const chain::Scaled scaled(request);
  const std::vector<ChainRequest> groups = chain::groups_of(request);
  std::vector<chain::GroupCounts> counts(groups.size());
  chain::for_each_group(groups.size(), threads, [&](std::size_t g) {
    const auto first = static_cast<std::size_t>(groups[g].offsets - request.offsets);
    chain::run_group(groups[g], scaled, counts[g].result(request, result, first));
  });
  for (const chain::GroupCounts& each : counts) each.add_to(result);
}

}  // namespace bayesbox
