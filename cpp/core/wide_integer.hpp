// Whole numbers of some hundred bits, with what a mean and a deviation need: products, differences, division by a word, and
// roundings of ratios and of roots to the nearest double. What does not fit is said, not rounded.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

#include "core/exact_array.hpp"

namespace bayesbox {

// Division of two words by one through its reciprocal (Moeller and Granlund, Improved division by invariant integers, 2011):
// one division for the reciprocal, two multiplications for each word that follows.
class WordDivisor {
 public:
  explicit WordDivisor(std::uint64_t divisor)
      : shift_(std::countl_zero(divisor)), divisor_(divisor << shift_),
        inverse_(static_cast<std::uint64_t>((static_cast<uint128>(~divisor_) << 64 | ~std::uint64_t{0}) / divisor_)) {}

  // Divides the words, the last of them first, in place, and returns the remainder.
  std::uint64_t divide(std::uint64_t* words, std::size_t count) const {
    if (count == 0) return 0;
    std::uint64_t rest = shift_ == 0 ? 0 : words[count - 1] >> (64 - shift_);
    for (std::size_t k = count; k-- > 0;) {
      const std::uint64_t below = k == 0 || shift_ == 0 ? 0 : words[k - 1] >> (64 - shift_);
      words[k] = quotient(rest, words[k] << shift_ | below);
    }
    return rest >> shift_;
  }

 private:
  // Of the word behind `rest`, which is below the divisor and becomes the new remainder.
  std::uint64_t quotient(std::uint64_t& rest, std::uint64_t word) const {
    const uint128 guess = static_cast<uint128>(inverse_) * rest + (static_cast<uint128>(rest) << 64 | word);
    std::uint64_t found = static_cast<std::uint64_t>(guess >> 64) + 1;
    rest = word - found * divisor_;
    if (rest > static_cast<std::uint64_t>(guess)) {
      --found;
      rest += divisor_;
    }
    if (rest >= divisor_) {
      ++found;
      rest -= divisor_;
    }
    return found;
  }

  int shift_;
  std::uint64_t divisor_;  // with its highest bit set
  std::uint64_t inverse_;  // (2^128 - 1) / divisor - 2^64
};

// m * 2^exponent, m >= 0, with a sign beside it; 0 has no words.
class WideInteger {
 public:
  static constexpr std::size_t kMost = 24;  // words of 64 bits

  bool negative = false;
  std::int64_t exponent = 0;

  WideInteger() {}  // NOLINT: the words are not set, as they are many and few of them are used
  WideInteger(const WideInteger& other) : negative(other.negative), exponent(other.exponent), used_(other.used_) {
    std::copy_n(other.words_.begin(), used_, words_.begin());
  }
  WideInteger& operator=(const WideInteger& other) {
    negative = other.negative;
    exponent = other.exponent;
    used_ = other.used_;
    std::copy_n(other.words_.begin(), used_, words_.begin());
    return *this;
  }

  static WideInteger of_word(uint128 value, std::int64_t exponent = 0) {
    WideInteger made;
    made.exponent = exponent;
    made.words_[0] = static_cast<std::uint64_t>(value);
    made.words_[1] = static_cast<std::uint64_t>(value >> 64);
    made.used_ = 2;
    made.trim();
    return made;
  }
  // A cell of an exact array; nothing where it has too many digits.
  static std::optional<WideInteger> of(const Magnitude& given) {
    WideInteger made;
    if (given.is_zero()) return made;
    made.negative = given.negative;
    made.exponent = given.exponent();
    const std::ptrdiff_t bits = given.highest_bit - given.lowest_bit + 1;
    made.used_ = static_cast<std::size_t>(bits + 63) / 64;
    if (made.used_ > kMost) return std::nullopt;
    for (std::size_t k = 0; k < made.used_; ++k)
      made.words_[k] = given.bits(given.lowest_bit + 64 * static_cast<std::ptrdiff_t>(k), 64);
    made.trim();
    return made;
  }
  static WideInteger of(double value) {
    const Binary part = decompose(value);
    WideInteger made = of_word(part.mantissa, part.exponent);
    made.negative = part.negative && part.mantissa != 0;
    return made;
  }

  bool is_zero() const { return used_ == 0; }
  std::int64_t bits() const {
    return used_ == 0 ? 0 : 64 * static_cast<std::int64_t>(used_) - std::countl_zero(words_[used_ - 1]);
  }
  // The number without its exponent, where it is one word.
  std::optional<std::uint64_t> word() const {
    if (used_ > 1) return std::nullopt;
    return used_ == 0 ? 0 : words_[0];
  }

