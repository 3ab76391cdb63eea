// Means and deviations as in spreads.hpp, of sums that are short enough for words whose number is known: those of most columns. The
// results are the same, since each is rounded once.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/exact_array.hpp"
#include "core/wide_integer.hpp"
#include "table/moments.hpp"
#include "table/spread.hpp"

namespace bayesbox {

class ShortSpreads {
 public:
  // One column: the spread of each class and, last, of all of them; and the least deviation. False, with results that do not count,
  // where a sum is too long or where a result is no normal double.
  bool read(const Moments& moments, const Floor& floor, Spread* out, double& least) {
    const std::size_t classes = moments.n.size();
    divisors_.resize(classes + 1);
    total_unit_ = 32 * std::int64_t{moments.total.low()};
    square_unit_ = 32 * std::int64_t{moments.squares.low()};
    Total all_total{};
    Squares all_squares{};
    std::uint64_t all_n = 0;
    for (std::size_t c = 0; c < classes; ++c) {
      Total total;
      Squares squares;
      std::uint64_t n = 0;
      if (!rows(moments.n, c, n) || !moments.total.words(c, total) || !moments.squares.words(c, squares)) return false;
      if (!add(all_total, total) || !add(all_squares, squares)) return false;
      all_n += n;
      if (!read(n, total, squares, divisors_[c], out[c])) return false;
    }
    if (all_n > kMostRows || !read(all_n, all_total, all_squares, divisors_[classes], out[classes])) return false;
    return read_least(floor, divisors_[classes], least);
  }

 private:
  static constexpr std::uint64_t kMostRows = (std::uint64_t{1} << 32) - 1;  // so that a square of them is a word
  static constexpr std::int64_t kMostExponent = 1023, kLeastExponent = -1022;

  // Two's complement, the lowest word first.
  using Total = std::array<std::uint64_t, 2>;
  using Squares = std::array<std::uint64_t, 4>;

  struct Divisors {
    std::uint64_t n = 0;
    WordDivisor by_n{1}, by_square{1};
  };

  // A number that is not negative: its words, the highest bit of which is set, times 2^exponent, and something below 1.
  struct Normal {
    Squares words;
    std::int64_t exponent = 0;
    bool inexact = false;
  };

  // Whether a count is a whole number that is small enough.
  static bool rows(const ExactArray& counts, std::size_t cell, std::uint64_t& n) {
    Total words;
    if (!counts.words(cell, words) || counts.low() > 0 || counts.low() < -3) return false;
    const uint128 all = static_cast<uint128>(words[1]) << 64 | words[0];
    n = static_cast<std::uint64_t>(all >> (-32 * counts.low()));
    return n <= kMostRows && static_cast<uint128>(n) << (-32 * counts.low()) == all;
  }

  template <std::size_t Words>
  static bool add(std::array<std::uint64_t, Words>& sum, const std::array<std::uint64_t, Words>& other) {
    const bool before = sum.back() >> 63 != 0, added = other.back() >> 63 != 0;
    std::uint64_t carried = 0;
    for (std::size_t k = 0; k < Words; ++k) {
      const uint128 both = static_cast<uint128>(sum[k]) + other[k] + carried;
      sum[k] = static_cast<std::uint64_t>(both);
      carried = static_cast<std::uint64_t>(both >> 64);
    }
    return before != added || before == (sum.back() >> 63 != 0);
  }

  bool read(std::uint64_t n, const Total& total, const Squares& squares, Divisors& divisors, Spread& out) {
    out = {};
    excess_ = {};
    if (n == 0) return true;
    if (divisors.n != n) divisors = {n, WordDivisor(n), WordDivisor(n * n)};
    out.n = static_cast<double>(n);
    uint128 size = static_cast<uint128>(total[1]) << 64 | total[0];
    const bool negative = total[1] >> 63 != 0;
    if (negative) size = -size;
    if (size >> 126 != 0 || squares[3] >> 63 != 0 || !find_excess(n, size, squares)) return false;
    if (size != 0 && !find_mean(n, size, negative, divisors.by_n, out)) return false;
    if (excess_is_zero()) return true;
    Normal share = normal(excess_, excess_exponent_);
    divide(share, divisors.by_square);
    return root(share, out.unit);
  }

  // The mean and what it leaves out.
  bool find_mean(std::uint64_t n, uint128 size, bool negative, const WordDivisor& by_n, Spread& out) const {
    std::uint64_t mantissa = 0;
    std::int64_t exponent = 0;
    if (!share(size, total_unit_, by_n, mantissa, exponent)) return false;
    out.mean = of_parts(mantissa, exponent, negative);
    uint128 all = static_cast<uint128>(mantissa) * n;
    std::int64_t unit = total_unit_;
    if (exponent >= unit) {
      if (exponent - unit > 126 - width(all)) return false;
      all <<= exponent - unit;
    } else {
      if (unit - exponent > 126 - width(size)) return false;
      size <<= unit - exponent;
      unit = exponent;
    }
    if (size == all) return true;
    const bool below = size < all;
    if (!share(below ? all - size : size - all, unit, by_n, mantissa, exponent)) return false;
    out.mean_low = of_parts(mantissa, exponent, negative != below);
    return true;
  }

