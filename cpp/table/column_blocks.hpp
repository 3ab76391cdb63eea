// Blocks of rows of several columns, each column's values one after the other as the kernels want them.
//
// A column that lies so is not copied. Columns side by side in a row-major matrix are read together, four of 8 bytes or
// eight of 1 byte, since they share their lines of the cache; small whole numbers among the former become bytes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "core/column.hpp"
#include "core/kernels.hpp"
#include "core/table_kernels.hpp"

namespace bayesbox {

class ColumnBlocks {
 public:
  ColumnBlocks(std::vector<Column> columns, std::size_t most_rows) : columns_(std::move(columns)), wide_(columns_.size()) {
    for (std::size_t k = 0; k < 4; ++k) {
      buffers_[k].resize(most_rows);
      bytes_[2 * k] = reinterpret_cast<std::uint8_t*>(buffers_[k].data());
      bytes_[2 * k + 1] = bytes_[2 * k] + most_rows;
    }
  }

  // Calls use.operator()<T>(j, values) for each column j with its rows [begin, begin + count). T is the type of the
  // column, or uint8 for a block of small whole numbers.
  template <class Use>
  void each(std::size_t begin, std::size_t count, const Use& use) {
    for (std::size_t j = 0; j < columns_.size();) {
      std::size_t first;
      if ((first = side_by_side_around(j, 4, 8)) != kNone) {
        each_of_four(j, first, begin, count, use);
        j = first + 4;
      } else if ((first = side_by_side_around(j, 8, 1)) != kNone) {
        table_kernels_.gather_eight_bytes(columns_[first].at(begin), columns_[first].stride, count, bytes_);
        for (const std::size_t end = first + 8; j < end; ++j) call(use, j, bytes_[j - first]);
      } else {
        with_type(columns_[j].kind, [&]<class T>() {
          use.template operator()<T>(j, static_cast<const T*>(contiguous<T>(columns_[j], begin, count)));
        });
        ++j;
      }
    }
  }

 private:
  static constexpr std::size_t kNone = ~std::size_t{0};

  template <class Use>
  void each_of_four(std::size_t j, std::size_t first, std::size_t begin, std::size_t count, const Use& use) {
    const Column& column = columns_[first];
    const bool doubles = is_floating(column.kind);
    if (!wide_[first]) {  // once a block has larger numbers, others will have them too
      if (table_kernels_.gather_four_narrow(column.at(begin), column.stride, count, doubles, bytes_)) {
        for (; j < first + 4; ++j) use.template operator()<std::uint8_t>(j, static_cast<const std::uint8_t*>(bytes_[j - first]));
        return;
      }
      wide_[first] = true;
    }
    void* const fours[4] = {buffers_[0].data(), buffers_[1].data(), buffers_[2].data(), buffers_[3].data()};
    kernels_.gather_four(column.at(begin), column.stride, nullptr, count, fours);
    for (; j < first + 4; ++j) call(use, j, fours[j - first]);
  }

  template <class Use>
  void call(const Use& use, std::size_t j, const void* values) const {
    with_type(columns_[j].kind, [&]<class T>() { use.template operator()<T>(j, static_cast<const T*>(values)); });
  }

  // The first of `size` columns that are neighbours in one row-major matrix, with elements of this many bytes, and of
  // which column j is one; the last columns are read with some that have been read before.
  std::size_t side_by_side_around(std::size_t j, std::size_t size, std::size_t bytes) const {
    if (size_of(columns_[j].kind) != bytes || columns_.size() < size) return kNone;
    const std::size_t first = std::min(j, columns_.size() - size);
    const Column& column = columns_[first];
    if (column.stride == static_cast<std::int64_t>(bytes)) return kNone;
    for (std::size_t k = 1; k < size; ++k) {
      const Column& other = columns_[first + k];
      if (other.kind != column.kind || other.stride != column.stride || other.data != column.data + k * bytes) return kNone;
    }
    return first;
  }

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

  std::vector<Column> columns_;
  const Kernels& kernels_ = kernels();
  const TableKernels& table_kernels_ = table_kernels();
  std::vector<bool> wide_;
  std::vector<std::uint64_t> buffers_[4];
  std::uint8_t* bytes_[8];
};

}  // namespace bayesbox
