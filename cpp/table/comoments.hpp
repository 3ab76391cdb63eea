// Sums and sums of products of several columns together, by group of rows: exact, whatever the order of the rows.
//
// A run of rows of one group is split column by column into three pieces of 21 bits, whose products add up exactly in
// doubles; the few values with more bits beside the largest of their run (`rest`) are made up for one by one.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/column.hpp"
#include "core/exact_array.hpp"
#include "core/interrupt.hpp"
#include "core/joint_kernels.hpp"
#include "table/class_order.hpp"
#include "table/moments.hpp"

namespace bayesbox {

// The place of the pair (i, j), i <= j, among the pairs of `width` columns: (0, 0), (0, 1), ... (1, 1), ...
inline std::size_t pair_place(std::size_t i, std::size_t j, std::size_t width) {
  return i * width - i * (i + 1) / 2 + j;
}
inline std::size_t pair_count(std::size_t width) { return width * (width + 1) / 2; }

struct CoMoments {
  CoMoments(std::size_t groups, std::size_t width) : totals(groups * width), products(groups * pair_count(width)) {}

  ExactArray totals;    // groups x columns
  ExactArray products;  // groups x pairs
};

// A missing value (NaN) adds nothing. A group outside [0, groups) leaves its row out.
class CoMomentSums {
 public:
  CoMomentSums(const std::vector<Column>& columns, const Column& target, std::size_t groups, const Column* weights)
      : columns_(columns),
        target_(target),
        groups_(groups),
        weights_(weights),
        width_(columns.size()),
        pairs_(pair_count(columns.size())),
        result_(groups, columns.size()),
        row_(columns.size()) {}

  CoMoments sum() {
    if (width_ == 0 || groups_ == 0) return std::move(result_);
    if (weights_ != nullptr)
      add_weighted();
    else
      add_blocks();
    return std::move(result_);
  }

 private:
  static constexpr std::size_t kMostRows = 512;          // of a run that is split at once
  static constexpr std::size_t kPieces = 32768;          // numbers that fit into a near cache
  static constexpr std::size_t kShort = 8;               // below this a row at a time is quicker
  static constexpr std::size_t kMostBlock = 1 << 20;     // rows that are sorted by group at once
  static constexpr int kLeastExponent = -300, kMostExponent = 480;  // splitting stays within normal numbers

  void add_weighted() {
    for (std::size_t row = 0; row < target_.rows; ++row) {
      poll(16 * pairs_);
      const std::size_t group = group_of(row);
      const double weight = load<double>(weights_->at(row));
      if (group >= groups_ || weight == 0) continue;
      read_row(row);
      for (std::size_t i = 0; i < width_; ++i) {
        if (row_[i] == 0) continue;
        result_.totals.add_product(group * width_ + i, weight, row_[i]);
        for (std::size_t j = i; j < width_; ++j)
          result_.products.add_product(cell(group, i, j), weight, row_[i], row_[j]);
      }
    }
  }

  void add_blocks() {
    const std::size_t most = std::min(std::clamp<std::size_t>(512 * groups_, 4096, kMostBlock), target_.rows);
    ClassOrder order(groups_, most);
    rows_at_once_ = std::clamp<std::size_t>(kPieces / width_ / kPad * kPad, 64, kMostRows);
    values_.resize(4 * rows_at_once_);
    pieces_.resize(3 * rows_at_once_ * width_);
    rest_.resize(rows_at_once_ * width_);
    exponents_.resize(width_);
    has_rest_.resize(width_);
    for (std::size_t begin = 0; begin < target_.rows; begin += most) {
      order.sort(target_, begin, std::min(most, target_.rows - begin));
      for (const Run& run : order.runs())
        for (std::size_t first = 0; first < run.count; first += rows_at_once_)
          add_run(run.label, begin, order.order() + run.begin + first, std::min(rows_at_once_, run.count - first));
    }
  }

