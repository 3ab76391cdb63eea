// The cells of a large table that are not zero, where they are few: zeros then need not be visited.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bayesbox {

class LiveCells {
 public:
  // A table of rows, of which `sums` tells whether they hold anything but zeros; no cell is negative.
  void find(const double* table, std::int64_t rows, std::int64_t row_cells, const double* sums) {
    listed_ = false;
    const std::int64_t all = rows * row_cells;
    if (all < kLeastCells) return;
    const auto most = static_cast<std::size_t>(all / kFewer);
    cells_.clear();
    rows_.clear();
    for (std::int64_t row = 0; row < rows; ++row) {
      if (!(sums[row] > 0)) continue;
      const std::int64_t first = row * row_cells, stop = first + row_cells;
      std::int64_t i = first;
      for (; i + 8 <= stop; i += 8) {
        const double* at = table + i;
        if (((at[0] + at[1]) + (at[2] + at[3])) + ((at[4] + at[5]) + (at[6] + at[7])) > 0) take(table, i, i + 8);
      }
      take(table, i, stop);
      rows_.push_back({row, cells_.size()});
      if (cells_.size() > most) return;
    }
    listed_ = true;
  }
  // Whether there are few enough of them to be listed.
  bool listed() const { return listed_; }
  const std::vector<std::int32_t>& cells() const { return cells_; }

  // Calls visit(row, first cell, behind the last cell) for each row that holds anything.
  template <class Visit>
  void each_row(const Visit& visit) const {
    const std::int32_t* first = cells_.data();
    for (const Row& row : rows_) {
      const std::int32_t* stop = cells_.data() + row.end;
      visit(row.row, first, stop);
      first = stop;
    }
  }

 private:
  static constexpr std::int64_t kLeastCells = 1 << 17;
  static constexpr std::int64_t kFewer = 5;  // at most one cell in so many

  struct Row {
    std::int64_t row;
    std::size_t end;  // of its cells in the list
  };

  void take(const double* table, std::int64_t first, std::int64_t stop) {
    for (std::int64_t i = first; i < stop; ++i)
      if (table[i] > 0) cells_.push_back(static_cast<std::int32_t>(i));
  }

  bool listed_ = false;
  std::vector<std::int32_t> cells_;
  std::vector<Row> rows_;
};

}  // namespace bayesbox
