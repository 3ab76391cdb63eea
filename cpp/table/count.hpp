// Class x level counts of columns of codes and of integers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/column.hpp"
#include "core/exact_array.hpp"
#include "core/interrupt.hpp"
#include "core/kernels.hpp"
#include "table/column_blocks.hpp"
#include "table/level_counter.hpp"

namespace bayesbox {

// Rows a block. Of a row-major matrix a block should stay near while its columns are read: each row brings a line of 64
// bytes, which its neighbours share.
inline std::size_t counting_block(const std::vector<Column>& columns) {
  std::size_t stride = 1;
  for (const Column& column : columns) stride = std::max(stride, static_cast<std::size_t>(std::llabs(column.stride)));
  return std::clamp<std::size_t>(65536 / std::min<std::size_t>(stride, 64), 1024, 4096);
}

// The rows of each class; a label outside [0, classes) is missing.
inline std::vector<std::int64_t> count_labels(const Column& target, std::size_t classes) {
  constexpr std::size_t kFewClasses = 8;  // each compared with a vector of labels at a time
  constexpr std::size_t kCopies = 4;      // of more, so that equal neighbours do not wait for each other's store
  constexpr std::size_t kBlock = 4096;
  std::vector<std::int64_t> counts((classes + 1) * kCopies);
  std::vector<std::int32_t> copy(std::min(kBlock, target.rows));
  for (std::size_t begin = 0; begin < target.rows; begin += kBlock) {
    const std::size_t count = std::min(kBlock, target.rows - begin);
    const std::int32_t* labels = labels_at(target, begin, count, copy.data());
    poll(count);
    if (classes > kFewClasses) {
      for (std::size_t i = 0; i < count; ++i) ++counts[std::min<std::size_t>(static_cast<std::uint32_t>(labels[i]), classes) * kCopies + i % kCopies];
      continue;
    }
    for (std::size_t label = 0; label < classes; ++label) {
      std::uint32_t found = 0;
      for (std::size_t i = 0; i < count; ++i) found += labels[i] == static_cast<std::int32_t>(label);
      counts[label * kCopies] += found;
    }
  }
  for (std::size_t label = 0; label < classes; ++label)
    counts[label] = std::accumulate(&counts[label * kCopies], &counts[label * kCopies] + kCopies, std::int64_t{0});
  counts.resize(classes);
  return counts;
}

// For each column classes x size counts; a code outside [0, size) is missing.
inline std::vector<std::vector<std::int64_t>> count_codes(const std::vector<Column>& columns,
                                                          const std::vector<std::size_t>& sizes, const Column& target,
                                                          std::size_t classes) {
  std::vector<LevelCounter> counters;
  for (const std::size_t size : sizes) counters.emplace_back(classes).set_width(size);
  const std::size_t block = std::min(counting_block(columns), std::max<std::size_t>(target.rows, 1));
  LabelBlock labels(classes, block);
  ColumnBlocks blocks(columns, block);
  for (std::size_t begin = 0; begin < target.rows && classes > 0 && !columns.empty(); begin += block) {
    const std::size_t count = std::min(block, target.rows - begin);
    poll(count * columns.size());
    labels.read(target, begin, count);
    blocks.each(begin, count, [&]<class T>(std::size_t j, const T* values) {
      if constexpr (std::is_integral_v<T>) counters[j].add<T>(values, 0, labels, false);
    });
  }
  std::vector<std::vector<std::int64_t>> result;
  for (LevelCounter& counter : counters) {
    counter.drain();
    result.push_back(std::move(counter.counts()));
  }
  return result;
}

// The same with one weight per row, summed exactly.
inline ExactArray count_codes_weighted(const Column& column, std::size_t size, const Column& target,
                                       std::size_t classes, const Column& weights) {
  ExactArray sums(classes * size);
  with_integer_type(column.kind, [&]<class T>() {
    for (std::size_t row = 0; row < target.rows; ++row) {
      poll_at(row, 8);
      const auto label = as_offset(load<std::int32_t>(target.at(row)));
      const auto code = as_offset(load<T>(column.at(row)));
      if (label < classes && code < size) sums.add(label * size + code, load<double>(weights.at(row)));
    }
  });
  return sums;
}

struct IntegerCounts {
  int128 lowest = 0;
  std::size_t width = 0;
  std::vector<std::int64_t> counts;  // classes x width
};

// Class x value counts of one integer column whose range is found on the way.
class IntegerCounter {
 public:
  IntegerCounter(std::size_t classes, std::uint64_t limit) : classes_(classes), limit_(limit), counter_(classes) {}

  template <class T>
  void add(const T* values, LabelBlock& labels) {
    if (given_up_) return;
    const int128 least = std::numeric_limits<T>::min(), most = std::numeric_limits<T>::max();
    if (lowest_ < least || lowest_ > most) {  // other blocks of the column have a wider type
      wide_.assign(values, values + labels.count());
      add<std::int64_t>(wide_.data(), labels);
      return;
    }
    if (counter_.width() != 0 && counter_.add<T>(values, static_cast<T>(lowest_), labels, true)) return;
    if (reach<T>(values, labels)) counter_.add<T>(values, static_cast<T>(lowest_), labels, false);
  }

