// Class x cell counts of columns of numbers, in cells that are the same for every column.
//
// A cell holds the doubles that share sign, exponent and the first three bits of the mantissa: eight cells for each
// power of two, and one more for zero, of either sign. Cells are numbered in the order of their values: 0 for zero, 1
// and up for positive numbers, -1 and down for negative ones. NaN is missing.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <vector>

#include "core/column.hpp"
#include "core/interrupt.hpp"
#include "core/large_pages.hpp"
#include "table/column_blocks.hpp"
#include "table/count.hpp"
#include "table/level_counter.hpp"

namespace bayesbox {

inline constexpr std::int32_t kLastGridCell = 16376;  // of the largest double; its negative is the first one
inline constexpr std::int32_t kNoGridCell = -32768;   // of NaN, and of an infinite value

// The cell of a number.
inline std::int32_t grid_cell(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const auto cell = static_cast<std::int32_t>(bits << 1 >> 50) + 1;
  if (value == 0) return 0;
  if (cell > kLastGridCell) return kNoGridCell;
  return bits >> 63 != 0 ? -cell : cell;
}

// The cells of a class that have a count, in ascending order.
struct GridCounts {
  std::vector<std::int32_t> labels;
  std::vector<std::int32_t> cells;
  LargeVector<std::int64_t> counts;

  void resize(std::size_t size) {
    labels.resize(size);
    cells.resize(size);
    counts.resize(size);
  }
  void push(std::size_t label, std::int32_t cell, std::int64_t count) {
    if (count == 0) return;
    labels.push_back(static_cast<std::int32_t>(label));
    cells.push_back(cell);
    counts.push_back(count);
  }
  // The same where the cell may be the one before.
  void add(std::size_t label, std::int32_t cell, std::int64_t count) {
    if (!cells.empty() && cells.back() == cell && labels.back() == static_cast<std::int32_t>(label))
      counts.back() += count;
    else
      push(label, cell, count);
  }
};

// The counts of one column. A window of cells that grows with the values holds them, by a code in which a cell and that
// of the negative numbers of the same size are neighbours, so that the window is narrow; zero is counted beside it.
// Where the window would take too much memory (many classes and a wide range), the cells are sorted in the end.
class GridCounter {
 public:
  explicit GridCounter(std::size_t classes)
      : classes_(classes), zeros_(classes + 1), counter_(classes, std::min<std::uint64_t>(kCodes, kMostCells / std::max<std::size_t>(classes, 1))) {}

  void add(const double* values, LabelBlock& labels, LabelBlock& scratch) {
    const std::size_t count = labels.count();
    codes_.resize(count);
    std::int16_t* codes = codes_.data();
    for (std::size_t i = 0; i < count; ++i) {
      const auto bits = std::bit_cast<std::uint64_t>(values[i]);
      codes[i] = static_cast<std::int16_t>(bits << 1 >> 50 << 1 | bits >> 63);
    }
    std::uint16_t largest = 0, tiny = 0;  // of 16 bits, as the codes are: these loops become ones of vectors
    for (std::size_t i = 0; i < count; ++i) {
      largest = std::max(largest, static_cast<std::uint16_t>(codes[i]));
      tiny |= static_cast<std::uint16_t>(codes[i] < 2);  // zero, or among the smallest numbers there are
    }
    if (tiny == 0 && largest < kCodes)
      counter_.add<std::int16_t>(codes, labels);
    else
      add_others(values, labels, scratch);
  }

  GridCounts finish(const Column& column, const Column& target) {
    const std::optional<IntegerCounts> found = counter_.finish();
    if (!found) return sorted(column, target);
    GridCounts result;
    const auto lowest = static_cast<std::int32_t>(found->lowest);
    const auto width = static_cast<std::int32_t>(found->width);
    for (std::size_t label = 0; label < classes_; ++label) {
      const std::int64_t* counts = found->counts.data() + label * found->width;
      for (std::int32_t level = width - 1; level >= 0; --level)
        if ((lowest + level) % 2 != 0) result.push(label, -((lowest + level) / 2 + 1), counts[level]);
      result.push(label, 0, zeros_[label]);
      for (std::int32_t level = 0; level < width; ++level)
        if ((lowest + level) % 2 == 0) result.push(label, (lowest + level) / 2 + 1, counts[level]);
    }
    return result;
  }

 private:
  static constexpr std::int32_t kCodes = 2 * kLastGridCell;  // codes from here on are those of NaN
  static constexpr std::uint64_t kMostCells = std::uint64_t{1} << 23;

  // The same for a block with zeros or NaN, which have no place in the window. There may be any number of them in any
  // order, so nothing branches on a value.
  void add_others(const double* values, LabelBlock& labels, LabelBlock& scratch) {
    const std::int16_t* codes = codes_.data();
    for (std::size_t i = 0; i < labels.count(); ++i)
      zeros_[labels.kept(i) ? labels.label(i) : classes_] += values[i] == 0;
    scratch.read_where(labels, [&](std::size_t i) { return (values[i] != 0) & (codes[i] < kCodes); });
    counter_.add<std::int16_t>(codes, scratch);
  }

  GridCounts sorted(const Column& column, const Column& target) const {
    std::vector<std::uint64_t> keys;
    for (std::size_t row = 0; row < target.rows; ++row) {
      poll_at(row, 8);
      const auto label = as_offset(load<std::int32_t>(target.at(row)));
      const std::int32_t cell = grid_cell(value_at(column, row));
      if (label < classes_ && cell != kNoGridCell) keys.push_back(label << 16 | static_cast<std::uint64_t>(cell - kNoGridCell));
    }
    std::sort(keys.begin(), keys.end());
    GridCounts result;
    for (std::size_t begin = 0, end = 0; begin < keys.size(); begin = end) {
      while (end < keys.size() && keys[end] == keys[begin]) ++end;
      const auto cell = static_cast<std::int32_t>(keys[begin] & 0xffff) + kNoGridCell;
      result.push(static_cast<std::size_t>(keys[begin] >> 16), cell, static_cast<std::int64_t>(end - begin));
    }
    return result;
  }

  std::size_t classes_;
  std::vector<std::int64_t> zeros_;  // by class, and those of no class
  IntegerCounter counter_;
  std::vector<std::int16_t> codes_;
};

// For each column the counts of its cells by class; a label outside [0, classes) leaves the row out.
inline std::vector<GridCounts> count_grids(const std::vector<Column>& columns, const Column& target, std::size_t classes) {
  std::vector<GridCounter> counters;
  for (std::size_t j = 0; j < columns.size(); ++j) counters.emplace_back(classes);
  const std::size_t block = std::min(counting_block(columns), std::max<std::size_t>(target.rows, 1));
  LabelBlock labels(classes, block), scratch(classes, block);
  std::vector<double> wide;
  ColumnBlocks blocks(columns, block);
  for (std::size_t begin = 0; begin < target.rows && classes > 0 && !columns.empty(); begin += block) {
    const std::size_t count = std::min(block, target.rows - begin);
    poll(2 * count * columns.size());
    labels.read(target, begin, count);
    blocks.each(begin, count, [&]<class T>(std::size_t j, const T* values) {
      if constexpr (std::is_same_v<T, double>) {
        counters[j].add(values, labels, scratch);
      } else {
        wide.assign(values, values + count);
        counters[j].add(wide.data(), labels, scratch);
      }
    });
  }
  std::vector<GridCounts> result;
  for (std::size_t j = 0; j < columns.size(); ++j) result.push_back(counters[j].finish(columns[j], target));
  return result;
}

}  // namespace bayesbox
