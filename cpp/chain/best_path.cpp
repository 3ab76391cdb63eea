// The most probable paths of all sequences.
#include "chain/best_path.hpp"

#include <vector>

#include "chain/groups.hpp"
#include "chain/states.hpp"

namespace bayesbox {
namespace chain {
namespace {

#if defined(BAYESBOX_AVX2)
template <int S>
BAYESBOX_AVX2_CODE void best_avx2(const ChainRequest& request, double* log_p, std::int32_t* path) {
  best_paths_of<S, true>(request, log_p, path);
}
#endif

template <int S>
void best_with(const ChainRequest& request, double* log_p, std::int32_t* path) {
#if defined(BAYESBOX_AVX2)
  if (avx2_is_on()) return best_avx2<S>(request, log_p, path);
#endif
  best_paths_of<S, false>(request, log_p, path);
}

void best_of_group(const ChainRequest& request, double* log_p, std::int32_t* path) {
  BAYESBOX_FOR_STATES(request.states, best_with, request, log_p, path)
}

}  // namespace
}  // namespace chain

void best_paths(const ChainRequest& request, double* log_p, std::int32_t* path, std::size_t threads) {
  const std::vector<ChainRequest> groups = chain::groups_of(request);
  chain::for_each_group(groups.size(), threads, [&](std::size_t g) {
    chain::best_of_group(groups[g], log_p + (groups[g].offsets - request.offsets), path);
  });
}

}  // namespace bayesbox