  void give_up() {
    given_up_ = true;
    counter_.set_width(0);
  }

  std::optional<IntegerCounts> finish() {
    if (given_up_) return std::nullopt;
    counter_.drain();
    IntegerCounts result;
    const auto [first, last] = seen();
    if (first > last) return result;
    if (last - first >= limit_) return std::nullopt;  // a window with room to spare may hold more than the limit
    result.lowest = lowest_ + static_cast<int128>(first);
    result.width = last - first + 1;
    result.counts.reserve(classes_ * result.width);
    for (std::size_t label = 0; label < classes_; ++label) {
      const auto row = counter_.counts().begin() + static_cast<std::ptrdiff_t>(label * counter_.width());
      result.counts.insert(result.counts.end(), row + static_cast<std::ptrdiff_t>(first), row + static_cast<std::ptrdiff_t>(last) + 1);
    }
    return result;
  }

 private:
  // The first and the last level of the window that occur; first > last where none does.
  std::pair<std::size_t, std::size_t> seen() {
    const std::size_t width = counter_.width();
    std::size_t first = std::numeric_limits<std::size_t>::max(), last = 0;
    for (std::size_t label = 0; label < classes_; ++label)
      for (std::size_t level = 0; level < width; ++level)
        if (counter_.counts()[label * width + level] != 0) {
          first = std::min(first, level);
          last = std::max(last, level);
        }
    return {first, last};
  }

  // Makes the window hold the block's values; false where it holds none, or the range is too wide.
  template <class T>
  bool reach(const T* values, const LabelBlock& labels) {
    T least = std::numeric_limits<T>::max(), most = std::numeric_limits<T>::min();
    bool any = false;
    for (std::size_t i = 0; i < labels.count(); ++i)
      if (labels.kept(i)) {
        any = true;
        least = std::min(least, values[i]);
        most = std::max(most, values[i]);
      }
    if (!any) return false;
    int128 low = least, high = most;
    counter_.drain();
    const auto [first, last] = seen();
    if (first <= last) {
      low = std::min(low, lowest_ + static_cast<int128>(first));
      high = std::max(high, lowest_ + static_cast<int128>(last));
    }
    if (high - low >= static_cast<int128>(limit_)) {
      give_up();
      return false;
    }
    if (counter_.width() == 0) {
      lowest_ = low;
      counter_.set_width(static_cast<std::size_t>(high - low + 1));
      return true;
    }
    // Half as much again on the side that grew, so that slowly growing ranges are not moved at every block.
    const int128 window_high = lowest_ + static_cast<int128>(counter_.width()) - 1;
    const int128 slack = static_cast<int128>(counter_.width() / 2);
    const int128 new_low = low < lowest_ ? std::max<int128>(low - slack, std::numeric_limits<T>::min()) : lowest_;
    const int128 new_high = high > window_high ? std::min<int128>(high + slack, std::numeric_limits<T>::max()) : window_high;
    counter_.widen(static_cast<std::size_t>(lowest_ - new_low), static_cast<std::size_t>(new_high - window_high));
    lowest_ = new_low;
    return true;
  }

  std::size_t classes_;
  std::uint64_t limit_;
  LevelCounter counter_;
  int128 lowest_ = 0;
  std::vector<std::int64_t> wide_;
  bool given_up_ = false;
};

// For each column of integers or doubles its counts, or nothing where the range of values exceeds `limit` or a double
// is no whole number; NaN is missing.
inline std::vector<std::optional<IntegerCounts>> count_integers(const std::vector<Column>& columns, const Column& target,
                                                                std::size_t classes, std::uint64_t limit) {
  std::vector<IntegerCounter> counters;
  counters.reserve(columns.size());
  for (std::size_t j = 0; j < columns.size(); ++j) counters.emplace_back(classes, limit);
  const std::size_t block = std::min(counting_block(columns), std::max<std::size_t>(target.rows, 1));
  LabelBlock labels(classes, block);
  LabelBlock observed(classes, block);
  std::vector<double> wide;
  std::vector<std::int64_t> whole(block);
  ColumnBlocks blocks(columns, block);
  for (std::size_t begin = 0; begin < target.rows && classes > 0 && !columns.empty(); begin += block) {
    const std::size_t count = std::min(block, target.rows - begin);
    poll(count * columns.size());
    labels.read(target, begin, count);
    blocks.each(begin, count, [&]<class T>(std::size_t j, const T* values) {
      if constexpr (std::is_integral_v<T>) {
        counters[j].add<T>(values, labels);
      } else {
        wide.assign(values, values + count);
        const WholeNumbers found = table_kernels().whole_numbers(wide.data(), count, whole.data());
        if (found.has_nan) observed.read_where(labels, [&](std::size_t i) { return values[i] == values[i]; });
        if (found.all) counters[j].add<std::int64_t>(whole.data(), found.has_nan ? observed : labels);
        else counters[j].give_up();
      }
    });
  }
  std::vector<std::optional<IntegerCounts>> result;
  for (IntegerCounter& counter : counters) result.push_back(counter.finish());
  return result;
}

}  // namespace bayesbox