  friend std::optional<WideInteger> product(const WideInteger& a, const WideInteger& b) {
    WideInteger made;
    if (a.is_zero() || b.is_zero()) return made;
    if (a.used_ + b.used_ > kMost) return std::nullopt;
    made.negative = a.negative != b.negative;
    made.exponent = a.exponent + b.exponent;
    made.used_ = a.used_ + b.used_;
    std::fill_n(made.words_.begin(), made.used_, 0);
    for (std::size_t i = 0; i < a.used_; ++i) {
      std::uint64_t carried = 0;
      for (std::size_t j = 0; j < b.used_; ++j) {
        const uint128 sum = static_cast<uint128>(a.words_[i]) * b.words_[j] + made.words_[i + j] + carried;
        made.words_[i + j] = static_cast<std::uint64_t>(sum);
        carried = static_cast<std::uint64_t>(sum >> 64);
      }
      made.words_[i + b.used_] = carried;
    }
    made.trim();
    return made;
  }

  friend std::optional<WideInteger> difference(const WideInteger& a, const WideInteger& b) {
    if (b.is_zero()) return a;
    WideInteger minus = b;
    minus.negative = !b.negative;
    if (a.is_zero()) return minus;
    const std::int64_t low = std::min(a.exponent, b.exponent);
    const std::optional<WideInteger> one = a.lowered(low), other = minus.lowered(low);
    if (!one || !other) return std::nullopt;
    if (one->negative == other->negative) return one->plus(*other);
    return compare(*one, *other) >= 0 ? one->less(*other) : other->less(*one);
  }

  // a / (the product of the divisors), rounded once; nothing where it is no normal double.
  template <std::size_t Divisors>
  static std::optional<double> ratio(const WideInteger& a, const std::array<std::uint64_t, Divisors>& divisors,
                                     std::int64_t divisor_exponent) {
    if (a.is_zero()) return 0.0;
    std::optional<WideInteger> over = a.raised(static_cast<std::int64_t>(64 * (Divisors + 1)) - a.bits());
    if (!over) return std::nullopt;
    bool inexact = false;
    for (const std::uint64_t divisor : divisors) inexact |= over->divide(divisor) != 0;
    over->exponent -= divisor_exponent;
    return over->rounded(inexact);
  }

  // The root of that; a is not negative.
  template <std::size_t Divisors>
  static std::optional<double> root(const WideInteger& a, const std::array<std::uint64_t, Divisors>& divisors,
                                    std::int64_t divisor_exponent) {
    if (a.is_zero()) return 0.0;
    std::optional<WideInteger> over = a.raised(static_cast<std::int64_t>(64 * (Divisors + 2)) - a.bits());
    if (!over) return std::nullopt;
    bool inexact = false;
    for (const std::uint64_t divisor : divisors) inexact |= over->divide(divisor) != 0;
    over->exponent -= divisor_exponent;
    std::int64_t shift = over->bits() - 126;  // to a number of 126 or 127 bits with an even exponent
    if (((over->exponent + shift) & 1) != 0) --shift;
    inexact |= over->drop(shift);
    const uint128 square = static_cast<uint128>(over->words_[1]) << 64 | over->words_[0];
    std::uint64_t guess = static_cast<std::uint64_t>(std::sqrt(static_cast<double>(square)));
    guess = static_cast<std::uint64_t>((guess + square / guess) >> 1);  // a step of Newton doubles its 52 digits
    while (static_cast<uint128>(guess) * guess > square) --guess;
    while (static_cast<uint128>(guess + 1) * (guess + 1) <= square) ++guess;
    inexact |= static_cast<uint128>(guess) * guess != square;
    return of_word(guess, over->exponent / 2).rounded(inexact);
  }

 private:
  std::uint64_t at(std::size_t k) const { return k < used_ ? words_[k] : 0; }

  void trim() {
    while (used_ > 0 && words_[used_ - 1] == 0) --used_;
  }

