// Which sequences of a chain go side by side, one in each lane of a vector: short ones of about the same length.
#pragma once

#include <algorithm>
#include <array>

#include "chain/vectors.hpp"

namespace bayesbox::chain {

inline constexpr std::int64_t kShort = 1024;  // a longer sequence is processed alone, a block of steps at a time

// Four sequences, the shortest first.
struct Pack {
  std::array<std::size_t, kLanes> sequence;
  std::array<std::int64_t, kLanes> begin, steps;

  std::int64_t longest() const { return steps.back(); }
};

// The sequences of a request in packs, and those processed alone. This depends only on the lengths.
struct Packs {
  Packs(const ChainRequest& request, bool allowed) {
    const auto steps = [&](std::size_t q) { return request.offsets[q + 1] - request.offsets[q]; };
    const auto fits = [&](std::size_t q) { return allowed && steps(q) > 0 && steps(q) <= kShort; };
    std::vector<std::size_t> order;
    for (std::size_t q = 0; q < request.sequences; ++q) (fits(q) ? order : alone).push_back(q);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return steps(a) < steps(b); });
    std::size_t at = 0;
    while (at + kLanes <= order.size()) {
      if (steps(order[at + kLanes - 1]) > 2 * steps(order[at])) {  // more than half of a lane would be idle
        alone.push_back(order[at++]);
        continue;
      }
      Pack& pack = packs.emplace_back();
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        const std::size_t q = order[at++];
        pack.sequence[lane] = q, pack.begin[lane] = request.offsets[q], pack.steps[lane] = steps(q);
      }
      longest = std::max(longest, pack.longest());
    }
    alone.insert(alone.end(), order.begin() + static_cast<std::ptrdiff_t>(at), order.end());
  }
  std::vector<Pack> packs;
  std::vector<std::size_t> alone;
  std::int64_t longest = 0;  // steps of any pack
};

typedef std::int64_t FourMasks __attribute__((vector_size(32)));

BAYESBOX_INLINE bool any(const FourMasks& mask) { return ((mask[0] | mask[1]) | (mask[2] | mask[3])) != 0; }

// Rows to columns: the first numbers of all four, the second ones, ...
BAYESBOX_INLINE void transpose(Four& a, Four& b, Four& c, Four& d) {
#if defined(__has_builtin) && __has_builtin(__builtin_shufflevector)
  const Four ab_even = __builtin_shufflevector(a, b, 0, 4, 2, 6), ab_odd = __builtin_shufflevector(a, b, 1, 5, 3, 7);
  const Four cd_even = __builtin_shufflevector(c, d, 0, 4, 2, 6), cd_odd = __builtin_shufflevector(c, d, 1, 5, 3, 7);
  a = __builtin_shufflevector(ab_even, cd_even, 0, 1, 4, 5);
  b = __builtin_shufflevector(ab_odd, cd_odd, 0, 1, 4, 5);
  c = __builtin_shufflevector(ab_even, cd_even, 2, 3, 6, 7);
  d = __builtin_shufflevector(ab_odd, cd_odd, 2, 3, 6, 7);
#else
  const Four x = a, y = b, z = c, w = d;
  a = Four{x[0], y[0], z[0], w[0]}, b = Four{x[1], y[1], z[1], w[1]};
  c = Four{x[2], y[2], z[2], w[2]}, d = Four{x[3], y[3], z[3], w[3]};
#endif
}

// Rows of S numbers, padded to whole vectors, one of each lane: the numbers of each state in lanes.
template <int S>
BAYESBOX_INLINE void across(const std::array<const double*, kLanes>& rows, Four* out) {
  for (int first = 0; first < S; first += 4) {
    if (S - first == 1) {
      out[first] = Four{rows[0][first], rows[1][first], rows[2][first], rows[3][first]};
      continue;
    }
    Four part[4] = {load(rows[0] + first), load(rows[1] + first), load(rows[2] + first), load(rows[3] + first)};
    transpose(part[0], part[1], part[2], part[3]);
    for (int k = 0; k < 4 && first + k < S; ++k) out[first + k] = part[k];
  }
}

}  // namespace bayesbox::chain
