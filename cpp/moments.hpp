// Class-split moments of numeric columns: how many values, how many of them fractional, their sum and sum of squares.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "column.hpp"
#include "exact_array.hpp"

namespace bayesbox {

struct Moments {
  explicit Moments(std::size_t classes) : n(classes), fractional(classes), total(classes), squares(classes) {}
  Moments(ExactArray n, ExactArray fractional, ExactArray total, ExactArray squares)
      : n(std::move(n)), fractional(std::move(fractional)), total(std::move(total)), squares(std::move(squares)) {}

  ExactArray n;
  ExactArray fractional;
  ExactArray total;
  ExactArray squares;
};

// An infinite value has no place in a sum.
struct InfiniteValue {
  std::size_t column;
  std::size_t row;
};

inline bool is_fractional(double value) { return value != std::nearbyint(value); }

inline std::vector<Moments> moments(const std::vector<Column>& columns, const Column& target, std::size_t classes,
                                    const Column* weights) {
  std::vector<Moments> result;
  for (std::size_t j = 0; j < columns.size(); ++j) {
    Moments& sums = result.emplace_back(classes);
    for (std::size_t row = 0; row < target.rows; ++row) {
      const auto label = load<std::int32_t>(target.at(row));
      if (label < 0 || static_cast<std::size_t>(label) >= classes) continue;
      const double weight = weights ? load<double>(weights->at(row)) : 1.0;
      const double value = value_at(columns[j], row);
      if (weight == 0 || std::isnan(value)) continue;
      if (std::isinf(value)) throw InfiniteValue{j, row};
      const auto cell = static_cast<std::size_t>(label);
      sums.n.add(cell, weight);
      if (is_fractional(value)) sums.fractional.add(cell, weight);
      sums.total.add_product(cell, weight, value);
      sums.squares.add_product(cell, weight, value, value);
    }
  }
  return result;
}

}  // namespace bayesbox
