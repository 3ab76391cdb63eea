// Reading several adjacent columns of a wide row-major matrix together: each row, which is far from the next, is visited once
// for all of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/column.hpp"
#include "core/kernels.hpp"

namespace bayesbox {

// The number of columns from `first` on, at most `most`, that are adjacent columns of doubles in one matrix: a multiple of four.
template <class ColumnAt>
std::size_t side_by_side_from(std::size_t first, std::size_t columns, std::size_t most, const ColumnAt& column_at) {
  std::size_t found = 0;
  while (found + 4 <= most && first + found + 4 <= columns &&
         four_side_by_side(first + found, columns, Kind::float64, column_at) &&
         column_at(first + found).data == column_at(first).data + found * sizeof(double) &&
         column_at(first + found).stride == column_at(first).stride)
    found += 4;
  return found;
}

// out[k * step + i] = row begin + order[i] of the k-th of `columns` adjacent columns, a multiple of four.
inline void gather_stripe(const Kernels& kernel, const Column& first, std::size_t begin, const std::uint32_t* order,
                          std::size_t count, std::size_t columns, double* out, std::size_t step) {
  constexpr std::size_t kRows = 16, kLine = 64;
  const char* const base = first.at(begin);
  for (std::size_t i = 0; i < count; i += kRows) {
    for (std::size_t next = i + kRows; next < std::min(i + 2 * kRows, count); ++next)
      for (std::size_t byte = 0; byte < 8 * columns; byte += kLine) __builtin_prefetch(base + order[next] * first.stride + byte);
    for (std::size_t k = 0; k < columns; k += 4, out += 4 * step) {
      void* const to[4] = {out + i, out + step + i, out + 2 * step + i, out + 3 * step + i};
      kernel.gather_four(base + 8 * k, first.stride, order + i, std::min(kRows, count - i), to);
    }
    out -= columns * step;
  }
}

}  // namespace bayesbox
