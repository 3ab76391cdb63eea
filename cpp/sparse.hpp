// Class x column sums of a matrix in compressed sparse rows.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>

#include "column.hpp"
#include "count.hpp"
#include "exact_array.hpp"

namespace bayesbox {

inline std::int64_t integer_at(const Column& column, std::size_t row) {
  return with_integer_type(column.kind, [&]<class T>() { return static_cast<std::int64_t>(load<T>(column.at(row))); });
}

inline ExactArray count_sparse(const Column& starts, const Column& indices, const Column& data, std::size_t width,
                               const Column& target, std::size_t classes, const Column* weights) {
  ExactArray sums(classes * width);
  std::int64_t end = integer_at(starts, 0);
  if (end < 0) throw std::invalid_argument("indptr: negative");
  for (std::size_t row = 0; row < target.rows; ++row) {
    const std::int64_t begin = end;
    end = integer_at(starts, row + 1);
    if (end < begin) throw std::invalid_argument("indptr: not ascending");
    if (static_cast<std::uint64_t>(end) > indices.rows) throw std::invalid_argument("indptr: beyond the indices");
    const auto label = as_offset(load<std::int32_t>(target.at(row)));
    const double weight = weights ? load<double>(weights->at(row)) : 1.0;
    for (auto at = static_cast<std::size_t>(begin); at < static_cast<std::size_t>(end); ++at) {
      const auto position = static_cast<std::uint64_t>(integer_at(indices, at));
      if (position >= width) throw std::invalid_argument("indices: outside the width");
      const double value = value_at(data, at);
      if (!std::isfinite(value)) throw std::invalid_argument("data: not finite");
      if (label < classes) sums.add_product(label * width + position, value, weight);
    }
  }
  return sums;
}

}  // namespace bayesbox
