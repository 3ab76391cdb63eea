// Texts of fixed width, as numpy keeps them, in UTF-8 one after another, as Arrow keeps them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/column.hpp"
#include "core/interrupt.hpp"

namespace bayesbox {

struct Utf8Texts {
  std::string letters;
  std::vector<std::int64_t> offsets;  // where each text begins, and where the last ends
};

// Writes a code point and says how many bytes it took; 0 where it is none, or half of a pair.
inline std::size_t write_utf8(std::uint32_t point, char* to) {
  const auto part = [&](int shift) { return static_cast<char>(0x80 | (point >> shift & 0x3f)); };
  if (point < 0x80) {
    to[0] = static_cast<char>(point);
    return 1;
  }
  if (point < 0x800) {
    to[0] = static_cast<char>(0xc0 | point >> 6);
    to[1] = part(0);
    return 2;
  }
  if (point < 0x10000) {
    if (point >= 0xd800 && point < 0xe000) return 0;
    to[0] = static_cast<char>(0xe0 | point >> 12);
    to[1] = part(6);
    to[2] = part(0);
    return 3;
  }
  if (point > 0x10ffff) return 0;
  to[0] = static_cast<char>(0xf0 | point >> 18);
  to[1] = part(12);
  to[2] = part(6);
  to[3] = part(0);
  return 4;
}

// `rows` texts of `width` code points, filled up with zeros, `stride` bytes apart; false where one is no Unicode.
inline bool narrow_texts(const char* data, std::int64_t stride, std::size_t rows, std::size_t width, Utf8Texts& out) {
  out.offsets.assign(rows + 1, 0);
  out.letters.resize(rows * width);
  std::size_t used = 0;
  const auto make_room = [&](std::size_t bytes) {
    if (out.letters.size() - used < bytes) out.letters.resize(std::max(2 * out.letters.size(), used + bytes));
  };
  for (std::size_t row = 0; row < rows; ++row) {
    poll_at(row, width);
    const char* const text = data + static_cast<std::int64_t>(row) * stride;
    std::size_t length = width;
    while (length > 0 && load<std::uint32_t>(text + 4 * (length - 1)) == 0) --length;
    make_room(length);
    char* to = out.letters.data() + used;
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < length; ++i) {
      const auto point = load<std::uint32_t>(text + 4 * i);
      to[i] = static_cast<char>(point);
      bits |= point;
    }
    if (bits < 0x80) {
      used += length;
    } else {
      make_room(4 * length);
      for (std::size_t i = 0; i < length; ++i) {
        const std::size_t bytes = write_utf8(load<std::uint32_t>(text + 4 * i), out.letters.data() + used);
        if (bytes == 0) return false;
        used += bytes;
      }
    }
    out.offsets[row + 1] = static_cast<std::int64_t>(used);
  }
  out.letters.resize(used);
  if (out.letters.capacity() / 2 > used) out.letters.shrink_to_fit();
  return true;
}

}  // namespace bayesbox
