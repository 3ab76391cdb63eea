// Class-split moments of numeric columns: how many values, how many of them fractional, their sum and sum of squares.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "core/block_sum.hpp"
#include "core/column.hpp"
#include "core/exact_array.hpp"
#include "core/interrupt.hpp"
#include "core/kernels.hpp"
#include "table/cell_tables.hpp"
#include "table/class_order.hpp"
#include "table/count.hpp"
#include "table/grid.hpp"
#include "table/matrix_moments.hpp"
#include "table/window_grids.hpp"
#include "table/prefetch.hpp"

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

// An infinite value has no place in a sum. The one reported is the first row of the first column that has any.
struct InfiniteValue {
  std::size_t column;
  std::size_t row;
};

class MomentSums {
 public:
  // With `grids` the cells of each column are counted into it too, in the same pass: without weights, and with at most
  // kMostClassesSorted classes. They are counted by `windows`, or by tables without.
  MomentSums(const std::vector<Column>& columns, const Column& target, std::size_t classes, const Column* weights,
             std::vector<GridCounts>* grids = nullptr, WindowGrids* windows = nullptr)
      : columns_(columns), target_(target), classes_(classes), weights_(weights), grids_(grids), windows_(windows) {}

  std::vector<Moments> sum() {
    for (std::size_t j = 0; j < columns_.size(); ++j) result_.emplace_back(classes_);
    if (weights_ != nullptr) {
      for (std::size_t j = 0; j < columns_.size(); ++j) add_weighted(j);
      return std::move(result_);
    }
    add_from_counts();
    if (classes_ > kMostClassesSorted)
      for (const std::size_t j : dense_) add_row_by_row(j);
    else if (classes_ > 0)
      add_blocks();
    return std::move(result_);
  }

  // With more classes than this a block of rows would be all short runs.
  static constexpr std::size_t kMostClassesSorted = 2048;

  // Whether cells are counted by tables of all cells: each class has enough rows for one, and they are few, or the rows too many
  // for codes.
  static bool suits_tables(std::size_t rows, std::size_t columns, std::size_t classes) {
    constexpr std::size_t kMostClasses = 64, kFewTables = 64, kLeastRows = 8192;  // rows for each class
    if (classes > kMostClasses || rows < kLeastRows * classes || rows > CellTables::kMostValues) return false;
    return columns * classes <= kFewTables || rows > WindowGrids::kMostRows;
  }

 private:
  // A column of integers with few values is counted, and its moments are read off the counts.
  static constexpr std::uint64_t kMostValuesCounted = 4096;

  static std::size_t block_rows(std::size_t classes) { return std::clamp<std::size_t>(512 * classes, 2048, 16384); }

  bool takes(double value, std::size_t column) const {
    if (std::isinf(value)) refuse_infinite(column);
    return !std::isnan(value);
  }

  void add_weighted(std::size_t j) {
    Moments& sums = result_[j];
    for (std::size_t row = 0; row < target_.rows; ++row) {
      poll_at(row, 16);
      const auto label = as_offset(load<std::int32_t>(target_.at(row)));
      const double weight = load<double>(weights_->at(row));
      if (label >= classes_ || weight == 0) continue;
      const double value = value_at(columns_[j], row);
      if (!takes(value, j)) continue;
      sums.n.add(label, weight);
      if (is_fractional(value)) sums.fractional.add(label, weight);
      sums.total.add_product(label, weight, value);
      sums.squares.add_product(label, weight, value, value);
    }
  }

  void add_row_by_row(std::size_t j) {
    Moments& sums = result_[j];
    for (std::size_t row = 0; row < target_.rows; ++row) {
      poll_at(row, 16);
      const auto label = as_offset(load<std::int32_t>(target_.at(row)));
      if (label >= classes_) continue;
      const double value = value_at(columns_[j], row);
      if (!takes(value, j)) continue;
      sums.n.add_integer(label, 1);
      if (is_fractional(value)) sums.fractional.add_integer(label, 1);
      sums.total.add(label, value);
      sums.squares.add_product(label, value, value);
    }
  }

  // Does the integer columns with few values; all the others become `dense_`.
  void add_from_counts() {
    std::vector<Column> integers;
    for (const Column& column : columns_)
      if (!is_floating(column.kind)) integers.push_back(column);
    const auto counted = count_integers(integers, target_, classes_, kMostValuesCounted);
    std::size_t next = 0;
    for (std::size_t j = 0; j < columns_.size(); ++j) {
      if (is_floating(columns_[j].kind) || !counted[next])
        dense_.push_back(j);
      else
        add_counts(*counted[next], j);
      next += !is_floating(columns_[j].kind);
    }
  }

