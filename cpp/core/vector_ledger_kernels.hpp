// The loop of ledger_kernels.hpp. Included behind vector_kernels.hpp, under the same precautions.
#include "core/ledger_kernels.hpp"

namespace bayesbox {
namespace {

typedef std::uint64_t FourWords __attribute__((vector_size(32)));
typedef std::uint16_t SixteenLanes __attribute__((vector_size(32), may_alias));

void add_expanded(const blake2b::State& start, const blake2b::State& seed, std::uint16_t copies, LaneSums& sums) {
  FourWords message[16] = {};
  for (std::size_t i = 0; i < 8; ++i) message[i] = FourWords{} + seed[i];
  const SixteenLanes times = SixteenLanes{} + copies;
  for (std::size_t group = 0; group < kDigests / 4; ++group) {
    const std::uint64_t first = 4 * group;
    message[8] = FourWords{first, first + 1, first + 2, first + 3};
    FourWords state[8];
    for (std::size_t i = 0; i < 8; ++i) state[i] = FourWords{} + start[i];
    blake2b::compress(state, message, blake2b::kDigest + 8, true);
    for (std::size_t i = 0; i < 8; ++i) {
      auto& total = *reinterpret_cast<SixteenLanes*>(&sums.sums[group][i]);
      total += reinterpret_cast<const SixteenLanes&>(state[i]) * times;
    }
  }
}

constexpr LedgerKernels kLedgerKernels = {add_expanded};

}  // namespace
}  // namespace bayesbox
