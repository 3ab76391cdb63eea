// Class x column sums of a matrix in compressed sparse rows.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "core/column.hpp"
#include "core/exact_array.hpp"
#include "core/interrupt.hpp"
#include "table/level_counter.hpp"

namespace bayesbox {

class SparseSums {
 public:
  SparseSums(std::size_t width, std::size_t classes) : width_(width), classes_(classes), sums_(classes * width) {}

  ExactArray sum(const Column& starts, const Column& indices, const Column& data, const Column& target,
                 const Column* weights) {
    std::vector<std::int64_t> positions(kChunk);
    std::vector<double> values(kChunk);
    std::int64_t end = integer_at(starts, 0);
    if (end < 0) throw std::invalid_argument("indptr: negative");
    for (std::size_t row = 0; row < target.rows; ++row) {
      poll_at(row, 4);
      const std::int64_t begin = end;
      end = integer_at(starts, row + 1);
      if (end < begin) throw std::invalid_argument("indptr: not ascending");
      if (static_cast<std::uint64_t>(end) > indices.rows) throw std::invalid_argument("indptr: beyond the indices");
      const auto label = as_offset(load<std::int32_t>(target.at(row)));
      const double weight = weights != nullptr ? load<double>(weights->at(row)) : 1.0;
      // A chunk is checked whole, then added; a row left out is checked as well.
      for (auto at = static_cast<std::size_t>(begin); at < static_cast<std::size_t>(end); at += kChunk) {
        const std::size_t count = std::min(kChunk, static_cast<std::size_t>(end) - at);
        poll(4 * count);
        read_integers(indices, at, count, positions.data());
        read_doubles(data, at, count, values.data());
        check(positions.data(), values.data(), count);
        if (label < classes_) add(label * width_, positions.data(), values.data(), count, weight);
      }
    }
    drain();
    return std::move(sums_);
  }

 private:
  static constexpr std::size_t kChunk = 1024;
  // Word counts are small integers: below this they are summed in plain int64, which holds 2^31 of them.
  static constexpr double kSmall = 2147483648.0;
  static constexpr std::uint64_t kDrainAfter = std::uint64_t{1} << 31;

  static std::int64_t integer_at(const Column& column, std::size_t row) {
    std::int64_t value;
    read_integers(column, row, 1, &value);
    return value;
  }
  static void read_integers(const Column& column, std::size_t begin, std::size_t count, std::int64_t* out) {
    with_integer_type(column.kind, [&]<class T>() {
      const char* at = column.at(begin);
      for (std::size_t i = 0; i < count; ++i, at += column.stride) out[i] = static_cast<std::int64_t>(load<T>(at));
    });
  }

  void check(const std::int64_t* positions, const double* values, std::size_t count) const {
    for (std::size_t i = 0; i < count; ++i) {
      if (static_cast<std::uint64_t>(positions[i]) >= width_) throw std::invalid_argument("indices: outside the width");
      if (!std::isfinite(values[i])) throw std::invalid_argument("data: not finite");
    }
  }

  void add(std::size_t first, const std::int64_t* positions, const double* values, std::size_t count, double weight) {
    if (small_.empty()) small_.resize(classes_ * width_);
    if ((added_ += count) > kDrainAfter) {
      drain();
      added_ = count;
    }
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t cell = first + static_cast<std::size_t>(positions[i]);
      const bool small = std::fabs(values[i]) < kSmall;
      const auto whole = small ? static_cast<std::int64_t>(values[i]) : 0;
      if (small && weight == 1.0 && static_cast<double>(whole) == values[i])
        small_[cell] += whole;
      else
        sums_.add_product(cell, values[i], weight);
    }
  }

  void drain() {
    for (std::size_t cell = 0; cell < small_.size(); ++cell) {
      sums_.add_integer(cell, small_[cell]);
      small_[cell] = 0;
    }
  }

  std::size_t width_;
  std::size_t classes_;
  ExactArray sums_;
  std::vector<std::int64_t> small_;
  std::uint64_t added_ = 0;
};

inline ExactArray count_sparse(const Column& starts, const Column& indices, const Column& data, std::size_t width,
                               const Column& target, std::size_t classes, const Column* weights) {
  return SparseSums(width, classes).sum(starts, indices, data, target, weights);
}

}  // namespace bayesbox
