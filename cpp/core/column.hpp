// A column of numbers in memory: any element type, any stride, no copy.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>

namespace bayesbox {

enum class Kind : std::uint8_t { int8, int16, int32, int64, uint8, uint16, uint32, uint64, float32, float64 };

inline bool is_floating(Kind kind) { return kind == Kind::float32 || kind == Kind::float64; }

inline std::size_t size_of(Kind kind) {
  switch (kind) {
    case Kind::int8: case Kind::uint8: return 1;
    case Kind::int16: case Kind::uint16: return 2;
    case Kind::int32: case Kind::uint32: case Kind::float32: return 4;
    default: return 8;
  }
}

struct Column {
  const char* data = nullptr;
  std::int64_t stride = 0;  // in bytes; may be zero or negative
  std::size_t rows = 0;
  Kind kind = Kind::float64;

  const char* at(std::size_t row) const { return data + static_cast<std::int64_t>(row) * stride; }
};

// Arrays may be misaligned (a view of a byte buffer), so every element is read through memcpy.
template <class T>
inline T load(const char* address) {
  T value;
  std::memcpy(&value, address, sizeof value);
  return value;
}

// Calls `function.template operator()<T>()` with the element type of `kind`.
template <class Function>
decltype(auto) with_integer_type(Kind kind, Function&& function) {
  switch (kind) {
    case Kind::int8: return function.template operator()<std::int8_t>();
    case Kind::int16: return function.template operator()<std::int16_t>();
    case Kind::int32: return function.template operator()<std::int32_t>();
    case Kind::int64: return function.template operator()<std::int64_t>();
    case Kind::uint8: return function.template operator()<std::uint8_t>();
    case Kind::uint16: return function.template operator()<std::uint16_t>();
    case Kind::uint32: return function.template operator()<std::uint32_t>();
    case Kind::uint64: return function.template operator()<std::uint64_t>();
    default: throw std::logic_error("an integer column was expected");
  }
}

template <class Function>
decltype(auto) with_floating_type(Kind kind, Function&& function) {
  if (kind == Kind::float32) return function.template operator()<float>();
  return function.template operator()<double>();
}

template <class Function>
decltype(auto) with_type(Kind kind, Function&& function) {
  if (kind == Kind::float64) return function.template operator()<double>();
  if (kind == Kind::float32) return function.template operator()<float>();
  return with_integer_type(kind, function);
}

inline double value_at(const Column& column, std::size_t row) {
  return with_type(column.kind, [&]<class T>() { return static_cast<double>(load<T>(column.at(row))); });
}

// Whether columns [first, first + 4) are neighbours in one row-major matrix of `kind`, whose elements have 8 bytes;
// `column_at(j)` is column j. Such columns are read together, a line of the cache for all of them.
template <class ColumnAt>
bool four_side_by_side(std::size_t first, std::size_t columns, Kind kind, const ColumnAt& column_at) {
  if (first + 4 > columns) return false;
  const Column& column = column_at(first);
  if (column.kind != kind || column.stride == 8) return false;
  for (std::size_t k = 1; k < 4; ++k) {
    const Column& other = column_at(first + k);
    if (other.kind != kind || other.stride != column.stride || other.data != column.data + 8 * k) return false;
  }
  return true;
}

// The first of four such columns of which column j is one, or `columns` where there are none: the last columns are read
// with some that have been read before.
template <class ColumnAt>
std::size_t four_around(std::size_t j, std::size_t columns, Kind kind, const ColumnAt& column_at) {
  if (columns < 4) return columns;
  const std::size_t first = std::min(j, columns - 4);
  return four_side_by_side(first, columns, kind, column_at) ? first : columns;
}

// Never inlined: inside a large caller the loop would not keep its variables in registers.
template <class T>
[[gnu::noinline]] void gather_as_doubles(const char* at, std::int64_t stride, const std::uint32_t* order, std::size_t count, double* out) {
  if (stride == static_cast<std::int64_t>(sizeof(T))) {
#pragma GCC unroll 4
    for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<double>(load<T>(at + order[i] * sizeof(T)));
  } else {
    for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<double>(load<T>(at + order[i] * stride));
  }
}

// out[i] = row begin + order[i] as a double.
inline void gather_doubles(const Column& column, std::size_t begin, const std::uint32_t* order, std::size_t count, double* out) {
  with_type(column.kind, [&]<class T>() { gather_as_doubles<T>(column.at(begin), column.stride, order, count, out); });
}

// Rows [begin, begin + count) of a column of labels: in place if they are contiguous, else a copy.
inline const std::int32_t* labels_at(const Column& target, std::size_t begin, std::size_t count, std::int32_t* copy) {
  const char* at = target.at(begin);
  if (target.stride == sizeof(std::int32_t) && reinterpret_cast<std::uintptr_t>(at) % alignof(std::int32_t) == 0)
    return reinterpret_cast<const std::int32_t*>(at);
  for (std::size_t i = 0; i < count; ++i) copy[i] = load<std::int32_t>(target.at(begin + i));
  return copy;
}

// The largest of a column of labels, at least -1.
inline std::int32_t largest_label(const Column& target) {
  std::int32_t most = -1;
  if (target.stride == sizeof(std::int32_t)) {  // a loop of its own, which becomes one of vectors
    for (std::size_t row = 0; row < target.rows; ++row)
      most = std::max(most, load<std::int32_t>(target.data + row * sizeof(std::int32_t)));
  } else {
    for (std::size_t row = 0; row < target.rows; ++row) most = std::max(most, load<std::int32_t>(target.at(row)));
  }
  return most;
}

// Rows [begin, begin + count) as doubles, contiguous.
inline void read_doubles(const Column& column, std::size_t begin, std::size_t count, double* out) {
  with_type(column.kind, [&]<class T>() {
    const char* address = column.at(begin);
    if (column.stride == static_cast<std::int64_t>(sizeof(T)))
      for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<double>(load<T>(address + i * sizeof(T)));
    else
      for (std::size_t i = 0; i < count; ++i, address += column.stride) out[i] = static_cast<double>(load<T>(address));
  });
}

// The same in place if they are contiguous doubles, else in `copy`.
inline const double* doubles_at(const Column& column, std::size_t begin, std::size_t count, double* copy) {
  const char* at = column.at(begin);
  if (column.kind == Kind::float64 && column.stride == sizeof(double) && reinterpret_cast<std::uintptr_t>(at) % alignof(double) == 0)
    return reinterpret_cast<const double*>(at);
  read_doubles(column, begin, count, copy);
  return copy;
}

}  // namespace bayesbox