  // a 2^unit / n as a double, by its mantissa of 53 bits and its exponent.
  static bool share(uint128 a, std::int64_t unit, const WordDivisor& by_n, std::uint64_t& mantissa, std::int64_t& exponent) {
    const int shift = 128 - width(a);
    a <<= shift;
    std::uint64_t words[2] = {static_cast<std::uint64_t>(a), static_cast<std::uint64_t>(a >> 64)};
    const bool inexact = by_n.divide(words, 2) != 0;
    return rounded(static_cast<uint128>(words[1]) << 64 | words[0], unit - shift, inexact, mantissa, exponent);
  }

  // n times the sum of squares less the square of the sum.
  bool find_excess(std::uint64_t n, uint128 size, const Squares& squares) {
    std::uint64_t carried = 0;
    Squares over;
    for (std::size_t k = 0; k < over.size(); ++k) {
      const uint128 product = static_cast<uint128>(squares[k]) * n + carried;
      over[k] = static_cast<std::uint64_t>(product);
      carried = static_cast<std::uint64_t>(product >> 64);
    }
    if (carried != 0) return false;
    const auto low = static_cast<std::uint64_t>(size), high = static_cast<std::uint64_t>(size >> 64);
    const uint128 lowest = static_cast<uint128>(low) * low, cross = static_cast<uint128>(low) * high;
    const uint128 highest = static_cast<uint128>(high) * high;
    const uint128 second = (lowest >> 64) + static_cast<std::uint64_t>(cross << 1);  // twice the cross product, a word at a time
    const uint128 third = (second >> 64) + static_cast<std::uint64_t>(cross >> 63) + static_cast<std::uint64_t>(highest);
    const uint128 fourth = (third >> 64) + static_cast<std::uint64_t>(cross >> 127) + static_cast<std::uint64_t>(highest >> 64);
    Squares under = {static_cast<std::uint64_t>(lowest), static_cast<std::uint64_t>(second), static_cast<std::uint64_t>(third),
                     static_cast<std::uint64_t>(fourth)};
    const std::int64_t apart = square_unit_ - 2 * total_unit_;
    excess_exponent_ = std::min(square_unit_, 2 * total_unit_);
    if (!raise(apart > 0 ? over : under, apart > 0 ? apart : -apart)) return false;
    std::uint64_t borrowed = 0;
    for (std::size_t k = 0; k < over.size(); ++k) {
      const uint128 rest = static_cast<uint128>(over[k]) - under[k] - borrowed;
      excess_[k] = static_cast<std::uint64_t>(rest);
      borrowed = static_cast<std::uint64_t>(rest >> 64) != 0 ? 1 : 0;
    }
    return borrowed == 0;
  }

  bool excess_is_zero() const { return (excess_[0] | excess_[1] | excess_[2] | excess_[3]) == 0; }

  // The root of a share of the variance that was read last, of `divisors`.
  bool read_least(const Floor& floor, const Divisors& divisors, double& least) {
    least = 0;
    if (excess_is_zero() || floor.numerator == 0) return true;
    Normal share = normal(excess_, excess_exponent_);
    if (floor.numerator != 1) {
      std::uint64_t carried = 0;
      for (std::uint64_t& word : share.words) {
        const uint128 product = static_cast<uint128>(word) * floor.numerator + carried;
        word = static_cast<std::uint64_t>(product);
        carried = static_cast<std::uint64_t>(product >> 64);
      }
      if (carried != 0) {  // what is shifted out makes the number inexact
        const int shift = std::bit_width(carried);
        share.inexact = (share.words[0] & low_bits(shift)) != 0;
        for (std::size_t k = 0; k < share.words.size(); ++k) {
          const std::uint64_t above = k + 1 < share.words.size() ? share.words[k + 1] : carried;
          share.words[k] = shift == 64 ? above : share.words[k] >> shift | above << (64 - shift);
        }
        share.exponent += shift;
      }
    }
    divide(share, divisors.by_square);
    if (floor_divisor_ != floor.denominator) {
      floor_divisor_ = floor.denominator;
      by_floor_ = WordDivisor(floor.denominator);
    }
    divide(share, by_floor_);
    return root(share, least);
  }

  static std::uint64_t low_bits(int count) { return count == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1; }

  static Normal normal(const Squares& given, std::int64_t exponent) {
    Normal made{given, exponent, false};
    std::size_t words = 0;
    while (made.words[3 - words] == 0) ++words;
    const int bits = std::countl_zero(made.words[3 - words]);
    shift_up(made.words, words, bits);
    made.exponent -= 64 * static_cast<std::int64_t>(words) + bits;
    return made;
  }

