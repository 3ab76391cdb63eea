// Cells that hold dyadic numbers exactly: sums of doubles and of products of doubles, in any order, without rounding.
//
// A cell is the sum of limb[k] * 2^(32 * (low + k)) over the limbs of one window [low, low + limbs) shared by all
// cells. A limb is an int64 that is carried lazily: adding a number adds at most 2^32 - 1 to the size of each limb it
// touches, so |limb| <= (lazy + 1) * 2^32 where `lazy` counts additions since the last carry. Carrying before `lazy`
// passes 2^28 keeps every limb far from overflow. The representation is redundant: a window may grow at either end
// by zero limbs with no other work, and numbers are brought to sign and magnitude only when they are read.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

#include "core/large_pages.hpp"

namespace bayesbox {

using int128 = __int128;
using uint128 = unsigned __int128;

// A finite double as mantissa * 2^exponent with an integer mantissa below 2^53.
struct Binary {
  std::uint64_t mantissa;
  int exponent;
  bool negative;
};

inline Binary decompose(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const int biased = static_cast<int>(bits >> 52) & 0x7ff;
  const std::uint64_t fraction = bits & 0xfffffffffffffULL;
  if (biased == 0) return {fraction, -1074, (bits >> 63) != 0};
  return {fraction | (1ULL << 52), biased - 1075, (bits >> 63) != 0};
}

// The sign and the words (32 bits each, least first, of weight 2^(32 * low)) of one cell.
struct Magnitude {
  std::vector<std::uint32_t> words;
  int low = 0;
  bool negative = false;
  std::ptrdiff_t lowest_bit = -1;   // offset of the lowest set bit, -1 for zero
  std::ptrdiff_t highest_bit = -1;  // offset of the highest set bit, -1 for zero

  bool is_zero() const { return lowest_bit < 0; }
  std::int64_t exponent() const { return 32 * static_cast<std::int64_t>(low) + lowest_bit; }
  // `count` <= 64 bits starting at offset `start` >= 0; bits beyond the words are zero.
  std::uint64_t bits(std::ptrdiff_t start, int count) const {
    const std::size_t word = static_cast<std::size_t>(start) / 32;
    uint128 window = 0;
    for (std::size_t k = 0; k < 3 && word + k < words.size(); ++k)
      window |= static_cast<uint128>(words[word + k]) << (32 * k);
    window >>= start % 32;
    return static_cast<std::uint64_t>(window) & (count == 64 ? ~0ULL : (1ULL << count) - 1);
  }
};

class ExactArray {
 public:
  explicit ExactArray(std::size_t size) : size_(size) {
    if (size > kMostLimbs) throw std::invalid_argument("an exact array of that size does not fit in memory");
    limb_.assign(size, 0);
  }

  // Whole numbers, one a cell.
  static ExactArray of_integers(LargeVector<std::int64_t>&& values) {
    ExactArray result(0);
    if (std::all_of(values.begin(), values.end(), [](std::int64_t v) { return v > -kOneLimb && v < kOneLimb; })) {
      result.size_ = values.size();
      result.limb_ = std::move(values);
      return result;
    }
    result = ExactArray(values.size());
    for (std::size_t cell = 0; cell < values.size(); ++cell) result.add_integer(cell, values[cell]);
    return result;
  }

  std::size_t size() const { return size_; }
  // Whether every cell is the whole number that its only limb is, as counts are.
  bool is_plain() const { return limbs_ == 1 && low_ == 0; }
  std::int64_t plain(std::size_t cell) const { return limb_[cell]; }
  // The exponent of the lowest bits of all cells, over 32.
  int low() const { return low_; }

