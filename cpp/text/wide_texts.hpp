// Texts of fixed width, as numpy keeps them: in UTF-8 one after another, as Arrow keeps them, and as codes.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <stdexcept>
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

// Distinct texts of one width in order of appearance, found by open addressing; each is identified by its first row.
class DistinctWideTexts {
 public:
  DistinctWideTexts(const char* data, std::int64_t stride, std::size_t width)
      : data_(data), stride_(stride), bytes_(4 * width), slots_(1024) {}

  std::int32_t code(std::size_t row) {
    const char* const text = at(row);
    const std::uint64_t hash = hash_of(text);
    std::size_t slot = start(hash);
    for (; slots_[slot].code >= 0; slot = (slot + 1) & (slots_.size() - 1))
      if (slots_[slot].hash == hash && std::memcmp(at(first_[static_cast<std::size_t>(slots_[slot].code)]), text, bytes_) == 0)
        return slots_[slot].code;
    if (first_.size() == static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))
      throw std::overflow_error("texts: too many distinct ones");
    const auto code = static_cast<std::int32_t>(first_.size());
    first_.push_back(row);
    slots_[slot] = {hash, code};
    if (2 * first_.size() > slots_.size()) grow();
    return code;
  }
  const std::vector<std::size_t>& first_rows() const { return first_; }

 private:
  struct Slot {
    std::uint64_t hash = 0;
    std::int32_t code = -1;
  };

  const char* at(std::size_t row) const { return data_ + static_cast<std::int64_t>(row) * stride_; }
  std::uint64_t hash_of(const char* text) const {
    constexpr std::uint64_t kFactor = 0x9E3779B97F4A7C15ULL;
    std::uint64_t hash = 0;
    std::size_t place = 0;
    for (; place + 8 <= bytes_; place += 8) hash = (std::rotl(hash, 29) ^ load<std::uint64_t>(text + place)) * kFactor;
    if (place < bytes_) hash = (std::rotl(hash, 29) ^ load<std::uint32_t>(text + place)) * kFactor;
    return hash ^ hash >> 32;
  }
  // The upper bits are of all that was read.
  std::size_t start(std::uint64_t hash) const { return static_cast<std::size_t>(hash >> (64 - std::countr_zero(slots_.size()))); }
  void grow() {
    std::vector<Slot> before(2 * slots_.size());
    before.swap(slots_);
    for (const Slot& each : before) {
      if (each.code < 0) continue;
      std::size_t slot = start(each.hash);
      while (slots_[slot].code >= 0) slot = (slot + 1) & (slots_.size() - 1);
      slots_[slot] = each;
    }
  }

  const char* data_;
  std::int64_t stride_;
  std::size_t bytes_;
  std::vector<Slot> slots_;
  std::vector<std::size_t> first_;
};

// The code of each text, and the row in which each code comes first.
inline std::vector<std::int64_t> code_wide_texts(const char* data, std::int64_t stride, std::size_t rows, std::size_t width,
                                                 std::int32_t* codes) {
  DistinctWideTexts found(data, stride, width);
  for (std::size_t row = 0; row < rows; ++row) {
    poll_at(row, width);
    codes[row] = found.code(row);
  }
  return {found.first_rows().begin(), found.first_rows().end()};
}

}  // namespace bayesbox