  void add_counts(const IntegerCounts& counted, std::size_t j) {
    Moments& sums = result_[j];
    for (std::size_t label = 0; label < classes_; ++label)
      for (std::size_t level = 0; level < counted.width; ++level) {
        const std::int64_t count = counted.counts[label * counted.width + level];
        if (count == 0) continue;
        const auto value = static_cast<double>(counted.lowest + static_cast<int128>(level));
        const auto times = static_cast<double>(count);  // below 2^53: there are not that many rows
        sums.n.add_integer(label, count);
        sums.total.add_product(label, times, value);
        sums.squares.add_product(label, times, value, value);
        if (grids_ != nullptr) (*grids_)[j].add(label, grid_cell(value), count);
      }
  }

  // Adds the columns that are adjacent in a row-major matrix; the others remain `dense_`.
  void add_matrices() {
    std::vector<std::size_t> others;
    const auto column_at = [this](std::size_t position) -> const Column& { return columns_[dense_[position]]; };
    for (std::size_t position = 0; position < dense_.size();) {
      const std::size_t found = MatrixMoments::adjacent(position, dense_.size(), column_at);
      if (found == 0) {
        others.push_back(dense_[position++]);
        continue;
      }
      const auto result_of = [this, position](std::size_t k) -> MatrixMoments::Result {
        Moments& sums = result_[dense_[position + k]];
        return {sums.n, sums.fractional, sums.total, sums.squares};
      };
      if (windows_ != nullptr) windows_->begin(found, target_.rows);
      MatrixMoments(column_at(position), found, target_, classes_, windows_)
          .sum(result_of, [this, position](std::size_t k) { refuse_infinite(dense_[position + k]); });
      for (std::size_t k = 0; windows_ != nullptr && k < found; ++k) read_window(k, dense_[position + k]);
      position += found;
    }
    dense_ = std::move(others);
  }

  void add_blocks() {
    if (dense_.empty()) return;
    const bool by_tables = grids_ != nullptr && windows_ == nullptr;
    if (!by_tables) add_matrices();
    if (dense_.empty()) return;
    if (by_tables) tables_.emplace(dense_.size() * classes_);
    if (windows_ != nullptr) windows_->begin(dense_.size(), target_.rows);
    const std::size_t most = block_rows(classes_);
    ClassOrder order(classes_, std::min(most, target_.rows));
    const std::size_t capacity = padded(order.capacity()) + kPad;  // columns do not begin at the same place of the cache
    const auto column_at = [this](std::size_t position) -> const Column& { return columns_[dense_[position]]; };
    std::vector<double> gathered(4 * capacity);
    void* const buffers[4] = {gathered.data(), gathered.data() + capacity, gathered.data() + 2 * capacity,
                              gathered.data() + 3 * capacity};
    counts_.assign(dense_.size() * classes_, {});
    RunSummer summer(counts_.size());
    const Kernels& kernel = kernels();
    for (std::size_t begin = 0; begin < target_.rows; begin += most) {
      poll(most * dense_.size());
      order.sort(target_, begin, std::min(most, target_.rows - begin));
      if (windows_ != nullptr) windows_->begin_block(order.runs());
      const std::size_t next = std::min(begin + most, target_.rows - 1);
      for (std::size_t position = 0; position < dense_.size();) {
        const std::size_t first = four_around(position, dense_.size(), Kind::float64, column_at);
        const bool four = first < dense_.size();
        if (four)
          kernel.gather_four(column_at(first).at(begin), column_at(first).stride, order.order(), order.length(), buffers);
        else
          gather_doubles(column_at(position), begin, order.order(), order.length(), gathered.data());
        for (const std::size_t end = four ? first + 4 : position + 1; position < end; ++position) {
          const Ahead ahead = next_block(column_at, position, dense_.size(), next, most, four);
          add_runs(summer, position, order, gathered.data() + (four ? position - first : 0) * capacity, ahead);
        }
      }
    }
    for (std::size_t position = 0; position < dense_.size(); ++position) {
      if (windows_ != nullptr) read_window(position, dense_[position]);
      for (std::size_t label = 0; label < classes_; ++label) {
        summer.finish(cell_of(position, label));
        const RunSummer::Counts& counts = counts_[position * classes_ + label];
        result_[dense_[position]].n.add_integer(label, counts.n);
        result_[dense_[position]].fractional.add_integer(label, counts.fractional);
        if (tables_) tables_->read(position * classes_ + label, label, (*grids_)[dense_[position]]);
      }
    }
  }

