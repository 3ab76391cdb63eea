// Class x level counts.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "column.hpp"
#include "exact_array.hpp"

namespace bayesbox {

// An integer of any type as int64 in the same order: uint64 is shifted by 2^63, the others are as they are.
template <class T>
inline std::int64_t ordered(T value) {
  if constexpr (sizeof(T) == 8 && !std::is_signed_v<T>)
    return static_cast<std::int64_t>(value ^ (std::uint64_t{1} << 63));
  else
    return static_cast<std::int64_t>(value);
}

// A code as an offset: negative codes become huge and so fall outside every [0, size).
template <class T>
inline std::uint64_t as_offset(T code) {
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(code));
}

inline std::vector<std::int64_t> count_codes(const Column& column, std::size_t size, const Column& target, std::size_t classes) {
  std::vector<std::int64_t> counts(classes * size);
  with_integer_type(column.kind, [&]<class T>() {
    for (std::size_t row = 0; row < target.rows; ++row) {
      const auto label = as_offset(load<std::int32_t>(target.at(row)));
      const auto code = as_offset(load<T>(column.at(row)));
      if (label < classes && code < size) ++counts[label * size + code];
    }
  });
  return counts;
}

inline ExactArray count_codes_weighted(const Column& column, std::size_t size, const Column& target, std::size_t classes,
                                       const Column& weights) {
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
  std::int64_t lowest = 0;  // in the order of `ordered`
  std::size_t width = 0;
  std::vector<std::int64_t> counts;  // classes x width
};

inline std::optional<IntegerCounts> count_integers(const Column& column, const Column& target, std::size_t classes,
                                                   std::uint64_t limit) {
  return with_integer_type(column.kind, [&]<class T>() -> std::optional<IntegerCounts> {
    std::int64_t lowest = INT64_MAX, highest = INT64_MIN;
    for (std::size_t row = 0; row < target.rows; ++row) {
      if (as_offset(load<std::int32_t>(target.at(row))) >= classes) continue;
      const std::int64_t value = ordered(load<T>(column.at(row)));
      lowest = std::min(lowest, value);
      highest = std::max(highest, value);
    }
    IntegerCounts result;
    if (lowest > highest) return result;
    const std::uint64_t last = static_cast<std::uint64_t>(highest) - static_cast<std::uint64_t>(lowest);
    if (last >= limit) return std::nullopt;
    result.lowest = lowest;
    result.width = last + 1;
    result.counts.assign(classes * result.width, 0);
    for (std::size_t row = 0; row < target.rows; ++row) {
      const auto label = as_offset(load<std::int32_t>(target.at(row)));
      if (label >= classes) continue;
      const std::int64_t value = ordered(load<T>(column.at(row)));
      ++result.counts[label * result.width + (static_cast<std::uint64_t>(value) - static_cast<std::uint64_t>(lowest))];
    }
    return result;
  });
}

}  // namespace bayesbox
