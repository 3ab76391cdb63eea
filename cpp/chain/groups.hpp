// The sequences of a chain in groups, for threads. The groups depend only on the sequences, and their counts are added
// in order, so that any number of threads gives the same bits.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "chain/vectors.hpp"
#include "core/threads.hpp"

namespace bayesbox::chain {

inline constexpr std::int64_t kGroupSteps = 1 << 14;  // the fewest steps of a group
inline constexpr std::size_t kMostGroups = 16;        // each has its own counts

// The requests of the groups: sequences that follow one another, about as many steps in each.
inline std::vector<ChainRequest> groups_of(const ChainRequest& request) {
  const std::int64_t steps = request.sequences == 0 ? 0 : request.offsets[request.sequences];
  const std::int64_t size = std::max<std::int64_t>(kGroupSteps, (steps + kMostGroups - 1) / kMostGroups);
  std::vector<ChainRequest> groups;
  for (std::size_t first = 0; first < request.sequences;) {
    std::size_t stop = first;
    while (stop < request.sequences && (stop == first || request.offsets[stop + 1] - request.offsets[first] <= size))
      ++stop;
    groups.push_back(request);
    groups.back().offsets = request.offsets + first;
    groups.back().sequences = stop - first;
    first = stop;
  }
  if (groups.empty()) groups.push_back(request);
  return groups;
}

// Calls work(0), ..., work(count - 1), on this many threads; the first exception of any is rethrown here.
template <class Work>
void for_each_group(std::size_t count, std::size_t threads, const Work& work) {
  std::atomic<std::size_t> next{0};
  run_on_threads(std::min(threads, count), [&](std::size_t) {
    for (std::size_t group = next++; group < count; group = next++) work(group);
  });
}

// Counts of one group, added to those of all afterwards. If each step has its own row, no two groups share one.
struct GroupCounts {
  std::vector<double> start, transition, emission;
  ChainResult result(const ChainRequest& request, const ChainResult& whole, std::size_t first) {
    ChainResult own = whole;
    own.log_likelihood = whole.log_likelihood + first;
    const auto apart = [](std::vector<double>& cells, double* all, std::size_t size) {
      if (all == nullptr) return all;
      cells.assign(size, 0.0);
      return cells.data();
    };
    own.start = apart(start, whole.start, request.states);
    own.transition = apart(transition, whole.transition, request.states * request.states);
    if (request.codes != nullptr) own.emission = apart(emission, whole.emission, request.terms * request.states);
    return own;
  }
  void add_to(const ChainResult& whole) const {
    for (const auto& [cells, all] : {std::pair(&start, whole.start), std::pair(&transition, whole.transition),
                                     std::pair(&emission, whole.emission)})
      for (std::size_t k = 0; k < cells->size(); ++k) all[k] += (*cells)[k];
  }
};

}  // namespace bayesbox::chain