  // The same number with a lower exponent.
  std::optional<WideInteger> lowered(std::int64_t low) const { return raised(exponent - low); }
  std::optional<WideInteger> raised(std::int64_t shift) const {
    if (shift <= 0) return *this;
    if (bits() + shift > 64 * static_cast<std::int64_t>(kMost)) return std::nullopt;
    WideInteger made;
    made.negative = negative;
    made.exponent = exponent - shift;
    const auto words = static_cast<std::size_t>(shift / 64);
    const int rest = static_cast<int>(shift % 64);
    made.used_ = std::min(used_ + words + 1, kMost);
    std::fill_n(made.words_.begin(), made.used_, 0);
    for (std::size_t k = 0; k < used_; ++k) {
      made.words_[k + words] |= words_[k] << rest;
      if (rest != 0 && k + words + 1 < kMost) made.words_[k + words + 1] |= words_[k] >> (64 - rest);
    }
    made.trim();
    return made;
  }

  // Shifts bits out at the low end; whether one of them was set. A negative shift adds zeros, which the caller has room for.
  bool drop(std::int64_t shift) {
    if (shift <= 0) {
      *this = *raised(-shift);
      return false;
    }
    bool lost = false;
    const auto words = static_cast<std::size_t>(shift / 64);
    const int rest = static_cast<int>(shift % 64);
    for (std::size_t k = 0; k < std::min(words, used_); ++k) lost |= words_[k] != 0;
    if (words < used_ && rest != 0) lost |= (words_[words] & ((std::uint64_t{1} << rest) - 1)) != 0;
    for (std::size_t k = 0; k < used_; ++k) {
      const std::uint64_t low = k + words < used_ ? words_[k + words] : 0;
      const std::uint64_t high = k + words + 1 < used_ ? words_[k + words + 1] : 0;
      words_[k] = rest == 0 ? low : low >> rest | high << (64 - rest);
    }
    exponent += shift;
    trim();
    return lost;
  }

  std::uint64_t divide(std::uint64_t divisor) {
    const std::uint64_t rest = WordDivisor(divisor).divide(words_.data(), used_);
    trim();
    return rest;
  }

  std::optional<WideInteger> plus(const WideInteger& other) const {
    WideInteger made = *this;
    std::uint64_t carried = 0;
    const std::size_t size = std::max(used_, other.used_);
    if (size == kMost) return std::nullopt;
    for (std::size_t k = 0; k < size; ++k) {
      const uint128 sum = static_cast<uint128>(at(k)) + other.at(k) + carried;
      made.words_[k] = static_cast<std::uint64_t>(sum);
      carried = static_cast<std::uint64_t>(sum >> 64);
    }
    made.words_[size] = carried;
    made.used_ = size + 1;
    made.trim();
    return made;
  }
  // The other is not greater.
  WideInteger less(const WideInteger& other) const {
    WideInteger made = *this;
    std::uint64_t borrowed = 0;
    for (std::size_t k = 0; k < used_; ++k) {
      const uint128 rest = static_cast<uint128>(words_[k]) - other.at(k) - borrowed;
      made.words_[k] = static_cast<std::uint64_t>(rest);
      borrowed = static_cast<std::uint64_t>(rest >> 64) != 0 ? 1 : 0;
    }
    made.trim();
    if (made.used_ == 0) made.negative = false;
    return made;
  }
  static int compare(const WideInteger& a, const WideInteger& b) {
    if (a.used_ != b.used_) return a.used_ < b.used_ ? -1 : 1;
    for (std::size_t k = a.used_; k-- > 0;)
      if (a.words_[k] != b.words_[k]) return a.words_[k] < b.words_[k] ? -1 : 1;
    return 0;
  }

  // The nearest double, ties to even, of this and, with `inexact`, of less than 1 more; it has 55 bits or is exact.
  std::optional<double> rounded(bool inexact) const {
    const std::int64_t length = bits(), top = exponent + length - 1;
    if (length == 0 || top < -1022 || top > 1023) return std::nullopt;
    if (length <= 53) {
      if (inexact) return std::nullopt;
      const double size = std::ldexp(static_cast<double>(words_[0]), static_cast<int>(exponent));
      return negative ? -size : size;
    }
    WideInteger kept = *this;
    const bool lost = kept.drop(length - 54) || inexact;
    std::uint64_t mantissa = kept.words_[0] >> 1;
    if ((kept.words_[0] & 1) != 0 && (lost || (mantissa & 1) != 0)) ++mantissa;
    const double size = std::ldexp(static_cast<double>(mantissa), static_cast<int>(top - 52));
    if (!std::isfinite(size)) return std::nullopt;
    return negative ? -size : size;
  }

  std::array<std::uint64_t, kMost> words_;  // those behind the last used one are not set
  std::size_t used_ = 0;
};

}  // namespace bayesbox