  // A cell in units of 2^(32 low) as two's complement, the lowest word first; whether it fits.
  template <std::size_t Words>
  bool words(std::size_t cell, std::array<std::uint64_t, Words>& out) const {
    const std::int64_t* const limb = limb_.data() + cell * limbs_;
    constexpr int kDigits = 2 * static_cast<int>(Words);
    std::uint32_t digits[kDigits];
    std::int64_t carried = 0;
    const int held = std::min(limbs_, kDigits);
    for (int k = 0; k < held; ++k) {
      const std::int64_t value = limb[k] + carried;
      digits[k] = static_cast<std::uint32_t>(value);
      carried = value >> 32;
    }
    bool fits = true;
    for (int k = held; k < kDigits; ++k) {
      digits[k] = static_cast<std::uint32_t>(carried);
      carried >>= 32;
    }
    const std::int64_t sign = digits[kDigits - 1] >> 31 != 0 ? -1 : 0;
    for (int k = held; k < limbs_; ++k) {
      const std::int64_t value = limb[k] + carried;
      fits &= static_cast<std::uint32_t>(value) == static_cast<std::uint32_t>(sign);
      carried = value >> 32;
    }
    for (std::size_t k = 0; k < Words; ++k) out[k] = static_cast<std::uint64_t>(digits[2 * k + 1]) << 32 | digits[2 * k];
    return fits && carried == sign;
  }

  void add(std::size_t cell, double value) {
    const Binary part = decompose(value);
    if (part.mantissa != 0) add_bits(cell, part.mantissa, part.exponent, part.negative);
  }

  void add_product(std::size_t cell, double a, double b) {
    const Binary x = decompose(a), y = decompose(b);
    const uint128 mantissa = static_cast<uint128>(x.mantissa) * y.mantissa;
    if (mantissa != 0) add_bits(cell, mantissa, x.exponent + y.exponent, x.negative != y.negative);
  }

  void add_product(std::size_t cell, double a, double b, double c) {
    const Binary x = decompose(a), y = decompose(b), z = decompose(c);
    const uint128 pair = static_cast<uint128>(x.mantissa) * y.mantissa;  // below 2^106
    const int exponent = x.exponent + y.exponent + z.exponent;
    const bool negative = (x.negative != y.negative) != z.negative;
    const uint128 lower = static_cast<uint128>(static_cast<std::uint64_t>(pair)) * z.mantissa;
    const uint128 upper = (pair >> 64) * z.mantissa;
    if (lower != 0) add_bits(cell, lower, exponent, negative);
    if (upper != 0) add_bits(cell, upper, exponent + 64, negative);
  }

  // value * 2^exponent, |value| < 2^127
  void add_integer(std::size_t cell, int128 value, int exponent = 0) {
    if (value != 0)
      add_bits(cell, value < 0 ? -static_cast<uint128>(value) : static_cast<uint128>(value), exponent, value < 0);
  }

  // cell[index[i]] += sign * other[i]; without an index, cell by cell. The caller has checked the indices.
  void merge(const ExactArray& other, const std::int64_t* index, int sign) {
    if (&other == this) return merge(ExactArray(other), index, sign);
    if (other.size_ == 0) return;
    if (other.lazy_ > 1024) {
      ExactArray carried = other;
      carried.carry();
      return merge(carried, index, sign);
    }
    cover(other.low_, other.low_ + other.limbs_);
    const std::uint64_t step = other.lazy_ + 1;
    if (!index) reserve_lazy(step);
    for (std::size_t i = 0; i < other.size_; ++i) {
      if (index) reserve_lazy(step);
      add_limbs(index ? static_cast<std::size_t>(index[i]) : i, other, i, sign);
    }
  }

  // The same cells with zeros behind them, `size` of them in all.
  ExactArray lengthened(std::size_t size) const {
    ExactArray result = with_window(0, low_, limbs_);
    result.size_ = size;
    result.lazy_ = lazy_;
    result.limb_.reserve(size * static_cast<std::size_t>(limbs_));
    result.limb_.assign(limb_.begin(), limb_.end());
    result.limb_.resize(size * static_cast<std::size_t>(limbs_), 0);
    return result;
  }

