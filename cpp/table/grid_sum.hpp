// One grid of counts plus or minus another: two lists of cells in ascending order become one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/exact_array.hpp"

namespace bayesbox {

// The cells that have a count, class by class and ascending, and their counts, which may be sums of weights.
struct ExactGrid {
  std::vector<std::int32_t> labels;
  std::vector<std::int32_t> cells;
  ExactArray counts{0};

  std::size_t size() const { return cells.size(); }
  std::pair<std::int32_t, std::int32_t> key(std::size_t i) const { return {labels[i], cells[i]}; }
};

// one + sign * other; a cell whose count becomes zero is dropped.
inline ExactGrid add_grids(const ExactGrid& one, const ExactGrid& other, int sign) {
  ExactGrid sum;
  std::vector<std::int64_t> index_of_one(one.size()), index_of_other(other.size()), in_both;
  for (std::size_t i = 0, j = 0; i < one.size() || j < other.size();) {
    const bool from_one = j == other.size() || (i < one.size() && one.key(i) <= other.key(j));
    const bool from_other = i == one.size() || (j < other.size() && other.key(j) <= one.key(i));
    const auto [label, cell] = from_one ? one.key(i) : other.key(j);
    const auto place = static_cast<std::int64_t>(sum.size());
    if (from_one && from_other) in_both.push_back(place);
    if (from_one) index_of_one[i++] = place;
    if (from_other) index_of_other[j++] = place;
    sum.labels.push_back(label);
    sum.cells.push_back(cell);
  }
  sum.counts = ExactArray(sum.size());
  sum.counts.merge(one.counts, index_of_one.data(), 1);
  sum.counts.merge(other.counts, index_of_other.data(), sign);
  Magnitude scratch;
  std::vector<bool> dropped(sum.size());
  bool any = false;
  for (const std::int64_t place : in_both)
    if (sum.counts.sign(static_cast<std::size_t>(place), scratch) == 0) any = dropped[static_cast<std::size_t>(place)] = true;
  if (!any) return sum;
  ExactGrid result;
  std::vector<std::int64_t> kept;
  for (std::size_t i = 0; i < sum.size(); ++i) {
    if (dropped[i]) continue;
    kept.push_back(static_cast<std::int64_t>(i));
    result.labels.push_back(sum.labels[i]);
    result.cells.push_back(sum.cells[i]);
  }
  result.counts = sum.counts.take(kept.data(), kept.size());
  return result;
}

}  // namespace bayesbox
