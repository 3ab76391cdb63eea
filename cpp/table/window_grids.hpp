// The counts of the cells of grid.hpp for tables with many columns or many classes, column by column.
//
// The codes of the cells of a column are kept until all rows are read; then the least and the greatest of them are known, and
// are the bounds of a table of counts, cells x classes.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/column.hpp"
#include "core/kernels.hpp"
#include "core/large_pages.hpp"
#include "core/row_kernels.hpp"
#include "table/class_order.hpp"
#include "table/grid.hpp"

namespace bayesbox {

class WindowGrids {
 public:
  static constexpr std::size_t kMostRows = std::size_t{1} << 20;

  // The number of columns that are counted together, whose codes fit in 4 MB: a multiple of 16.
  static std::size_t columns_at_once(std::size_t rows) {
    return std::max<std::size_t>(kMostCodes / std::max<std::size_t>(rows, 1) / 16 * 16, 16);
  }

  explicit WindowGrids(std::size_t classes) : classes_(classes) {}

  // So many columns are counted next.
  void begin(std::size_t columns, std::size_t rows) {
    runs_.clear();
    step_ = rows + kPad;
    seen_.assign(columns, {});
    if (codes_.size() < columns * step_) codes_ = LargeVector<std::uint16_t>(columns * step_);
  }

  // The runs of classes in which the values of the next rows come, the same for every column.
  void begin_block(const std::vector<Run>& runs) { runs_.insert(runs_.end(), runs.begin(), runs.end()); }

  // The values of a column in the next of the runs.
  void add(std::size_t column, const double* values, std::size_t count) {
    Seen& seen = seen_[column];
    encode(values, count, codes_at(column) + seen.count, seen);
    seen.count += count;
  }

  // The same of kPad columns whose values lie side by side. The first few may have been added before, which changes nothing.
  void add_lines(std::size_t column, const double* lines, std::size_t count) {
    const std::size_t before = seen_[column + kPad - 1].count;
    std::uint16_t least[kPad], most[kPad];
    row_kernels().encode(lines, count, codes_at(column) + before, step_, least, most);
    for (std::size_t k = 0; k < kPad; ++k) {
      note(lines + k, kPad, count, codes_at(column + k) + before, least[k], most[k], seen_[column + k]);
      seen_[column + k].count = before + count;
    }
  }

  // Whether the table of a column is small enough.
  bool fits(std::size_t column) const { return width_of(seen_[column]) * (classes_ + 1) <= kMostCells; }

  GridCounts read(std::size_t column) {
    const Seen& seen = seen_[column];
    const std::size_t base = base_of(seen), width = width_of(seen);
    table_.assign(width * classes_, 0);
    zeros_.assign(classes_, 0);
    const std::uint16_t* codes = codes_at(column);
    for (const Run& run : runs_) {
      std::uint32_t* const counts = table_.data() + run.label * width;
      if (seen.is_plain) {
        for (std::size_t i = 0; i < run.count; ++i) ++counts[codes[i] - base];
      } else {
        for (std::size_t i = 0; i < run.count; ++i) {
          if (codes[i] < kCodes) ++counts[codes[i] - base];
          else zeros_[run.label] += codes[i] == kZero;
        }
      }
      codes += run.count;
    }
    const auto some = [](const std::vector<std::uint32_t>& counts) {
      return counts.size() - static_cast<std::size_t>(std::count(counts.begin(), counts.end(), 0));
    };
    GridCounts result;
    const std::size_t size = some(table_) + some(zeros_);
    result.resize(size + 1);  // one more, since a cell without values may be written behind the last
    std::size_t at = 0;
    for (std::size_t label = 0; label < classes_; ++label) {
      const auto put = [&](std::int32_t cell, std::uint32_t count) {  // nothing branches on a count
        result.labels[at] = static_cast<std::int32_t>(label);
        result.cells[at] = cell;
        result.counts[at] = count;
        at += count != 0;
      };
      const std::uint32_t* counts = table_.data() + label * width;
      for (std::size_t k = width; k > 0; k -= 2) put(-static_cast<std::int32_t>((base + k) / 2), counts[k - 1]);
      put(0, zeros_[label]);
      for (std::size_t k = 0; k < width; k += 2) put(static_cast<std::int32_t>((base + k) / 2 + 1), counts[k]);
    }
    result.resize(size);
    return result;
  }

 private:
  // The size of a cell and, in the last bit, the sign; those of numbers are below kCodes.
  static constexpr std::uint16_t kCodes = 2 * kLastGridCell, kZero = 65534, kNothing = 65535;
  static constexpr std::size_t kMostCodes = std::size_t{1} << 21, kMostCells = std::size_t{1} << 23;

  struct Seen {
    std::size_t count = 0;
    std::uint16_t least = kCodes, most = 0;
    bool is_plain = true;  // neither zero nor NaN
  };

  static std::size_t base_of(const Seen& seen) { return seen.least <= seen.most ? seen.least & ~1u : 0; }
  static std::size_t width_of(const Seen& seen) { return seen.least <= seen.most ? (seen.most | 1u) + 1 - base_of(seen) : 0; }

  std::uint16_t* codes_at(std::size_t column) { return codes_.data() + column * step_; }

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
    note(values, 1, count, codes, least, most, seen);
  }

  // What the codes of values that are `apart` doubles from each other tell, where `least` and `most` are those of them.
  static void note(const double* values, std::size_t apart, std::size_t count, std::uint16_t* codes, std::uint16_t least,
                   std::uint16_t most, Seen& seen) {
    if (least < 2 || most >= kCodes) {  // zero, or among the smallest numbers there are, or NaN
      seen.is_plain = false;
      least = kCodes;
      most = 0;
      for (std::size_t i = 0; i < count; ++i) {
        if (values[i * apart] == 0 || codes[i] >= kCodes) {
          codes[i] = values[i * apart] == 0 ? kZero : kNothing;
          continue;
        }
        least = std::min(least, codes[i]);
        most = std::max(most, codes[i]);
      }
    }
    seen.least = std::min(seen.least, least);
    seen.most = std::max(seen.most, most);
  }

  std::size_t classes_;
  std::size_t step_ = 0;              // from column to column: one vector may be written behind the last row
  std::vector<Run> runs_;             // of all rows so far
  std::vector<Seen> seen_;            // of the columns
  LargeVector<std::uint16_t> codes_;  // column by column, in the order of the runs
  std::vector<std::uint32_t> table_, zeros_;
};

}  // namespace bayesbox
