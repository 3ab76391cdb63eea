// Columns with a validity bitmap: a copy of the values, with a mark for nulls.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/column.hpp"

namespace bayesbox {

// Bits [bit, bit + 64) of a bitmap of `bytes` bytes, those behind its end 0; the lowest bit of a byte is the first.
inline std::uint64_t bits_at(const std::uint8_t* bitmap, std::size_t bytes, std::size_t bit) {
  const std::size_t first = bit / 8, shift = bit % 8;
  std::uint64_t word = 0;
  for (std::size_t k = 0; k < std::min<std::size_t>(8, bytes - first); ++k) word |= std::uint64_t{bitmap[first + k]} << (8 * k);
  if (shift == 0) return word;
  const std::uint64_t next = first + 8 < bytes ? bitmap[first + 8] : 0;
  return word >> shift | next << (64 - shift);
}

// out[i] = values[i], or `hole` where bit `offset` + i is 0. The values stand side by side.
template <class From, class To>
void fill_holes(const char* values, std::size_t count, const std::uint8_t* bitmap, std::size_t bytes, std::size_t offset,
                To hole, To* out) {
  for (std::size_t i = 0; i < count; i += 64) {
    const std::size_t length = std::min<std::size_t>(64, count - i);
    const std::uint64_t present = bits_at(bitmap, bytes, offset + i);
    for (std::size_t k = 0; k < length; ++k) out[i + k] = static_cast<To>(load<From>(values + (i + k) * sizeof(From)));
    const std::uint64_t wanted = length < 64 ? (std::uint64_t{1} << length) - 1 : ~std::uint64_t{0};
    for (std::uint64_t holes = ~present & wanted; holes != 0; holes &= holes - 1) out[i + static_cast<std::size_t>(std::countr_zero(holes))] = hole;
  }
}

}  // namespace bayesbox