  // cell[place[i] * width + k] += other[i * width + k] for the `width` cells that lie together. The caller has checked
  // the places.
  void merge_groups(const ExactArray& other, const std::vector<std::int64_t>& place, std::size_t width) {
    if (other.lazy_ > 1024) {
      ExactArray carried = other;
      carried.carry();
      return merge_groups(carried, place, width);
    }
    cover(other.low_, other.low_ + other.limbs_);
    for (std::size_t i = 0; i < place.size(); ++i) {
      reserve_lazy(other.lazy_ + 1);  // which may widen the window
      const std::size_t first = static_cast<std::size_t>(place[i]) * width;
      if (other.low_ == low_ && other.limbs_ == limbs_) {
        std::int64_t* const to = limb_.data() + first * static_cast<std::size_t>(limbs_);
        const std::size_t run = width * static_cast<std::size_t>(limbs_);
        const std::int64_t* const from = other.limb_.data() + i * run;
        for (std::size_t k = 0; k < run; ++k) to[k] += from[k];
      } else {
        for (std::size_t k = 0; k < width; ++k) add_limbs(first + k, other, i * width + k, 1);
      }
    }
  }

  // The cells at `index`; -1 gives zero.
  ExactArray take(const std::int64_t* index, std::size_t count) const {
    ExactArray result = with_window(count, low_, limbs_);
    result.lazy_ = lazy_;
    for (std::size_t i = 0; i < count; ++i)
      if (index[i] >= 0)
        std::copy_n(limb_.data() + static_cast<std::size_t>(index[i]) * limbs_, limbs_, result.limb_.data() + i * limbs_);
    return result;
  }

  // The cells as a table of this many rows: the sum of each row.
  ExactArray sum_rows(std::size_t rows) const {
    ExactArray result = with_window(rows, low_, limbs_);
    const std::size_t width = rows == 0 ? 0 : size_ / rows;
    for (std::size_t cell = 0; cell < rows * width; ++cell) {
      result.reserve_lazy(lazy_ + 1);
      result.add_limbs(cell / width, *this, cell, 1);
    }
    return result;
  }

  // The same table with, in place of each cell, the sum of all others in its column.
  ExactArray others(std::size_t rows) const {
    ExactArray result = with_window(size_, low_, limbs_);
    const std::size_t width = rows == 0 ? 0 : size_ / rows;
    ExactArray whole = with_window(width, low_, limbs_);
    for (std::size_t row = 0; row < rows; ++row) {
      whole.reserve_lazy(lazy_ + 1);
      for (std::size_t column = 0; column < width; ++column) whole.add_limbs(column, *this, row * width + column, 1);
    }
    result.cover(whole.low_, whole.low_ + whole.limbs_);
    result.reserve_lazy(whole.lazy_ + lazy_ + 2);
    for (std::size_t cell = 0; cell < rows * width; ++cell) {
      result.add_limbs(cell, whole, cell % width, 1);
      result.add_limbs(cell, *this, cell, -1);
    }
    return result;
  }

  // Makes sure that the limbs [low, high) are there, so that additions need not move the window.
  void cover(int low, int high) {
    const int new_low = std::min(low, low_), new_high = std::max(high, low_ + limbs_);
    if (new_low == low_ && new_high == low_ + limbs_) return;
    ExactArray wider = with_window(size_, new_low, new_high - new_low);
    for (std::size_t cell = 0; cell < size_; ++cell)
      std::copy_n(limb_.data() + cell * limbs_, limbs_, wider.limb_.data() + cell * wider.limbs_ + (low_ - new_low));
    limb_ = std::move(wider.limb_);
    low_ = wider.low_;
    limbs_ = wider.limbs_;
  }

  // Brings all limbs but the last of each cell into [0, 2^32) and the last below 2^32 in size.
  void carry() {
    for (;;) {
      bool fits = true;
      for (std::size_t cell = 0; cell < size_; ++cell) {
        std::int64_t* limb = limb_.data() + cell * limbs_;
        std::int64_t carried = 0;
        for (int k = 0; k + 1 < limbs_; ++k) {
          const std::int64_t value = limb[k] + carried;
          limb[k] = value & 0xffffffff;
          carried = value >> 32;
        }
        limb[limbs_ - 1] += carried;
        fits &= limb[limbs_ - 1] <= 0xffffffff && limb[limbs_ - 1] >= -0xffffffffLL;
      }
      if (fits) break;
      cover(low_, low_ + limbs_ + 1);
    }
    lazy_ = 0;
  }