  void read_window(std::size_t position, std::size_t column) {
    GridCounts& grid = (*grids_)[column];
    grid = windows_->fits(position) ? windows_->read(position) : std::move(count_grids({columns_[column]}, target_, classes_)[0]);
  }

  RunSummer::Cell cell_of(std::size_t position, std::size_t label) {
    Moments& sums = result_[dense_[position]];
    return {position * classes_ + label, sums.total, sums.squares, label};
  }

  void add_runs(RunSummer& summer, std::size_t position, const ClassOrder& order, double* values, Ahead ahead) {
    for (const Run& run : order.runs()) {
      if (tables_) tables_->add(position * classes_ + run.label, values + run.begin, run.count);
      if (windows_ != nullptr) windows_->add(position, values + run.begin, run.count);
      const RunSummer::Counts found =
          summer.add(values + run.begin, run.count, cell_of(position, run.label), ahead.from(run.begin));
      if (found.infinite) refuse_infinite(dense_[position]);
      RunSummer::Counts& counts = counts_[position * classes_ + run.label];
      counts.n += found.n;
      counts.fractional += found.fractional;
    }
  }

  // Blocks meet infinite values in their own order: look again, column by column, so that the report is always the same.
  [[noreturn]] void refuse_infinite(std::size_t found_in) const {
    for (std::size_t j = 0; j < columns_.size(); ++j)
      for (std::size_t row = 0; row < target_.rows; ++row)
        if (std::isinf(value_at(columns_[j], row)) && as_offset(load<std::int32_t>(target_.at(row))) < classes_ &&
            (weights_ == nullptr || load<double>(weights_->at(row)) != 0))
          throw InfiniteValue{j, row};
    throw InfiniteValue{found_in, 0};  // the data changed under our hands
  }

  const std::vector<Column>& columns_;
  const Column& target_;
  std::size_t classes_;
  const Column* weights_;
  std::vector<GridCounts>* grids_;
  WindowGrids* windows_;
  std::optional<CellTables> tables_;  // one for each dense column and class
  std::vector<Moments> result_;
  std::vector<std::size_t> dense_;  // the columns summed as doubles
  std::vector<RunSummer::Counts> counts_;
};

inline std::vector<Moments> moments(const std::vector<Column>& columns, const Column& target, std::size_t classes,
                                    const Column* weights) {
  return MomentSums(columns, target, classes, weights).sum();
}

// Moments, and for each column the counts of its cells by class.
struct MomentsAndGrids {
  std::vector<Moments> moments;
  std::vector<GridCounts> grids;
};

// Both in one pass, some columns at a time, so that tables of the widest ranges take at most 64 MB, and codes 4 MB. One after
// the other if the rows are not sorted by class, or if there are too many of them for codes.
inline MomentsAndGrids moments_and_grids(const std::vector<Column>& columns, const Column& target, std::size_t classes) {
  constexpr std::size_t kMostTables = 256;
  const bool by_tables = classes > 0 && MomentSums::suits_tables(target.rows, columns.size(), classes);
  if (classes == 0 || classes > MomentSums::kMostClassesSorted || (!by_tables && target.rows > WindowGrids::kMostRows)) {
    std::vector<Moments> sums = moments(columns, target, classes, nullptr);
    return {std::move(sums), count_grids(columns, target, classes)};
  }
  MomentsAndGrids result;
  // columns side by side are read by fours
  const std::size_t most = by_tables ? kMostTables / classes / 4 * 4 : WindowGrids::columns_at_once(target.rows);
  WindowGrids windows(classes);
  for (std::size_t begin = 0; begin < columns.size(); begin += most) {
    const auto first = columns.begin() + static_cast<std::ptrdiff_t>(begin);
    const std::vector<Column> some(first, first + static_cast<std::ptrdiff_t>(std::min(most, columns.size() - begin)));
    std::vector<GridCounts> grids(some.size());
    try {
      MomentSums sums(some, target, classes, nullptr, &grids, by_tables ? nullptr : &windows);
      std::ranges::move(sums.sum(), std::back_inserter(result.moments));
    } catch (const InfiniteValue& found) {
      throw InfiniteValue{begin + found.column, found.row};
    }
    std::ranges::move(grids, std::back_inserter(result.grids));
  }
  return result;
}

}  // namespace bayesbox
