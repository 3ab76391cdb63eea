// The density of a number that is a t in each cell of the fixed grid, raised or lowered cell by cell, and mixed with one
// density for all classes.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "core/functions.hpp"

namespace bayesbox {

inline constexpr std::int32_t kCellSizes = 16'384;

// The exponent and the first bits of the mantissa.
inline std::int32_t cell_size(double value) {
  return static_cast<std::int32_t>(std::bit_cast<std::uint64_t>(value) << 1 >> 50);
}

// A cell by its place in the order of numbers: 0 and up from zero on, -1 and down for negative numbers.
inline std::int32_t cell_key(double value) {
  const std::int32_t size = cell_size(value);
  return std::signbit(value) && value != 0 ? -1 - size : size;
}

// It points into arrays of the caller.
struct CellDensity {
  std::size_t classes = 0;  // without the common density, which is the last
  bool is_log = false;      // whether the t is one of log x, over x; a value that has no log says nothing
  double base = 0;
  // The run of each key whose size (see cell_size) is one of `sizes` from the least on: the negative ones, then the others, in
  // the order of numbers. Smaller and larger sizes have the run of the nearest.
  const std::uint16_t* run_of = nullptr;
  std::int32_t least_size = 0;
  std::size_t sizes = 1;
  std::size_t runs = 0;
  const double* heights = nullptr;     // (classes + 1) x runs: the log of what the t is multiplied by, but for `added`
  const double* added = nullptr;       // 3 x (classes + 1): what is added to it, one after the other; or null
  const double* ratios = nullptr;      // classes x runs: that of the class over the common one, no logs
  const double* parameters = nullptr;  // (classes + 1) x (shift, scale, df)
  const double* zeros = nullptr;       // the log-probability of zero in each class, where that is apart; else null

  double height(std::size_t c, std::size_t run) const {
    const double own = heights[c * runs + run];
    if (added == nullptr) return own;
    return ((own + added[c]) + added[classes + 1 + c]) + added[2 * (classes + 1) + c];
  }

  std::size_t run_at(double value) const {
    const auto count = static_cast<std::int32_t>(sizes), key = cell_key(value);
    const std::int32_t place = std::clamp((key < 0 ? -1 - key : key) - least_size, 0, count - 1);
    return std::min<std::size_t>(run_of[count + (key < 0 ? -1 - place : place)], runs - 1);
  }

  // The same as the vectors of cell_kernels.hpp, one value at a time and wholly in logs, so for any value but NaN:
  // log(exp(class) + exp(common)) of each class, or less the common one. -inf of an infinite value.
  void log_density(double value, bool with_common, double* out) const {
    if (std::isinf(value)) {
      std::fill_n(out, classes, -INFINITY);
    } else if (value == 0 && zeros != nullptr) {
      std::copy_n(zeros, classes, out);
    } else if (is_log && value <= 0) {
      std::fill_n(out, classes, 0.0);
    } else {
      const double x = is_log ? portable::log(value) : value;
      const double away = std::clamp(x - base, -kGreatest, kGreatest);
      const std::size_t run = run_at(value);
      const double common = log_height(away, run, classes), outside = with_common ? common - (is_log ? x : 0) : 0;
      for (std::size_t c = 0; c < classes; ++c) {
        const double above = log_height(away, run, c) - common;
        out[c] = outside + std::max(above, 0.0) + portable::log1p(portable::exp(-std::fabs(above)));
      }
    }
  }

 private:
  static constexpr double kGreatest = 1.7976931348623157e308;

  double log_height(double away, std::size_t run, std::size_t c) const {
    const double* of = parameters + 3 * c;
    return height(c, run) - (of[2] + 1) / 2 * log_share((away - of[0]) / of[1], of[2]);
  }

  // log(1 + z * z / df), where the square may be too large for a double.
  static double log_share(double z, double df) {
    const double size = std::min(std::fabs(z), kGreatest);  // a distance in small units need not be a double
    return size < 1e150 ? portable::log1p(z * z / df) : 2 * portable::log(size) - portable::log(df);
  }
};

}  // namespace bayesbox