  void add_run(std::size_t group, std::size_t begin, const std::uint32_t* rows, std::size_t count) {
    poll(count * pairs_);
    if (count >= kShort && split(begin, rows, count)) {
      add_pieces(group, count);
      add_rests(group, begin, rows, count);
      return;
    }
    for (std::size_t k = 0; k < count; ++k) {
      read_row(begin + rows[k]);
      for (std::size_t i = 0; i < width_; ++i) {
        if (row_[i] == 0) continue;
        result_.totals.add(group * width_ + i, row_[i]);
        for (std::size_t j = i; j < width_; ++j) result_.products.add_product(cell(group, i, j), row_[i], row_[j]);
      }
    }
  }

  // Splits all columns of the run; false where the values of one are too large or too small for that.
  bool split(std::size_t begin, const std::uint32_t* rows, std::size_t count) {
    const std::size_t whole = padded(count);
    sums_.clear();
    const auto column_at = [this](std::size_t j) -> const Column& { return columns_[j]; };
    for (std::size_t j = 0; j < width_;) {
      std::size_t read = 1;
      if (four_side_by_side(j, width_, Kind::float64, column_at)) {
        double* const at = values_.data();
        void* const out[4] = {at, at + rows_at_once_, at + 2 * rows_at_once_, at + 3 * rows_at_once_};
        plain_.gather_four(columns_[j].at(begin), columns_[j].stride, rows, count, out);
        read = 4;
      } else {
        gather(columns_[j], begin, rows, count, values_.data());
      }
      for (std::size_t k = 0; k < read; ++k, ++j)
        if (!split_column(j, values_.data() + k * rows_at_once_, count, whole)) return false;
    }
    return true;
  }

  bool split_column(std::size_t j, double* values, std::size_t count, std::size_t whole) {
    std::fill(values + count, values + whole, 0.0);
    const RunScan found = plain_.scan(values, whole);
    if (found.has_nan)
      for (std::size_t i = 0; i < count; ++i) values[i] = values[i] == values[i] ? values[i] : 0.0;
    if (std::isinf(found.largest)) refuse_infinite();
    exponents_[j] = found.largest > 0 ? std::ilogb(found.largest) + 1 : 0;
    if (exponents_[j] < kLeastExponent || exponents_[j] > kMostExponent) return false;
    sums_.push_back(kernels_.split_three(values, whole, exponents_[j], pieces_.data() + 3 * j * rows_at_once_,
                                         rows_at_once_, rest_.data() + j * rows_at_once_));
    has_rest_[j] = sums_.back().has_rest;
    return true;
  }

  static void gather(const Column& column, std::size_t begin, const std::uint32_t* rows, std::size_t count, double* out) {
    const char* base = column.at(begin);
    with_type(column.kind, [&]<class T>() {
      for (std::size_t i = 0; i < count; ++i)
        out[i] = static_cast<double>(load<T>(base + static_cast<std::int64_t>(rows[i]) * column.stride));
    });
  }

  void add_pieces(std::size_t group, std::size_t count) {
    const std::size_t whole = padded(count), step = 3 * rows_at_once_;
    double sums[2 * kProductSums];
    for (std::size_t i = 0; i < width_; ++i) {
      const double total[3] = {sums_[i].first, sums_[i].second, sums_[i].third};
      result_.totals.add_integer(group * width_ + i, joined(total[0], total[1], total[2]), exponents_[i] - 63);
      const double* one = pieces_.data() + i * step;
      for (std::size_t j = i; j < width_;) {
        const std::size_t together = std::min<std::size_t>(2, width_ - j);
        kernels_.cross(one, pieces_.data() + j * step, together, rows_at_once_, whole, sums);
        for (std::size_t k = 0; k < together; ++k, ++j) {
          const double* s = sums + k * kProductSums;
          const int exponent = exponents_[i] + exponents_[j];
          result_.products.add_integer(cell(group, i, j), joined(s[0], s[1], s[2]), exponent - 84);
          result_.products.add_integer(cell(group, i, j), joined(0, s[3], s[4]), exponent - 126);
        }
      }
    }
  }

