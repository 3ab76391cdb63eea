// Moments of adjacent columns of doubles in a row-major matrix, by class: the lanes of a vector are columns, so that nothing is
// transposed.
//
// Some columns at a time are copied in blocks of rows, sorted by class. A lane adds the pieces of its values, as
// core/block_sum.hpp does with those of one column, until it holds as many as it can.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/block_sum.hpp"
#include "core/column.hpp"
#include "core/interrupt.hpp"
#include "core/row_kernels.hpp"
#include "table/class_order.hpp"
#include "table/window_grids.hpp"

namespace bayesbox {

class MatrixMoments {
 public:
  // Where the sums of a column go.
  struct Result {
    ExactArray &n, &fractional, &total, &squares;
  };

  static constexpr std::size_t kLeastColumns = kPad;

  // The number of columns from `first` on that are adjacent in one matrix of doubles; 0 where they are fewer than a vector has.
  template <class ColumnAt>
  static std::size_t adjacent(std::size_t first, std::size_t columns, const ColumnAt& column_at) {
    const Column& own = column_at(first);
    constexpr auto kSize = static_cast<std::int64_t>(sizeof(double));
    if (own.kind != Kind::float64 || own.stride == kSize || own.stride % kSize != 0 ||
        reinterpret_cast<std::uintptr_t>(own.data) % sizeof(double) != 0)
      return 0;
    std::size_t found = 1;
    while (first + found < columns) {
      const Column& other = column_at(first + found);
      if (other.kind != own.kind || other.stride != own.stride || other.data != own.data + sizeof(double) * found) break;
      ++found;
    }
    return found < kLeastColumns ? 0 : found;
  }

  // Of `columns` columns, the first of which is given. There is at least one class. With `windows` the cells of the values are
  // added to those too.
  MatrixMoments(const Column& first, std::size_t columns, const Column& target, std::size_t classes, WindowGrids* windows = nullptr)
      : first_(first),
        columns_(columns),
        target_(target),
        classes_(classes),
        windows_(windows),
        is_wide_(is_wide(columns, classes)),
        vectors_(vectors_together(columns, classes)),
        most_rows_(rows_together()),
        order_(classes, std::min(most_rows_, target.rows)),
        place_(std::min(most_rows_, target.rows)),
        step_(order_.capacity() + 1),
        tile_(vectors_ * step_),
        sums_(vectors_ * classes),
        held_(vectors_ * classes),
        counts_(vectors_ * classes * kPad),
        groups_(vectors_),
        largest_((vectors_ + 1) * kPad),
        aside_(2 * kMostRowsSplit * kPad),
        summer_(~std::size_t{0}) {}

  // Adds the moments of column k to result_of(k). The first column with an infinite value that is counted is handed to
  // `refuse`, which throws.
  template <class ResultOf, class Refuse>
  void sum(const ResultOf& result_of, const Refuse& refuse) {
    for (std::size_t first = 0; first < columns_; first += vectors_ * kPad) {
      begin_group(first);
      for (std::size_t begin = 0; begin < target_.rows; begin += most_rows_) {
        const std::size_t rows = std::min(most_rows_, target_.rows - begin);
        poll(rows * used_ * kPad);
        sort(begin, rows);
        if (windows_ != nullptr && first == 0) windows_->begin_block(order_.runs());
        add_block(begin, rows, result_of, refuse);
      }
      for (std::size_t v = 0; v < used_; ++v) {
        finish(v, result_of);
        give_counts(v, result_of);
      }
    }
  }

