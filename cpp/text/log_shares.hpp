// The logs of shares: of counts, most of which are alike, over the sums of their classes.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/functions.hpp"
#include "core/interrupt.hpp"

namespace bayesbox {

// Logarithms that are kept, since the same few counts come again and again.
class KnownLogs {
 public:
  KnownLogs() : known_(kSize, {1.0, 0.0}) {}

  double operator()(double value) {
    Known& known = known_[(std::bit_cast<std::uint64_t>(value) * 0x9E3779B97F4A7C15u) >> (64 - kBits)];
    if (std::bit_cast<std::uint64_t>(known.value) != std::bit_cast<std::uint64_t>(value)) known = {value, portable::log(value)};
    return known.log;
  }

 private:
  static constexpr int kBits = 10;
  static constexpr std::size_t kSize = std::size_t{1} << kBits;
  struct Known {
    double value, log;
  };
  std::vector<Known> known_;
};

// shares[level][label] = log(counts[label][level]) - log(totals[label]); some levels at a time, for the sake of the caches.
inline void log_shares(const double* counts, const double* totals, std::size_t classes, std::size_t levels, double* shares) {
  constexpr std::size_t kLevels = 64;
  KnownLogs log;
  std::vector<double> total(classes);
  for (std::size_t label = 0; label < classes; ++label) total[label] = portable::log(totals[label]);
  for (std::size_t first = 0; first < levels; first += kLevels) {
    const std::size_t last = std::min(first + kLevels, levels);
    poll(4 * classes * (last - first));
    for (std::size_t label = 0; label < classes; ++label)
      for (std::size_t level = first; level < last; ++level)
        shares[level * classes + label] = log(counts[label * levels + level]) - total[label];
  }
}

}  // namespace bayesbox
