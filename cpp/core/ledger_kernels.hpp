// The inner loop of the ledger, compiled twice like those of kernels.hpp: a digest drawn out to 2,048 bytes, which are
// added lane by lane.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/blake2b.hpp"
#include "core/kernel_set.hpp"

namespace bayesbox {

inline constexpr std::size_t kLanes = 1024;  // of 16 bits
inline constexpr std::size_t kDigests = kLanes * 2 / blake2b::kDigest;

// The sums of the lanes in the order in which four digests at a time come: [four digests][word of a digest][which of the
// four][lane of a word].
struct alignas(32) LaneSums {
  std::uint16_t sums[kDigests / 4][8][4][4] = {};
};

struct LedgerKernels {
  // Adds BLAKE2b(seed, counter) for each counter of 8 bytes from 0 to 31, `copies` times, to the lanes.
  void (*add_expanded)(const blake2b::State& start, const blake2b::State& seed, std::uint16_t copies, LaneSums& sums);
};

}  // namespace bayesbox
