// Class x level counts of columns of codes and of integers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "column.hpp"
#include "exact_array.hpp"
#include "kernels.hpp"
#include "level_counter.hpp"

namespace bayesbox {

// Rows a block. Of a row-major matrix a block should stay near while its columns are read: each row brings a line of 64
// bytes, which its neighbours share.
inline std::size_t counting_block(const std::vector<Column>& columns) {
  std::size_t stride = 1;
  for (const Column& column : columns) stride = std::max(stride, static_cast<std::size_t>(std::llabs(column.stride)));
  return std::clamp<std::size_t>(65536 / std::min<std::size_t>(stride, 64), 1024, 4096);
}

// Blocks of rows of integer columns, each column's values one after the other.
class IntegerBlocks {
 public:
  IntegerBlocks(const std::vector<Column>& columns, std::size_t most_rows) : columns_(columns) {
    for (std::vector<std::uint64_t>& buffer : buffers_) buffer.resize(most_rows);
  }

  // Calls use.operator()<T>(j, values) for each column j with its rows [begin, begin + count).
  template <class Use>
  void each(std::size_t begin, std::size_t count, const Use& use) {
    const auto column_at = [this](std::size_t j) -> const Column& { return columns_[j]; };
    for (std::size_t j = 0; j < columns_.size();) {
      const Column& column = columns_[j];
      const std::size_t first = j;
      const bool wide = column.kind == Kind::int64 || column.kind == Kind::uint64;
      if (wide && four_side_by_side(first, columns_.size(), column.kind, column_at)) {
        void* const out[4] = {buffers_[0].data(), buffers_[1].data(), buffers_[2].data(), buffers_[3].data()};
        kernels_.gather_four(column.at(begin), column.stride, nullptr, count, out);
        j += 4;
      } else {
        ++j;
      }
      for (std::size_t k = first; k < j; ++k)
        with_integer_type(column.kind, [&]<class T>() {
          const void* values = buffers_[k - first].data();
          if (j == first + 1) values = contiguous<T>(column, begin, count);
          use.template operator()<T>(k, static_cast<const T*>(values));
        });
    }
  }

 private:
  // The column itself where it lies so, else a copy.
  template <class T>
  const void* contiguous(const Column& column, std::size_t begin, std::size_t count) {
    const char* at = column.at(begin);
    if (column.stride == static_cast<std::int64_t>(sizeof(T)) && reinterpret_cast<std::uintptr_t>(at) % alignof(T) == 0)
      return at;
    char* to = reinterpret_cast<char*>(buffers_[0].data());
    for (std::size_t i = 0; i < count; ++i, at += column.stride) std::memcpy(to + i * sizeof(T), at, sizeof(T));
    return to;
  }

  const std::vector<Column>& columns_;
  const Kernels& kernels_ = kernels();
  std::vector<std::uint64_t> buffers_[4];
};

// The rows of each class; a label outside [0, classes) is missing.
inline std::vector<std::int64_t> count_labels(const Column& target, std::size_t classes) {
  constexpr std::size_t kCopies = 4;  // so that equal neighbours do not wait for each other's store
  std::vector<std::int64_t> counts((classes + 1) * kCopies);
  for (std::size_t row = 0; row < target.rows; ++row) {
    const auto label = static_cast<std::uint32_t>(load<std::int32_t>(target.at(row)));
    ++counts[(label < classes ? label : classes) * kCopies + row % kCopies];
  }
  for (std::size_t label = 0; label < classes; ++label)
    counts[label] = counts[label * kCopies] + counts[label * kCopies + 1] + counts[label * kCopies + 2] + counts[label * kCopies + 3];
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
  IntegerBlocks blocks(columns, block);
  for (std::size_t begin = 0; begin < target.rows && classes > 0; begin += block) {
    const std::size_t count = std::min(block, target.rows - begin);
    labels.read(target, begin, count);
    blocks.each(begin, count, [&]<class T>(std::size_t j, const T* values) { counters[j].add<T>(values, 0, labels, false); });
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
  IntegerCounter(std::size_t classes, std::uint64_t limit) : classes_(classes), limit_(limit), counter_(classes) {}

  template <class T>
  void add(const T* values, LabelBlock& labels) {
    if (too_wide_) return;
    if (counter_.width() != 0 && counter_.add<T>(values, static_cast<T>(lowest_), labels, true)) return;
    if (reach<T>(values, labels)) counter_.add<T>(values, static_cast<T>(lowest_), labels, false);
  }

  std::optional<IntegerCounts> finish() {
    if (too_wide_) return std::nullopt;
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
  counters.reserve(columns.size());
  for (std::size_t j = 0; j < columns.size(); ++j) counters.emplace_back(classes, limit);
  const std::size_t block = std::min(counting_block(columns), std::max<std::size_t>(target.rows, 1));
  LabelBlock labels(classes, block);
  IntegerBlocks blocks(columns, block);
  for (std::size_t begin = 0; begin < target.rows && classes > 0 && !columns.empty(); begin += block) {
    const std::size_t count = std::min(block, target.rows - begin);
    labels.read(target, begin, count);
    blocks.each(begin, count, [&]<class T>(std::size_t j, const T* values) { counters[j].add<T>(values, labels); });
  }
  std::vector<std::optional<IntegerCounts>> result;
  for (IntegerCounter& counter : counters) result.push_back(counter.finish());
  return result;
}

}  // namespace bayesbox
