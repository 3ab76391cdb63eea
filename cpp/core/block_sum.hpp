// Exact sums of a run of doubles: split into pieces whose sums are exact in plain doubles, then carried into limbs.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/exact_array.hpp"
#include "core/kernels.hpp"

namespace bayesbox {

inline bool is_fractional(double value) { return value != std::nearbyint(value); }

// x = h1 + h2 + h3, so x*x = h1 h1 + 2 h1 h2 + (2 h1 h3 + h2 h2) + 2 h2 h3 + h3 h3, each 22 bits below the last.
inline void add_pieces(const PieceSums& sums, int exponent, ExactArray& total, ExactArray& squares, std::size_t at) {
  const int128 unit = 1;
  total.add_integer(at, sums.first * (unit << 44) + sums.rest, exponent - 65);
  const int128 middle = 2 * static_cast<int128>(sums.first_third) + sums.second_second;
  squares.add_integer(at, sums.second_third * (unit << 23) + sums.third_third, 2 * exponent - 130);  // which makes room for all
  squares.add_integer(at, sums.first_first * (unit << 44) + sums.first_second * (unit << 23) + middle, 2 * exponent - 86);
}

class RunSummer {
 public:
  explicit RunSummer(std::size_t cells) : keeps_(cells <= kMostKept), held_(keeps_ ? cells : 1), left_over_(2 * (kChunk + kPad)) {}

  struct Cell {
    std::size_t index;  // among the cells of this summer
    ExactArray& total;
    ExactArray& squares;
    std::size_t at;  // in both
  };
  struct Counts {
    std::int64_t n = 0;
    std::int64_t fractional = 0;
    bool infinite = false;
  };

  // Adds the `count` values to the cell, complete after `finish`; NaN is ignored. The run is padded to a
  // multiple of kPad, and is overwritten.
  Counts add(double* values, std::size_t count, const Cell& cell, Ahead ahead) {
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
      if (found.largest > 0) counts.fractional += add_finite(chunk, length, found.largest, cell, ahead.from(begin));
    }
    if (!keeps_) finish(cell);
    return counts;
  }

  void finish(const Cell& cell) {
    Held& held = held_of(cell);
    if (held.values > 0) add_pieces(held.sums, held.exponent, cell);
    held = {};
  }

  static constexpr std::size_t kChunk = 2048;

 private:
  // Splitting is safe where neither the squares of the largest nor those of the smallest pieces leave the range of
  // normal numbers.
  static constexpr int kLeastExponent = -300, kMostExponent = 480;
  static constexpr int kSlack = 2;  // a run this many powers of two smaller still joins what is held
  static constexpr std::size_t kShort = 12;  // below this, single values are faster
  static constexpr int kMostPasses = 4;
  static constexpr std::size_t kMostKept = 16384;  // cells; with more there is no memory to hold their pieces

  // Pieces not yet carried into limbs, waiting for more runs of the same size.
  struct Held {
    PieceLanes sums;
    int exponent = 0;
    std::size_t values = 0;
  };
  Held& held_of(const Cell& cell) { return held_[keeps_ ? cell.index : 0]; }

  static bool can_split(int exponent) { return exponent >= kLeastExponent && exponent <= kMostExponent; }

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
  std::int64_t add_finite(const double* values, std::size_t count, double largest, const Cell& cell, Ahead ahead) {
    const int exponent = std::ilogb(largest) + 1;
    if (!can_split(exponent) || (count < kShort && !keeps_)) {
      add_one_by_one(values, count, cell);
      return std::count_if(values, values + count, is_fractional);
    }
    Held& held = held_of(cell);
    const bool joins = exponent <= held.exponent && exponent >= held.exponent - kSlack;
    if (!joins || held.values + padded(count) > kernels_.most_split) finish(cell);
    if (held.values == 0) held.exponent = exponent;
    held.values += padded(count);
    const SplitCounts found = kernels_.split(values, padded(count), held.exponent, left_over_.data(), held.sums, ahead);
    if (found.left > 0) add_left_over(found.left, found.left > count / 2, cell);
    return static_cast<std::int64_t>(found.fractional);
  }

  // Values too small relative to the largest of their run are split again relative to their own largest, while worthwhile.
  void add_left_over(std::size_t count, bool scattered, const Cell& cell) {
    double* values = left_over_.data();
    for (int pass = 1; pass < kMostPasses && count >= kShort && !scattered; ++pass) {
      std::fill(values + count, values + padded(count), 0.0);
      const int exponent = std::ilogb(kernels_.scan(values, padded(count)).largest) + 1;
      if (!can_split(exponent)) break;
      double* left_over = left_over_.data() + (pass % 2) * (kChunk + kPad);
      PieceLanes sums;
      const Ahead here{reinterpret_cast<const char*>(values), 0};  // nothing more to fetch
      const std::size_t left = kernels_.split(values, padded(count), exponent, left_over, sums, here).left;
      add_pieces(sums, exponent, cell);
      scattered = left > count / 2;
      values = left_over;
      count = left;
    }
    add_one_by_one(values, count, cell);
  }

  static void add_one_by_one(const double* values, std::size_t count, const Cell& cell) {
    for (std::size_t i = 0; i < count; ++i) {
      cell.total.add(cell.at, values[i]);
      cell.squares.add_product(cell.at, values[i], values[i]);
    }
  }

  void add_pieces(const PieceLanes& lanes, int exponent, const Cell& cell) const {
    bayesbox::add_pieces(kernels_.in_units(lanes, exponent), exponent, cell.total, cell.squares, cell.at);
  }

  const Kernels& kernels_ = kernels();
  bool keeps_;
  std::vector<Held> held_;
  std::vector<double> left_over_;
};

}  // namespace bayesbox