  static int128 joined(double first, double second, double third) {
    const int128 unit = 1;
    return static_cast<std::int64_t>(first) * (unit << 42) + static_cast<std::int64_t>(second) * (unit << 21) +
           static_cast<std::int64_t>(third);
  }

  // x_i x_j = m_i m_j + r_i x_j + m_i r_j for x = m + r: the pieces gave m_i m_j, here is the other part.
  void add_rests(std::size_t group, std::size_t begin, const std::uint32_t* rows, std::size_t count) {
    if (std::none_of(has_rest_.begin(), has_rest_.end(), [](std::uint8_t some) { return some != 0; })) return;
    marked_.assign(count, 0);
    for (std::size_t j = 0; j < width_; ++j) {
      if (has_rest_[j] == 0) continue;
      const double* rest = rest_.data() + j * rows_at_once_;
      for (std::size_t k = 0; k < count; ++k) marked_[k] |= rest[k] != 0;
    }
    for (std::size_t k = 0; k < count; ++k)
      if (marked_[k] != 0) add_rest_of_row(group, begin + rows[k], k);
  }

  void add_rest_of_row(std::size_t group, std::size_t row, std::size_t k) {
    read_row(row);
    for (std::size_t i = 0; i < width_; ++i) {
      const double rest_i = rest_[i * rows_at_once_ + k];
      if (rest_i == 0) continue;
      result_.totals.add(group * width_ + i, rest_i);
      for (std::size_t j = 0; j < width_; ++j) {
        const double rest_j = rest_[j * rows_at_once_ + k];
        // For i < j this is r_i x_j, for i > j the part m_j r_i of the pair (j, i), and for i = j both.
        result_.products.add_product(cell(group, std::min(i, j), std::max(i, j)), rest_i,
                                     i <= j ? row_[j] : row_[j] - rest_j);
        if (i == j) result_.products.add_product(cell(group, i, i), rest_i, row_[i] - rest_i);
      }
    }
  }

  std::size_t group_of(std::size_t row) const {
    return static_cast<std::uint32_t>(load<std::int32_t>(target_.at(row)));
  }

  std::size_t cell(std::size_t group, std::size_t i, std::size_t j) const {
    return group * pairs_ + pair_place(i, j, width_);
  }

  void read_row(std::size_t row) {
    for (std::size_t j = 0; j < width_; ++j) {
      const double value = value_at(columns_[j], row);
      if (std::isinf(value)) refuse_infinite();
      row_[j] = value == value ? value : 0.0;
    }
  }

  // The same report whatever the order: the first row of the first column that has any.
  [[noreturn]] void refuse_infinite() const {
    for (std::size_t j = 0; j < width_; ++j)
      for (std::size_t row = 0; row < target_.rows; ++row)
        if (std::isinf(value_at(columns_[j], row)) && group_of(row) < groups_ &&
            (weights_ == nullptr || load<double>(weights_->at(row)) != 0))
          throw InfiniteValue{j, row};
    throw InfiniteValue{0, 0};  // the data changed under our hands
  }

  const std::vector<Column>& columns_;
  const Column& target_;
  std::size_t groups_;
  const Column* weights_;
  std::size_t width_, pairs_;
  CoMoments result_;
  const Kernels& plain_ = kernels();
  const JointKernels& kernels_ = joint_kernels();
  std::size_t rows_at_once_ = 0;
  std::vector<double> row_, values_, pieces_, rest_;
  std::vector<ThreePieces> sums_;
  std::vector<int> exponents_;
  std::vector<std::uint8_t> has_rest_, marked_;
};

inline CoMoments comoments(const std::vector<Column>& columns, const Column& target, std::size_t groups,
                           const Column* weights) {
  return CoMomentSums(columns, target, groups, weights).sum();
}

}  // namespace bayesbox