 private:
  static constexpr std::size_t kLeastWide = 24, kMostWide = 64;  // vectors of columns summed together; at most a page of memory
  static constexpr std::size_t kWideRows = 32;                   // see is_wide
  static constexpr std::size_t kMostVectors = 16;                // otherwise
  static constexpr std::size_t kMostSums = 1400;                 // vectors x classes: their sums stay in the cache
  static constexpr std::size_t kLines = 4096;                    // vectors x rows in a block
  static constexpr std::size_t kRowsOfClass = 12;                // that a block should have: sums are loaded for several rows
  static constexpr std::size_t kLeastRows = 128, kMostRows = 4096;
  static constexpr int kLeastExponent = -300, kMostExponent = 480;  // as in block_sum.hpp
  static constexpr int kSlack = 2, kRoom = 1;  // a column is held for values up to twice as large as those seen first

  struct alignas(64) Line {
    double values[kPad];
  };

  // kPad adjacent columns. Of the last ones, the first few may have been in the vector before: those are skipped.
  struct Vector {
    std::size_t at = 0, skipped = 0;  // the first column
    bool is_held = false;
    int exponents[kPad]{};
    RowScale scale{};
  };
  struct Counts {
    std::int64_t n = 0, fractional = 0;
  };

  // Whether rows are so long, and classes so few, that blocks of few rows are read. The next block is fetched meanwhile, each row a
  // stream of its own: processors follow about so many streams, one to a page of memory, and run ahead of each.
  static bool is_wide(std::size_t columns, std::size_t classes) { return columns >= kLeastWide * kPad && classes <= 4; }

  static std::size_t vectors_together(std::size_t columns, std::size_t classes) {
    const std::size_t all = (columns + kPad - 1) / kPad;
    if (is_wide(columns, classes)) return std::min(all, kMostWide);
    return std::max<std::size_t>(std::min({all, kMostVectors, kMostSums / classes}), 1);
  }

  std::size_t rows_together() const {
    if (is_wide_) return kWideRows;
    return std::clamp(std::max(kLines / vectors_, kRowsOfClass * classes_), kLeastRows, kMostRows);
  }

  void begin_group(std::size_t first) {
    used_ = std::min(vectors_, (columns_ - first + kPad - 1) / kPad);
    for (std::size_t v = 0; v < used_; ++v) {
      groups_[v] = Vector{};
      groups_[v].at = std::min(first + v * kPad, columns_ - kPad);
      groups_[v].skipped = first + v * kPad - groups_[v].at;
    }
    std::fill(counts_.begin(), counts_.end(), Counts{});
  }

  const char* at(std::size_t row, std::size_t v) const { return first_.at(row) + sizeof(double) * groups_[v].at; }

  // Where the rows of a block are copied to; those of no class all to one place.
  void sort(std::size_t begin, std::size_t rows) {
    order_.sort(target_, begin, rows);
    std::fill_n(place_.begin(), rows, static_cast<std::uint32_t>(step_ - 1));
    for (const Run& run : order_.runs())
      for (std::size_t i = run.begin; i < run.begin + run.count; ++i) place_[order_.order()[i]] = static_cast<std::uint32_t>(i);
  }

  template <class ResultOf, class Refuse>
  void add_block(std::size_t begin, std::size_t rows, const ResultOf& result_of, const Refuse& refuse) {
    const std::size_t whole = used_ - (groups_[used_ - 1].skipped > 0 ? 1 : 0);
    bool missing = false;
    const auto copy = [&](std::size_t v, std::size_t vectors) {
      missing |= kernels_.copy(at(begin, v), first_.stride, rows, vectors, place_.data(), lines(v), step_, largest_.data() + v * kPad);
    };
    if (whole > 0) copy(0, whole);
    if (whole < used_) copy(whole, 1);
    const std::size_t next = begin + rows < target_.rows ? begin + rows : 0;
    for (std::size_t v = 0; v < used_; ++v) {
      if (windows_ != nullptr)
        for (const Run& run : order_.runs())
          windows_->add_lines(groups_[v].at, lines(v) + run.begin * kPad, run.count);
      if (!prepare(v, result_of)) {
        add_by_columns(v, result_of, refuse);
        continue;
      }
      std::size_t read = 0;  // rows of this vector
      for (const Run& run : order_.runs())
        for (std::size_t done = 0; done < run.count;) {
          std::size_t& held = held_[v * classes_ + run.label];
          if (held == kMostRowsSplit) finish(v, run.label, result_of);
          const std::size_t count = std::min(run.count - done, kMostRowsSplit - held);
          const double* const values = lines(v) + (run.begin + done) * kPad;
          const Ahead ahead = next_lines(next, rows, v, read);
          const std::size_t aside =
              kernels_.split(values, count, groups_[v].scale, missing, sums_[v * classes_ + run.label], aside_.data(), ahead);
          add_aside(v, values, run.label, aside, result_of);
          held += count;
          done += count;
          read += count;
        }
    }
  }

