// The product of two matrices with every sum in one order, so that it has the same bits on every processor; those of BLAS depend
// on which instructions there are.
#pragma once

#include <cstddef>
#include <vector>

#include "core/interrupt.hpp"

namespace bayesbox {

// Eight sums side by side, then the sum of these.
inline double ordered_dot(const double* a, const double* b, std::size_t size) {
  double sums[8] = {};
  std::size_t i = 0;
  for (; i + 8 <= size; i += 8)
    for (std::size_t k = 0; k < 8; ++k) sums[k] += a[i + k] * b[i + k];
  for (std::size_t k = 0; i < size; ++i, ++k) sums[k] += a[i] * b[i];
  return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}

// out (rows x columns, zeros at first) = a (rows x inner) b (inner x columns)
inline void matrix_product(const double* a, const double* b, std::size_t rows, std::size_t inner, std::size_t columns, double* out) {
  constexpr std::size_t kFewColumns = 16;
  std::vector<double> across;  // b column by column, where there are few
  if (columns <= kFewColumns) {
    across.resize(inner * columns);
    for (std::size_t k = 0; k < inner; ++k)
      for (std::size_t j = 0; j < columns; ++j) across[j * inner + k] = b[k * columns + j];
  }
  for (std::size_t i = 0; i < rows; ++i) {
    poll(inner * columns / 2 + 1);
    double* const to = out + i * columns;
    if (columns <= kFewColumns) {
      for (std::size_t j = 0; j < columns; ++j) to[j] = ordered_dot(a + i * inner, across.data() + j * inner, inner);
      continue;
    }
    for (std::size_t k = 0; k < inner; ++k) {
      const double own = a[i * inner + k];
      const double* const from = b + k * columns;
      for (std::size_t j = 0; j < columns; ++j) to[j] += own * from[j];
    }
  }
}

}  // namespace bayesbox
