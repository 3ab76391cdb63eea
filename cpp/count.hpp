// Class x level counts of columns of codes and of integers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "column.hpp"
#include "exact_array.hpp"
#include "level_counter.hpp"

namespace bayesbox {

// Rows a block. Of a row-major matrix, one column of a block should stay in the first cache with its neighbours: each
// row brings a line of 64 bytes.
inline std::size_t counting_block(const std::vector<Column>& columns) {
  std::size_t stride = 1;
  for (const Column& column : columns) stride = std::max(stride, static_cast<std::size_t>(std::llabs(column.stride)));
  return std::clamp<std::size_t>(24576 / std::min<std::size_t>(stride, 64), 384, 4096);
}

// Rows [begin, begin + count) one after the other: the column itself where it lies so, else a copy in `buffer`.
template <class T>
const T* contiguous(const Column& column, std::size_t begin, std::size_t count, std::vector<std::uint64_t>& buffer) {
  const char* at = column.at(begin);
  if (column.stride == static_cast<std::int64_t>(sizeof(T)) && reinterpret_cast<std::uintptr_t>(at) % alignof(T) == 0)
    return reinterpret_cast<const T*>(at);
  buffer.resize((count * sizeof(T) + 7) / 8);
  char* to = reinterpret_cast<char*>(buffer.data());
  for (std::size_t i = 0; i < count; ++i, at += column.stride) std::memcpy(to + i * sizeof(T), at, sizeof(T));
  return reinterpret_cast<const T*>(buffer.data());
}

// For each column classes x size counts; a code outside [0, size) is missing.
inline std::vector<std::vector<std::int64_t>> count_codes(const std::vector<Column>& columns,
                                                          const std::vector<std::size_t>& sizes, const Column& target,
                                                          std::size_t classes) {
  std::vector<LevelCounter> counters;
  for (const std::size_t size : sizes) counters.emplace_back(classes).set_width(size);
  const std::size_t block = counting_block(columns);
  LabelBlock labels(classes, std::min(block, target.rows));
  std::vector<std::uint64_t> buffer;
  for (std::size_t begin = 0; begin < target.rows && classes > 0; begin += block) {
    const std::size_t count = std::min(block, target.rows - begin);
    labels.read(target, begin, count);
    for (std::size_t j = 0; j < columns.size(); ++j)
      with_integer_type(columns[j].kind, [&]<class T>() {
        counters[j].add<T>(contiguous<T>(columns[j], begin, count, buffer), 0, labels, false);
      });
  }
  std::vector<std::vector<std::int64_t>> result;
  for (LevelCounter& counter : counters) {
    counter.drain();
    result.push_back(std::move(counter.counts()));
  }
  return result;
}

// The same with a weight a row, summed exactly.
inline ExactArray count_codes_weighted(const Column& column, std::size_t size, const Column& target,
                                       std::size_t classes, const Column& weights) {
  ExactArray sums(classes * size);
  with_integer_type(column.kind, [&]<class T>() {
    for (std::size_t row = 0; row < target.rows; ++row) {
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
  IntegerCounter(Kind kind, std::size_t classes, std::uint64_t limit)
      : kind_(kind), classes_(classes), limit_(limit), counter_(classes) {}

  bool too_wide() const { return too_wide_; }

  void add(const Column& column, std::size_t begin, LabelBlock& labels, std::vector<std::uint64_t>& buffer) {
    if (too_wide_) return;
    with_integer_type(kind_, [&]<class T>() {
      const T* values = contiguous<T>(column, begin, labels.count(), buffer);
      if (counter_.width() != 0 && counter_.add<T>(values, static_cast<T>(lowest_), labels, true)) return;
      if (reach<T>(values, labels)) counter_.add<T>(values, static_cast<T>(lowest_), labels, false);
    });
  }

  std::optional<IntegerCounts> finish() {
    if (too_wide_) return std::nullopt;
    counter_.drain();
    IntegerCounts result;
    const auto [first, last] = seen();
    if (first > last) return result;
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
      too_wide_ = true;
      counter_.set_width(0);
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

  Kind kind_;
  std::size_t classes_;
  std::uint64_t limit_;
  LevelCounter counter_;
  int128 lowest_ = 0;
  bool too_wide_ = false;
};

// For each column its counts, or nothing where the range of values exceeds `limit`.
inline std::vector<std::optional<IntegerCounts>> count_integers(const std::vector<Column>& columns, const Column& target,
                                                                std::size_t classes, std::uint64_t limit) {
  std::vector<IntegerCounter> counters;
  for (const Column& column : columns) counters.emplace_back(column.kind, classes, limit);
  const std::size_t block = counting_block(columns);
  LabelBlock labels(classes, std::min(block, target.rows));
  std::vector<std::uint64_t> buffer;
  for (std::size_t begin = 0; begin < target.rows && classes > 0 && !columns.empty(); begin += block) {
    labels.read(target, begin, std::min(block, target.rows - begin));
    for (std::size_t j = 0; j < columns.size(); ++j) counters[j].add(columns[j], begin, labels, buffer);
  }
  std::vector<std::optional<IntegerCounts>> result;
  for (IntegerCounter& counter : counters) result.push_back(counter.finish());
  return result;
}

}  // namespace bayesbox
