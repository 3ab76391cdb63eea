// Exact sums of a run of doubles: split into pieces whose sums are exact in plain doubles, then carried into limbs.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "exact_array.hpp"
#include "kernels.hpp"

namespace bayesbox {

inline bool is_fractional(double value) { return value != std::nearbyint(value); }

class RunSummer {
 public:
  RunSummer() : left_over_(2 * (kChunk + kPad)) {}

  struct Counts {
    std::int64_t n = 0;
    std::int64_t fractional = 0;
    bool infinite = false;
  };

  // Adds the `count` values to the cell; NaN is left out. The run is padded to a multiple of kPad, and is overwritten.
  Counts add(double* values, std::size_t count, ExactArray& total, ExactArray& squares, std::size_t cell) {
    Counts counts;
    for (std::size_t begin = 0; begin < count; begin += kChunk) {
      double* chunk = values + begin;
      std::size_t length = std::min(kChunk, count - begin);
      const std::size_t whole = padded(length);
      std::fill(chunk + length, chunk + whole, 0.0);
      const RunScan found = kernels_.scan(chunk, whole);
      if (found.has_nan) {
        length = without_nan(chunk, length);
        std::fill(chunk + length, chunk + padded(length), 0.0);
      }
      if (std::isinf(found.largest)) {
        counts.infinite = true;
        return counts;
      }
      counts.n += static_cast<std::int64_t>(length);
      if (found.largest > 0) counts.fractional += add_finite(chunk, length, found.largest, total, squares, cell);
    }
    return counts;
  }

  static constexpr std::size_t kChunk = 2048;

 private:
  // Splitting is safe where neither the squares of the largest nor those of the smallest pieces leave the range of
  // normal numbers.
  static constexpr int kLeastExponent = -300, kMostExponent = 480;
  static constexpr std::size_t kShort = 12;  // below this a value at a time is quicker
  static constexpr int kMostPasses = 4;

  static std::size_t without_nan(double* values, std::size_t count) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const double value = values[i];
      values[kept] = value;
      kept += value == value;
    }
    return kept;
  }

  // Returns how many of the values are fractional.
  std::int64_t add_finite(const double* values, std::size_t count, double largest, ExactArray& total,
                          ExactArray& squares, std::size_t cell) {
    std::int64_t fractional = -1;
    // Values too small beside the largest are set aside and split anew beside their own largest, while that pays.
    for (int pass = 0; pass < kMostPasses && count >= kShort; ++pass) {
      if (pass > 0) largest = kernels_.scan(values, padded(count)).largest;
      const int exponent = std::ilogb(largest) + 1;
      if (exponent < kLeastExponent || exponent > kMostExponent) break;
      double* left_over = left_over_.data() + (pass % 2) * (kChunk + kPad);
      const PieceSums sums = kernels_.split(values, padded(count), exponent, left_over);
      if (fractional < 0) fractional = static_cast<std::int64_t>(sums.fractional);
      add_pieces(sums, exponent, total, squares, cell);
      const bool scattered = sums.left > count / 2;
      values = left_over;
      count = sums.left;
      std::fill(left_over + count, left_over + padded(count), 0.0);
      if (scattered) break;
    }
    if (fractional < 0) fractional = std::count_if(values, values + count, is_fractional);
    for (std::size_t i = 0; i < count; ++i) {
      total.add(cell, values[i]);
      squares.add_product(cell, values[i], values[i]);
    }
    return fractional;
  }

  // x = h1 + h2 + h3, so x*x = h1 h1 + 2 h1 h2 + (2 h1 h3 + h2 h2) + 2 h2 h3 + h3 h3, each 21 bits below the last.
  static void add_pieces(const PieceSums& sums, int exponent, ExactArray& total, ExactArray& squares, std::size_t cell) {
    const int128 unit = 1;
    total.add_integer(cell, sums.first * (unit << 42) + sums.rest, exponent - 63);
    const int128 middle = 2 * static_cast<int128>(sums.first_third) + sums.second_second;
    squares.add_integer(cell, sums.first_first * (unit << 42) + sums.first_second * (unit << 22) + middle,
                        2 * exponent - 84);
    squares.add_integer(cell, sums.second_third * (unit << 22) + sums.third_third, 2 * exponent - 126);
  }

  const Kernels& kernels_ = kernels();
  std::vector<double> left_over_;
};

}  // namespace bayesbox
