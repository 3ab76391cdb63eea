// Whether two columns are independent given others: Wilks' G, from counts.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/functions.hpp"
#include "core/interrupt.hpp"

namespace bayesbox {

struct GTest {
  double statistic = 0;
  double degrees = 0;
};

// A dense table of `first` x `second` x `given`. Each combination of the given columns has degrees of freedom for the
// states that occur in it only: what cannot vary is no evidence.
inline GTest g_test(const std::uint32_t* table, std::int64_t first, std::int64_t second, std::int64_t given) {
  GTest test;
  std::vector<double> rows(static_cast<std::size_t>(first)), columns(static_cast<std::size_t>(second));
  const auto term = [](double n) { return n > 0 ? n * portable::log(n) : 0.0; };
  for (std::int64_t s = 0; s < given; ++s) {
    poll(4 * static_cast<std::size_t>(first * second));
    std::fill(rows.begin(), rows.end(), 0.0);
    std::fill(columns.begin(), columns.end(), 0.0);
    double sum = 0, total = 0;
    for (std::int64_t i = 0; i < first; ++i)
      for (std::int64_t k = 0; k < second; ++k) {
        const double n = table[(i * second + k) * given + s];
        if (n == 0) continue;
        sum += term(n);
        rows[static_cast<std::size_t>(i)] += n;
        columns[static_cast<std::size_t>(k)] += n;
        total += n;
      }
    if (total == 0) continue;
    double across = -1, down = -1;
    for (const double n : rows) across += n > 0, sum -= term(n);
    for (const double n : columns) down += n > 0, sum -= term(n);
    test.statistic += 2 * (sum + term(total));
    test.degrees += across * down;
  }
  test.statistic = std::max(test.statistic, 0.0);
  return test;
}

}  // namespace bayesbox
