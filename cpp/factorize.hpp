// The distinct values of an integer column, sorted, and each row's position among them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "column.hpp"

namespace bayesbox {

// Distinct values in the order in which they come, found by open addressing.
class DistinctValues {
 public:
  DistinctValues() : slots_(1024, kEmpty) {}

  std::int32_t position(std::int64_t value) {
    std::size_t slot = start(value);
    while (slots_[slot] != kEmpty) {
      if (values_[static_cast<std::size_t>(slots_[slot])] == value) return slots_[slot];
      slot = (slot + 1) & (slots_.size() - 1);
    }
    if (values_.size() == static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))
      throw std::overflow_error("factorize: too many distinct values");
    const auto position = static_cast<std::int32_t>(values_.size());
    values_.push_back(value);
    slots_[slot] = position;
    if (2 * values_.size() > slots_.size()) grow();
    return position;
  }
  std::vector<std::int64_t>& values() { return values_; }

 private:
  static constexpr std::int32_t kEmpty = -1;

  // The high half of the product with 2^64 / golden ratio spreads runs and multiples alike.
  std::size_t start(std::int64_t value) const {
    const std::uint64_t mixed = static_cast<std::uint64_t>(value) * 0x9E3779B97F4A7C15ULL;
    return (mixed ^ (mixed >> 32)) & (slots_.size() - 1);
  }
  void grow() {
    std::fill(slots_.begin(), slots_.end(), kEmpty);
    slots_.resize(2 * slots_.size(), kEmpty);
    for (std::size_t i = 0; i < values_.size(); ++i) {
      std::size_t slot = start(values_[i]);
      while (slots_[slot] != kEmpty) slot = (slot + 1) & (slots_.size() - 1);
      slots_[slot] = static_cast<std::int32_t>(i);
    }
  }

  std::vector<std::int32_t> slots_;
  std::vector<std::int64_t> values_;
};

// Few possible values: mark those that occur.
template <class T>
std::vector<std::int64_t> factorize_by_table(const Column& column, std::int64_t least, std::size_t width, std::int32_t* codes) {
  std::vector<std::int32_t> code_of(width, 0);
  const auto place = [&](std::size_t row) {
    return static_cast<std::size_t>(static_cast<std::uint64_t>(load<T>(column.at(row))) - static_cast<std::uint64_t>(least));
  };
  for (std::size_t row = 0; row < column.rows; ++row) code_of[place(row)] = 1;
  std::vector<std::int64_t> distinct;
  for (std::size_t i = 0; i < width; ++i)
    if (code_of[i] != 0) {
      code_of[i] = static_cast<std::int32_t>(distinct.size());
      distinct.push_back(static_cast<std::int64_t>(static_cast<std::uint64_t>(least) + i));
    }
  for (std::size_t row = 0; row < column.rows; ++row) codes[row] = code_of[place(row)];
  return distinct;
}

template <class T>
std::vector<std::int64_t> factorize_by_hash(const Column& column, std::int32_t* codes) {
  DistinctValues found;
  for (std::size_t row = 0; row < column.rows; ++row)
    codes[row] = found.position(static_cast<std::int64_t>(load<T>(column.at(row))));
  std::vector<std::int64_t>& values = found.values();
  std::vector<std::int32_t> order(values.size()), rank(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) { return values[a] < values[b]; });
  std::vector<std::int64_t> distinct(values.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    rank[order[i]] = static_cast<std::int32_t>(i);
    distinct[i] = values[order[i]];
  }
  for (std::size_t row = 0; row < column.rows; ++row) codes[row] = rank[codes[row]];
  return distinct;
}

// Throws std::overflow_error where a value does not fit in int64.
inline std::vector<std::int64_t> factorize(const Column& column, std::int32_t* codes) {
  return with_integer_type(column.kind, [&]<class T>() -> std::vector<std::int64_t> {
    if (column.rows == 0) return {};
    T least = std::numeric_limits<T>::max(), most = std::numeric_limits<T>::min();
    for (std::size_t row = 0; row < column.rows; ++row) {
      const T value = load<T>(column.at(row));
      least = std::min(least, value);
      most = std::max(most, value);
    }
    if constexpr (std::is_same_v<T, std::uint64_t>)
      if (most > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
        throw std::overflow_error("factorize: a value does not fit in 64 bits with its sign");
    const auto low = static_cast<std::int64_t>(least);
    const std::uint64_t last = static_cast<std::uint64_t>(static_cast<std::int64_t>(most)) - static_cast<std::uint64_t>(low);
    if (last < std::min<std::uint64_t>(std::max<std::uint64_t>(65536, 2 * column.rows), 1 << 26))
      return factorize_by_table<T>(column, low, static_cast<std::size_t>(last) + 1, codes);
    return factorize_by_hash<T>(column, codes);
  });
}

}  // namespace bayesbox
