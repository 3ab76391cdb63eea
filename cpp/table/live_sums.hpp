// The sums of some numbers about a base near their mean, in two doubles, which a live model keeps up to date row by row.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "core/double_double.hpp"

namespace bayesbox {

struct LiveSums {
  std::int64_t n = 0, fractional = 0;  // values, and those of them that are not whole
  DoubleDouble total, squares;         // of the distances from the base

  void count(double value, double base, std::int64_t sign) {
    const DoubleDouble away = DoubleDouble::sum(value, -base), square = away * away;
    n += sign;
    fractional += value != std::floor(value) ? sign : 0;
    total = sign > 0 ? total + away : total - away;
    squares = sign > 0 ? squares + square : squares - square;
  }

  // The same with some more zeros.
  LiveSums with_zeros(std::int64_t zeros, double base) const {
    const DoubleDouble many{static_cast<double>(zeros), 0}, product = DoubleDouble::product(base, base);
    LiveSums found = *this;
    found.n += zeros;
    found.total = total - DoubleDouble{base, 0} * many;
    found.squares = squares + product * many;
    return found;
  }

  DoubleDouble mean() const { return total.over(static_cast<double>(n)); }
  // n times the population variance
  DoubleDouble excess() const { return squares - mean() * total; }

  // The mean, from the base, and the population variance; false where too many digits cancel.
  bool spread(DoubleDouble& from_base, DoubleDouble& variance) const {
    from_base = mean();
    const DoubleDouble rest = excess();
    variance = n == 1 ? DoubleDouble{} : rest.over(static_cast<double>(n));
    return std::isfinite(variance.high) && std::isfinite(from_base.high) && squares.high <= 1e12 * std::max(rest.high, 0.0);
  }

  // Whether some values surely have these sums, and do not all equal one another: what the exact tallies are asked after a
  // value was taken out (`Moments.impossible`); nor are they all 0 or 1, as flags are.
  bool surely_possible(double base) const {
    constexpr double kClear = 1e-18;
    if (n < 1 || fractional < 0 || fractional > n) return false;
    const DoubleDouble rest = excess();
    if (!std::isfinite(rest.high) || !(rest.high > kClear * squares.high)) return false;
    if (fractional > 0) return true;
    // Of whole numbers the sum of squares is at least that of their sizes, and more unless all are -1, 0 or 1.
    const DoubleDouble by{base, 0}, many{static_cast<double>(n), 0}, middle = by * total;
    const DoubleDouble sum = total + by * many, square = squares + middle + middle + by * by * many;
    const double least = std::fabs(sum.high), size = squares.high + 2 * std::fabs(middle.high) + base * base * static_cast<double>(n);
    return std::isfinite(size) && square.high - least > kClear * size;
  }
};

// The root of a number in two doubles, rounded.
inline double rounded_root(const DoubleDouble& number) {
  if (!(number.high > 0)) return 0;
  const double root = std::sqrt(number.high);
  return root + (number - DoubleDouble::product(root, root)).high / (2 * root);
}

}  // namespace bayesbox
