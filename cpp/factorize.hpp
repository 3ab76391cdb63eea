// The distinct values of an integer column, sorted, and each row's position among them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "column.hpp"

namespace bayesbox {

inline std::vector<std::int64_t> factorize(const Column& column, std::int32_t* codes) {
  return with_integer_type(column.kind, [&]<class T>() {
    std::vector<std::int64_t> values(column.rows);
    for (std::size_t row = 0; row < column.rows; ++row) {
      const T value = load<T>(column.at(row));
      if (sizeof(T) == 8 && !std::is_signed_v<T> && value > static_cast<T>(INT64_MAX))
        throw std::overflow_error("a value does not fit in 64 bits with sign");
      values[row] = static_cast<std::int64_t>(value);
    }
    std::vector<std::int64_t> distinct = values;
    std::sort(distinct.begin(), distinct.end());
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    if (distinct.size() > static_cast<std::size_t>(INT32_MAX)) throw std::overflow_error("too many distinct values");
    for (std::size_t row = 0; row < column.rows; ++row)
      codes[row] = static_cast<std::int32_t>(
          std::lower_bound(distinct.begin(), distinct.end(), values[row]) - distinct.begin());
    return distinct;
  });
}

}  // namespace bayesbox