  // The part of the next block that is fetched while this row of a vector is worked on.
  Ahead next_lines(std::size_t next, std::size_t rows, std::size_t v, std::size_t row) const {
    const std::size_t group = next > 0 ? 0 : used_ * sizeof(Line);  // at the end, the first block of the columns behind
    if (is_wide_) return {at(next + row, v) + group, static_cast<std::size_t>(first_.stride)};
    const std::size_t line = v * rows + row;
    return {at(next + line / used_, 0) + group + line % used_ * sizeof(Line), sizeof(Line)};
  }

  double* lines(std::size_t v) { return tile_[v * step_].values; }

  // Whether the values of a block can be split; what is held of other sizes is brought to an end.
  template <class ResultOf>
  bool prepare(std::size_t v, const ResultOf& result_of) {
    Vector& vector = groups_[v];
    const double* largest = largest_.data() + v * kPad;
    int exponents[kPad];
    bool joins = vector.is_held;
    bool fits = true;
    for (std::size_t k = 0; k < kPad; ++k) {  // nothing branches on a value
      const int exponent = static_cast<int>(std::bit_cast<std::uint64_t>(largest[k]) >> 52) - 1022;  // of infinity 1025
      exponents[k] = largest[k] == 0 ? vector.exponents[k] : exponent;
      fits &= exponents[k] >= kLeastExponent && exponents[k] <= kMostExponent;
      joins &= exponents[k] <= vector.exponents[k] && exponents[k] >= vector.exponents[k] - kSlack;
    }
    if (!fits || joins) return fits;
    finish(v, result_of);
    vector.is_held = true;
    for (std::size_t k = 0; k < kPad; ++k) {
      const int exponent = vector.exponents[k] = std::min(exponents[k] + kRoom, kMostExponent);
      vector.scale.round1[k] = 1.5 * power(exponent + 31);
      vector.scale.round2[k] = 1.5 * power(exponent + 9);
      vector.scale.round3[k] = 1.5 * power(exponent - 13);
      vector.scale.large[k] = power(exponent - 13);
    }
    return true;
  }

  static double power(int exponent) { return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52); }

  template <class ResultOf>
  void add_aside(std::size_t v, const double* values, std::size_t label, std::size_t count, const ResultOf& result_of) {
    for (std::size_t i = 0; i < count; ++i)
      for (std::uint32_t columns = aside_[i].columns; columns != 0; columns &= columns - 1) {
        const auto k = static_cast<std::size_t>(std::countr_zero(columns));
        if (k < groups_[v].skipped) continue;
        const double value = values[aside_[i].row * kPad + k];
        const Result result = result_of(groups_[v].at + k);
        result.total.add(label, value);
        result.squares.add_product(label, value, value);
      }
  }