  void magnitude(std::size_t cell, Magnitude& out) const {
    const std::int64_t* limb = limb_.data() + cell * limbs_;
    out.words.resize(static_cast<std::size_t>(limbs_) + 1);
    out.low = low_;
    std::int64_t carried = 0;
    for (int k = 0; k < limbs_; ++k) {
      const std::int64_t value = limb[k] + carried;
      out.words[k] = static_cast<std::uint32_t>(value);
      carried = value >> 32;
    }
    out.words[limbs_] = static_cast<std::uint32_t>(carried);  // |carried| <= 2^30, so this word holds the sign
    out.negative = carried < 0;
    if (out.negative) {
      std::uint64_t borrow = 1;
      for (std::uint32_t& word : out.words) {
        borrow += static_cast<std::uint32_t>(~word);
        word = static_cast<std::uint32_t>(borrow);
        borrow >>= 32;
      }
    }
    out.lowest_bit = out.highest_bit = -1;
    for (int k = 0; k <= limbs_; ++k)
      if (out.words[k] != 0) {
        if (out.lowest_bit < 0) out.lowest_bit = 32 * k + std::countr_zero(out.words[k]);
        out.highest_bit = 32 * k + 31 - std::countl_zero(out.words[k]);
      }
  }

  // The cell rounded to the nearest double, ties to even; beyond the range +-infinity.
  double rounded(std::size_t cell, Magnitude& scratch) const {
    if (is_plain()) return static_cast<double>(limb_[cell]);
    magnitude(cell, scratch);
    if (scratch.is_zero()) return 0.0;
    const std::int64_t base = 32 * static_cast<std::int64_t>(scratch.low);
    const std::int64_t top = base + scratch.highest_bit;
    const double infinity = std::numeric_limits<double>::infinity();
    if (top > 1023) return scratch.negative ? -infinity : infinity;
    if (top < -1075) return scratch.negative ? -0.0 : 0.0;
    // The unit of the result: 52 bits below the highest, and never below the smallest subnormal.
    const std::int64_t unit = std::max<std::int64_t>(top - 52, -1074);
    const std::int64_t offset = unit - base;
    std::uint64_t mantissa;
    if (offset <= 0) {
      mantissa = scratch.bits(0, 64) << -offset;  // the highest bit is below 2^53 units, so nothing is shifted out
    } else {
      mantissa = scratch.bits(offset, 53);
      const bool half = scratch.bits(offset - 1, 1) != 0;
      const bool above_half = scratch.lowest_bit < offset - 1;
      if (half && (above_half || (mantissa & 1) != 0)) ++mantissa;
    }
    const double size = std::ldexp(static_cast<double>(mantissa), static_cast<int>(unit));
    return scratch.negative ? -size : size;
  }

  // Whether the cell is an integer that fits in 64 bits; then `value` is that integer.
  bool as_int64(std::size_t cell, Magnitude& scratch, std::int64_t& value) const {
    if (is_plain()) {
      value = limb_[cell];
      return true;
    }
    magnitude(cell, scratch);
    value = 0;
    if (scratch.is_zero()) return true;
    const std::int64_t base = 32 * static_cast<std::int64_t>(scratch.low);
    if (scratch.exponent() < 0 || base + scratch.highest_bit > 63) return false;
    const std::uint64_t size = base >= 0 ? scratch.bits(0, 64) << base : scratch.bits(-base, 64);
    if (size > (1ULL << 63) - (scratch.negative ? 0 : 1)) return false;
    value = static_cast<std::int64_t>(scratch.negative ? 0 - size : size);
    return true;
  }

