// What to fetch into the cache while a column's block of rows is worked on: a later block comes in meanwhile.
#pragma once

#include <algorithm>
#include <cstddef>

#include "core/column.hpp"
#include "core/kernels.hpp"

namespace bayesbox {

// A block of so many bytes would leave the cache before it is read.
inline constexpr std::size_t kMostAhead = std::size_t{1} << 20;

// For column j of `columns`, of which `column_at(k)` is column k: the block of `rows` rows that begins at row `next`. Of
// columns side by side in the rows of a matrix each fetches its share of the rows.
template <class ColumnAt>
Ahead next_block(const ColumnAt& column_at, std::size_t j, std::size_t columns, std::size_t next, std::size_t rows, bool side_by_side) {
  if (!side_by_side) return {column_at(j).at(next), size_of(column_at(j).kind)};
  constexpr std::size_t kLeast = 8, kMost = 16;  // bytes per value: with other columns in between, not all of it
  const auto stride = static_cast<std::size_t>(std::max<std::int64_t>(column_at(0).stride, 0));
  if (stride * rows > kMostAhead) return {column_at(0).at(next), 0};
  const std::size_t step = std::clamp(stride / columns, kLeast, kMost);
  return {column_at(0).at(next) + j * rows * step, step};
}

// Fetches all of it, where nothing is worked on value by value.
inline void fetch(const Ahead& ahead, std::size_t rows) {
  constexpr std::size_t kLine = 64;
  for (std::size_t byte = 0; byte < rows * ahead.step; byte += kLine) __builtin_prefetch(ahead.at + byte, 0, 2);
}

}  // namespace bayesbox