  // The columns of a vector one by one, where their values are of extreme sizes.
  template <class ResultOf, class Refuse>
  void add_by_columns(std::size_t v, const ResultOf& result_of, const Refuse& refuse) {
    gathered_.resize(order_.capacity() + kPad);
    for (std::size_t k = groups_[v].skipped; k < kPad; ++k) {
      const std::size_t column = groups_[v].at + k;
      const Result result = result_of(column);
      for (const Run& run : order_.runs()) {
        for (std::size_t i = 0; i < run.count; ++i) gathered_[i] = lines(v)[(run.begin + i) * kPad + k];
        const RunSummer::Counts found = summer_.add(gathered_.data(), run.count, {0, result.total, result.squares, run.label},
                                                    {reinterpret_cast<const char*>(gathered_.data()), 0});
        if (found.infinite) refuse(column);
        Counts& counts = counts_[(v * classes_ + run.label) * kPad + k];
        counts.n += found.n;
        counts.fractional += found.fractional;
      }
    }
  }

  template <class ResultOf>
  void finish(std::size_t v, const ResultOf& result_of) {
    for (std::size_t label = 0; label < classes_; ++label) finish(v, label, result_of);
  }

  // Adds what the lanes hold of a class to the exact sums.
  template <class ResultOf>
  void finish(std::size_t v, std::size_t label, const ResultOf& result_of) {
    std::size_t& held = held_[v * classes_ + label];
    if (held == 0) return;
    RowSums& sums = sums_[v * classes_ + label];
    for (std::size_t k = groups_[v].skipped; k < kPad; ++k) {
      const Result result = result_of(groups_[v].at + k);
      add_pieces(in_units(sums.pieces, k, groups_[v].exponents[k]), groups_[v].exponents[k], result.total, result.squares, label);
      Counts& counts = counts_[(v * classes_ + label) * kPad + k];
      counts.n += static_cast<std::int64_t>(held) - static_cast<std::int64_t>(sums.missing[k]);
      counts.fractional += static_cast<std::int64_t>(sums.fractional[k]);
    }
    sums = RowSums{};
    held = 0;
  }

  // The sums of one lane as integers.
  static PieceSums in_units(const PieceLanes& sums, std::size_t k, int exponent) {
    const double one = power(21 - exponent), two = power(43 - exponent), three = power(65 - exponent);
    const auto whole = [](double sum, double a, double b) { return static_cast<std::int64_t>(sum * a * b); };
    return {static_cast<std::int64_t>(sums.first[k] * one),
            static_cast<std::int64_t>(sums.rest[k] * three),
            whole(sums.first_first[k], one, one),
            whole(sums.first_second[k], one, two),
            whole(sums.first_third[k], one, three),
            whole(sums.second_second[k], two, two),
            whole(sums.second_third[k], two, three),
            whole(sums.third_third[k], three, three)};
  }

  template <class ResultOf>
  void give_counts(std::size_t v, const ResultOf& result_of) {
    for (std::size_t k = groups_[v].skipped; k < kPad; ++k) {
      const Result result = result_of(groups_[v].at + k);
      for (std::size_t label = 0; label < classes_; ++label) {
        const Counts& counts = counts_[(v * classes_ + label) * kPad + k];
        result.n.add_integer(label, counts.n);
        result.fractional.add_integer(label, counts.fractional);
      }
    }
  }

  const Column& first_;
  std::size_t columns_;
  const Column& target_;
  std::size_t classes_;
  WindowGrids* windows_;
  bool is_wide_;
  std::size_t vectors_, most_rows_;
  std::size_t used_ = 0;  // vectors of the columns that are summed now
  ClassOrder order_;
  std::vector<std::uint32_t> place_;  // of each row of a block among those that are copied
  std::size_t step_;                  // from vector to vector
  std::vector<Line> tile_;            // a block of rows, vector by vector
  std::vector<RowSums> sums_;         // of each vector and class
  std::vector<std::size_t> held_;     // the rows in them
  std::vector<Counts> counts_;        // of each vector, class and lane
  std::vector<Vector> groups_;
  std::vector<double> largest_;
  std::vector<RowAside> aside_;
  std::vector<double> gathered_;
  RunSummer summer_;  // which holds nothing
  const RowKernels& kernels_ = row_kernels();
};

}  // namespace bayesbox
