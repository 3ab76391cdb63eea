// What is known of the values of a column from their exact sums.
#pragma once

#include <cstdint>

namespace bayesbox {

// What is known of the values of one class, or of the whole column: all zero where there is none.
struct Spread {
  double n = 0, mean = 0, mean_low = 0, unit = 0;
};

// Variances of at least this share of the column's, as a fraction.
struct Floor {
  std::uint64_t numerator = 0, denominator = 1;
};

}  // namespace bayesbox
