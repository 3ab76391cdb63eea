// The counts of the cells of grid.hpp for tables of many columns, or of many classes: each column by itself.
//
// The codes of a column's cells are kept until all rows are read; then its least and its greatest are known, and a table of
// just these cells and of the classes counts them, one increment for each value.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/column.hpp"
#include "core/interrupt.hpp"
#include "core/kernels.hpp"
#include "table/grid.hpp"

namespace bayesbox {

class WindowGrids {
 public:
  static constexpr std::size_t kMostRows = std::size_t{1} << 20;

  WindowGrids(const std::vector<Column>& columns, const Column& target, std::size_t classes)
      : columns_(columns), target_(target), classes_(classes), rows_(target.rows), labels_(rows_) {
    for (std::size_t i = 0; i < rows_; ++i) {
      const auto label = as_offset(load<std::int32_t>(target.at(i)));
      labels_[i] = static_cast<std::uint32_t>(std::min<std::uint64_t>(label, classes));
    }
    gathered_.resize(4 * kBlock);
  }

  std::vector<GridCounts> count() {
    std::vector<GridCounts> result;
    result.reserve(columns_.size());
    const std::size_t together = std::max<std::size_t>(kMostCodes / std::max<std::size_t>(rows_, 1) / 4 * 4, 4);
    for (std::size_t begin = 0; begin < columns_.size(); begin += together) {
      const std::size_t end = std::min(begin + together, columns_.size());
      seen_.assign(end - begin, {});
      codes_.resize((end - begin) * rows_);
      for (std::size_t row = 0; row < rows_; row += kBlock) read(begin, end, row, std::min(kBlock, rows_ - row));
      for (std::size_t j = begin; j < end; ++j) result.push_back(counts_of(j, begin));
    }
    return result;
  }

 private:
  // The size of a cell and, in the last bit, the sign; those of numbers are below kCodes.
  static constexpr std::uint16_t kCodes = 2 * kLastGridCell, kZero = 65534, kNothing = 65535;
  static constexpr std::size_t kBlock = 512, kMostCodes = std::size_t{1} << 22, kMostCells = std::size_t{1} << 23;

  struct Seen {
    std::uint16_t least = kCodes, most = 0;
    bool is_plain = true;  // neither zero nor NaN
  };

  void read(std::size_t begin, std::size_t end, std::size_t row, std::size_t count) {
    poll(2 * count * (end - begin));
    const auto column_at = [&](std::size_t j) -> const Column& { return columns_[begin + j]; };
    for (std::size_t j = 0; j < end - begin;) {
      const std::size_t first = four_around(j, end - begin, Kind::float64, column_at);
      const bool four = first < end - begin;
      double* const values = gathered_.data();
      void* const buffers[4] = {values, values + kBlock, values + 2 * kBlock, values + 3 * kBlock};
      if (four)
        kernels_.gather_four(column_at(first).at(row), column_at(first).stride, nullptr, count, buffers);
      else
        read_doubles(column_at(j), row, count, values);
      for (const std::size_t last = four ? first + 4 : j + 1; j < last; ++j)
        encode(values + (four ? j - first : 0) * kBlock, count, codes_.data() + j * rows_ + row, seen_[j]);
    }
  }

  static void encode(const double* values, std::size_t count, std::uint16_t* codes, Seen& seen) {
    for (std::size_t i = 0; i < count; ++i) {
      const auto bits = std::bit_cast<std::uint64_t>(values[i]);
      codes[i] = static_cast<std::uint16_t>(bits << 1 >> 50 << 1 | bits >> 63);
    }
    std::uint16_t least = kCodes, most = 0;  // of 16 bits, as the codes are: this loop becomes one of vectors
    for (std::size_t i = 0; i < count; ++i) {
      least = std::min(least, codes[i]);
      most = std::max(most, codes[i]);
    }
    if (least < 2 || most >= kCodes) {  // zero, or among the smallest numbers there are, or NaN
      seen.is_plain = false;
      least = kCodes;
      most = 0;
      for (std::size_t i = 0; i < count; ++i) {
        if (values[i] == 0 || codes[i] >= kCodes) {
          codes[i] = values[i] == 0 ? kZero : kNothing;
          continue;
        }
        least = std::min(least, codes[i]);
        most = std::max(most, codes[i]);
      }
    }
    seen.least = std::min(seen.least, least);
    seen.most = std::max(seen.most, most);
  }

  GridCounts counts_of(std::size_t j, std::size_t begin) {
    const Seen& seen = seen_[j - begin];
    const std::uint16_t* codes = codes_.data() + (j - begin) * rows_;
    const bool some = seen.least <= seen.most;
    const std::size_t base = some ? seen.least & ~1u : 0, width = some ? (seen.most | 1u) + 1 - base : 0;
    if (width * (classes_ + 1) > kMostCells) return count_grids({columns_[j]}, target_, classes_)[0];
    table_.assign(width * (classes_ + 1), 0);
    zeros_.assign(classes_ + 1, 0);
    if (seen.is_plain) {
      for (std::size_t i = 0; i < rows_; ++i) ++table_[labels_[i] * width + codes[i] - base];
    } else {
      for (std::size_t i = 0; i < rows_; ++i) {
        if (codes[i] < kCodes) ++table_[labels_[i] * width + codes[i] - base];
        else if (codes[i] == kZero) ++zeros_[labels_[i]];
      }
    }
    GridCounts result;
    for (std::size_t label = 0; label < classes_; ++label) {
      const std::uint32_t* counts = table_.data() + label * width;
      for (std::size_t k = width; k > 0; k -= 2) result.push(label, -static_cast<std::int32_t>((base + k) / 2), counts[k - 1]);
      result.push(label, 0, zeros_[label]);
      for (std::size_t k = 0; k < width; k += 2) result.push(label, static_cast<std::int32_t>((base + k) / 2 + 1), counts[k]);
    }
    return result;
  }

  const std::vector<Column>& columns_;
  const Column& target_;
  std::size_t classes_, rows_;
  const Kernels& kernels_ = kernels();
  std::vector<std::uint32_t> labels_;  // those of no class are `classes`
  std::vector<double> gathered_;
  std::vector<std::uint16_t> codes_;  // of some columns, row by row
  std::vector<Seen> seen_;            // of the same
  std::vector<std::uint32_t> table_, zeros_;
};

}  // namespace bayesbox