  static void shift_up(Squares& given, std::size_t words, int bits) {
    for (std::size_t k = 4; k-- > 0;) {
      const std::uint64_t own = k >= words ? given[k - words] : 0, below = k > words ? given[k - words - 1] : 0;
      given[k] = bits == 0 ? own : own << bits | below >> (64 - bits);
    }
  }

  // Times 2^bits; whether nothing is lost.
  static bool raise(Squares& given, std::int64_t bits) {
    if (bits == 0) return true;
    std::int64_t room = 0;
    for (std::size_t k = 4; k-- > 0;) {
      room += std::countl_zero(given[k]);
      if (given[k] != 0) break;
    }
    if (room == 256) return true;
    if (bits > room) return false;
    shift_up(given, static_cast<std::size_t>(bits / 64), static_cast<int>(bits % 64));
    return true;
  }

  static void divide(Normal& given, const WordDivisor& divisor) { given.inexact |= divisor.divide(given.words.data(), 4) != 0; }

  // The root of a number of 127 bits or more.
  static bool root(const Normal& given, double& out) {
    // The 126 highest bits, or 127 of them, so that the exponent is even.
    std::size_t top = 3;
    while (given.words[top] == 0) --top;
    int shift = 64 * (static_cast<int>(top) - 1) + 64 - std::countl_zero(given.words[top]) - 62;
    if (((given.exponent + shift) & 1) != 0) --shift;
    const auto word = static_cast<std::size_t>(shift / 64);
    const int bits = shift % 64;
    bool inexact = given.inexact || (given.words[word] & low_bits(bits)) != 0;
    for (std::size_t k = 0; k < word; ++k) inexact |= given.words[k] != 0;
    const auto at = [&](std::size_t k) { return k < 4 ? given.words[k] : 0; };
    uint128 square = static_cast<uint128>(at(word + 1)) << 64 | at(word);
    if (bits > 0) square = square >> bits | static_cast<uint128>(at(word + 2)) << (128 - bits);
    // A root of 53 digits, and by a step of Newton the others.
    const double about = std::sqrt(static_cast<double>(square));
    auto guess = static_cast<std::uint64_t>(about);
    const auto rest = static_cast<double>(static_cast<int128>(square - static_cast<uint128>(guess) * guess));
    guess += static_cast<std::uint64_t>(static_cast<std::int64_t>(rest / (2 * about)));
    while (static_cast<uint128>(guess) * guess > square) --guess;
    while (static_cast<uint128>(guess + 1) * (guess + 1) <= square) ++guess;
    inexact |= static_cast<uint128>(guess) * guess != square;
    std::uint64_t mantissa = 0;
    std::int64_t exponent = 0;
    if (!rounded(guess, (given.exponent + shift) / 2, inexact, mantissa, exponent)) return false;
    out = of_parts(mantissa, exponent, false);
    return true;
  }

  // To the nearest mantissa of 53 bits, ties to even, of a number of 55 bits or more, or an exact one; false where the double is not
  // normal.
  static bool rounded(uint128 given, std::int64_t unit, bool inexact, std::uint64_t& mantissa, std::int64_t& exponent) {
    const int shift = width(given) - 53;
    exponent = unit + shift;
    if (shift <= 0) {
      if (inexact) return false;
      mantissa = static_cast<std::uint64_t>(given) << -shift;
    } else {
      mantissa = static_cast<std::uint64_t>(given >> shift);
      const uint128 half = static_cast<uint128>(1) << (shift - 1), rest = given & ((half << 1) - 1);
      if (rest > half || (rest == half && (inexact || (mantissa & 1) != 0))) ++mantissa;
      if (mantissa >> 53 != 0) {
        mantissa >>= 1;
        ++exponent;
      }
    }
    return exponent + 52 >= kLeastExponent && exponent + 52 <= kMostExponent;
  }

  static double of_parts(std::uint64_t mantissa, std::int64_t exponent, bool negative) {
    const auto biased = static_cast<std::uint64_t>(exponent + 52 + 1022);  // the highest bit of the mantissa adds 1
    return std::bit_cast<double>(static_cast<std::uint64_t>(negative) << 63 | ((biased << 52) + mantissa));
  }

  static int width(uint128 given) {
    const auto high = static_cast<std::uint64_t>(given >> 64);
    return high != 0 ? 64 + std::bit_width(high) : std::bit_width(static_cast<std::uint64_t>(given));
  }

  std::int64_t total_unit_ = 0, square_unit_ = 0;  // exponents of the sums
  Squares excess_{};                               // n^2 times the variance that was read last
  std::int64_t excess_exponent_ = 0;
  std::vector<Divisors> divisors_;  // of each class: most columns have as many values of it as the one before
  std::uint64_t floor_divisor_ = 1;
  WordDivisor by_floor_{1};
};

}  // namespace bayesbox
