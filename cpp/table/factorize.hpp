// The distinct values of an integer column, sorted, and each row's position among them.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/column.hpp"
#include "core/interrupt.hpp"
#include "core/table_kernels.hpp"

namespace bayesbox {

// Distinct values in order of appearance, found by open addressing.
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

  // The top of the product with 2^64 / golden ratio spreads runs and multiples alike, and doubles, whose lower bits
  // are mostly zero.
  std::size_t start(std::int64_t value) const {
    const std::uint64_t mixed = static_cast<std::uint64_t>(value) * 0x9E3779B97F4A7C15ULL;
    return static_cast<std::size_t>(mixed >> (64 - std::countr_zero(slots_.size())));
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

// A column with elements of this many bytes in the layout of the kernels.
inline bool is_dense(const Column& column, std::size_t bytes) {
  return column.stride == static_cast<std::int64_t>(bytes) && reinterpret_cast<std::uintptr_t>(column.data) % bytes == 0;
}

// Few possible values: those that occur are marked, until all of them are.
template <class T>
std::vector<std::int64_t> factorize_by_table(const Column& column, T least, std::size_t width, std::int32_t* codes) {
  using Unsigned = std::make_unsigned_t<T>;
  const auto place = [&](std::size_t row) {
    return static_cast<Unsigned>(static_cast<Unsigned>(load<T>(column.at(row))) - static_cast<Unsigned>(least));
  };
  std::vector<std::int32_t> code_of(width, 0);
  std::size_t marked = 0;
  for (std::size_t row = 0; row < column.rows && marked < width; ++row) {
    poll_at(row);
    std::int32_t& mark = code_of[place(row)];
    marked += mark == 0;
    mark = 1;
  }
  std::vector<std::int64_t> distinct;
  for (std::size_t i = 0; i < width; ++i)
    if (code_of[i] != 0) {
      code_of[i] = static_cast<std::int32_t>(distinct.size());
      distinct.push_back(static_cast<std::int64_t>(static_cast<std::uint64_t>(least) + i));
    }
  if (marked < width)
    for (std::size_t row = 0; row < column.rows; ++row) codes[row] = code_of[place(row)];
  else if (is_dense(column, sizeof(T)))
    table_kernels().levels_of[place_of(sizeof(T))](column.data, column.rows, {static_cast<std::uint64_t>(least), width - 1}, 0,
                                                   0, reinterpret_cast<std::uint32_t*>(codes));
  else
    for (std::size_t row = 0; row < column.rows; ++row) codes[row] = static_cast<std::int32_t>(place(row));
  return distinct;
}

inline std::vector<std::int64_t> factorize_by_hash(const std::vector<std::int64_t>& values, std::int32_t* codes) {
  DistinctValues found;
  for (std::size_t row = 0; row < values.size(); ++row) {
    poll_at(row, 8);
    codes[row] = found.position(values[row]);
  }
  std::vector<std::int64_t> distinct = found.values();
  std::sort(distinct.begin(), distinct.end());
  std::vector<std::int32_t> rank(distinct.size());
  for (std::size_t i = 0; i < distinct.size(); ++i)
    rank[static_cast<std::size_t>(found.position(distinct[i]))] = static_cast<std::int32_t>(i);
  for (std::size_t row = 0; row < values.size(); ++row) codes[row] = rank[static_cast<std::size_t>(codes[row])];
  return distinct;
}

template <class T>
std::pair<T, T> range_of(const Column& column) {
  if constexpr (std::is_same_v<T, std::int64_t>)
    if (is_dense(column, sizeof(T))) {
      std::pair<T, T> range;
      table_kernels().range(reinterpret_cast<const std::int64_t*>(column.data), column.rows, range.first, range.second);
      return range;
    }
  T least = std::numeric_limits<T>::max(), most = std::numeric_limits<T>::min();
  if (column.stride == static_cast<std::int64_t>(sizeof(T)))
    for (std::size_t row = 0; row < column.rows; ++row) {
      const T value = load<T>(column.data + row * sizeof(T));
      least = value < least ? value : least;
      most = value > most ? value : most;
    }
  else
    for (std::size_t row = 0; row < column.rows; ++row) {
      const T value = load<T>(column.at(row));
      least = value < least ? value : least;
      most = value > most ? value : most;
    }
  return {least, most};
}

// Throws std::overflow_error where a value does not fit in int64.
inline std::vector<std::int64_t> factorize(const Column& column, std::int32_t* codes) {
  if (column.rows == 0) return {};
  return with_integer_type(column.kind, [&]<class T>() {
    const auto [least, most] = range_of<T>(column);
    if (std::is_same_v<T, std::uint64_t> && static_cast<std::int64_t>(most) < 0)
      throw std::overflow_error("factorize: a value does not fit in 64 bits with its sign");
    const std::uint64_t last = static_cast<std::uint64_t>(most) - static_cast<std::uint64_t>(least);
    if (last < std::min<std::uint64_t>(std::max<std::uint64_t>(65536, 2 * column.rows), 1 << 26))
      return factorize_by_table<T>(column, least, static_cast<std::size_t>(last) + 1, codes);
    std::vector<std::int64_t> values(column.rows);
    for (std::size_t row = 0; row < column.rows; ++row) values[row] = static_cast<std::int64_t>(load<T>(column.at(row)));
    return factorize_by_hash(values, codes);
  });
}

// A double as an integer of the same order; -0.0 is 0.0.
inline std::int64_t ordered_bits(double value) {
  const auto bits = std::bit_cast<std::int64_t>(value == 0 ? 0.0 : value);
  return bits ^ ((bits >> 63) & std::numeric_limits<std::int64_t>::max());
}
inline double from_ordered_bits(std::int64_t bits) {
  return std::bit_cast<double>(bits ^ ((bits >> 63) & std::numeric_limits<std::int64_t>::max()));
}

// The distinct numbers of a column, ascending, and the position of each row's; -1 where it is NaN.
inline std::vector<double> factorize_doubles(const Column& column, std::int32_t* codes) {
  constexpr std::size_t kBlock = 4096;
  std::vector<double> block(kBlock);
  DistinctValues found;
  for (std::size_t first = 0; first < column.rows; first += kBlock) {
    const std::size_t count = std::min(kBlock, column.rows - first);
    poll(8 * count);
    read_doubles(column, first, count, block.data());
    for (std::size_t i = 0; i < count; ++i)
      codes[first + i] = std::isnan(block[i]) ? -1 : found.position(ordered_bits(block[i]));
  }
  std::vector<std::pair<std::int64_t, std::int32_t>> order;
  order.reserve(found.values().size());
  for (const std::int64_t value : found.values()) order.emplace_back(value, static_cast<std::int32_t>(order.size()));
  std::sort(order.begin(), order.end());
  std::vector<std::int32_t> rank(order.size());
  std::vector<double> distinct(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    rank[static_cast<std::size_t>(order[i].second)] = static_cast<std::int32_t>(i);
    distinct[i] = from_ordered_bits(order[i].first);
  }
  for (std::size_t row = 0; row < column.rows; ++row)
    if (codes[row] >= 0) codes[row] = rank[static_cast<std::size_t>(codes[row])];
  return distinct;
}

}  // namespace bayesbox