  int sign(std::size_t cell, Magnitude& scratch) const {
    if (is_plain()) return (limb_[cell] > 0) - (limb_[cell] < 0);
    magnitude(cell, scratch);
    return scratch.is_zero() ? 0 : scratch.negative ? -1 : 1;
  }

  bool is_integral() const {
    if (low_ >= 0) return true;
    Magnitude scratch;
    for (std::size_t cell = 0; cell < size_; ++cell) {
      magnitude(cell, scratch);
      if (!scratch.is_zero() && scratch.exponent() < 0) return false;
    }
    return true;
  }

  friend bool operator==(const ExactArray& a, const ExactArray& b) {
    if (a.size_ != b.size_) return false;
    if (a.is_plain() && b.is_plain()) return a.limb_ == b.limb_;
    Magnitude x, y;
    for (std::size_t cell = 0; cell < a.size_; ++cell) {
      a.magnitude(cell, x);
      b.magnitude(cell, y);
      if (x.is_zero() || y.is_zero()) {
        if (x.is_zero() != y.is_zero()) return false;
        continue;
      }
      const std::ptrdiff_t length = x.highest_bit - x.lowest_bit;
      if (x.negative != y.negative || x.exponent() != y.exponent() || length != y.highest_bit - y.lowest_bit) return false;
      for (std::ptrdiff_t at = 0; at <= length; at += 64)
        if (x.bits(x.lowest_bit + at, 64) != y.bits(y.lowest_bit + at, 64)) return false;
    }
    return true;
  }

  static constexpr std::size_t kMostLimbs = std::size_t{1} << 40;
  static constexpr std::int64_t kOneLimb = std::int64_t{1} << 32;
  static constexpr std::uint64_t kLazyLimit = std::uint64_t{1} << 28;

 private:
  static ExactArray with_window(std::size_t size, int low, int limbs) {
    if (size != 0 && static_cast<std::size_t>(limbs) > kMostLimbs / size) throw std::bad_alloc();
    ExactArray result(0);
    result.size_ = size;
    result.low_ = low;
    result.limbs_ = limbs;
    result.limb_.assign(size * static_cast<std::size_t>(limbs), 0);
    return result;
  }

  void reserve_lazy(std::uint64_t additions) {
    if (lazy_ + additions > kLazyLimit) carry();
    lazy_ += additions;
  }

  // Adds a cell of another, whose window lies within this one; the caller reserves.
  void add_limbs(std::size_t cell, const ExactArray& other, std::size_t from, int sign) {
    std::int64_t* const to = limb_.data() + cell * limbs_ + (other.low_ - low_);
    for (int k = 0; k < other.limbs_; ++k) to[k] += sign * other.limb_[from * other.limbs_ + k];
  }

  // mantissa * 2^exponent; Unsigned has 64 or 128 bits
  template <class Unsigned>
  void add_bits(std::size_t cell, Unsigned mantissa, int exponent, bool negative) {
    const int first = exponent >> 5, shift = exponent & 31;
    const auto low_word = static_cast<std::int64_t>(static_cast<std::uint32_t>(mantissa) << shift);
    Unsigned rest = (mantissa >> 1) >> (31 - shift);  // what is above the lowest word
    int count = 1;
    for (Unsigned above = rest; above != 0; above >>= 32) ++count;
    if (first < low_ || first + count > low_ + limbs_) cover(first, first + count);
    reserve_lazy(1);
    std::int64_t* limb = limb_.data() + cell * limbs_ + (first - low_);
    const std::int64_t sign = negative ? -1 : 0;  // (v ^ sign) - sign is v or -v
    limb[0] += (low_word ^ sign) - sign;
    for (int k = 1; k < count; ++k, rest >>= 32) limb[k] += (static_cast<std::int64_t>(rest & 0xffffffff) ^ sign) - sign;
  }

  std::size_t size_ = 0;
  int low_ = 0;
  int limbs_ = 1;
  std::uint64_t lazy_ = 0;
  LargeVector<std::int64_t> limb_;  // cell by cell

  friend class ExactText;
};

}  // namespace bayesbox
