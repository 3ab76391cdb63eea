// The density of a number that is a t in each cell of the fixed grid, raised or lowered cell by cell, and mixed with one
// density for all classes.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/interrupt.hpp"

namespace bayesbox {

// A cell by its place in the order of numbers: 0 and up from zero on, -1 and down for negative numbers.
inline std::int32_t cell_key(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const auto size = static_cast<std::int32_t>(bits << 1 >> 50);
  return bits >> 63 != 0 && value != 0 ? -1 - size : size;
}

struct CellDensity {
  std::size_t classes = 0;            // without the common density, which is the last of each row of parameters
  bool is_log = false;                // whether the t is one of log x
  double base = 0;
  std::int32_t first_key = 0;
  std::vector<std::int32_t> runs;     // the run of each key, from the first one; those beyond the ends have the end's
  std::vector<double> heights;        // runs x (classes + 1): the log of what the t is multiplied by
  std::vector<double> parameters;     // (classes + 1) x (shift, scale, df)

  // log(exp(class) + exp(common)) of each class.
  void log_density(double value, double* logs, double* out) const {
    const double x = is_log ? std::log(value) : value;
    const auto last = static_cast<std::int32_t>(runs.size()) - 1;
    const std::int32_t place = std::clamp(cell_key(value) - first_key, 0, last);
    const double* height = heights.data() + static_cast<std::size_t>(runs[static_cast<std::size_t>(place)]) * (classes + 1);
    const double away = std::clamp(x - base, -kGreatest, kGreatest);
    for (std::size_t c = 0; c <= classes; ++c) {
      const double* of = parameters.data() + 3 * c;
      const double z = (away - of[0]) / of[1];
      logs[c] = height[c] - (of[2] + 1) / 2 * log_share(z, of[2]);
    }
    const double common = logs[classes] - (is_log ? x : 0);
    for (std::size_t c = 0; c < classes; ++c) out[c] = common + std::log(1 + std::exp(logs[c] - logs[classes]));
  }

 private:
  static constexpr double kGreatest = 1.7976931348623157e308;

  // log(1 + z * z / df), where the square may be too large for a double.
  static double log_share(double z, double df) {
    const double size = std::min(std::fabs(z), kGreatest);  // a distance in small units need not be a double
    if (!(size < 1e150)) return 2 * std::log(size) - std::log(df);
    const double share = z * z / df, whole = 1 + share;
    return std::log(whole) + (share - (whole - 1)) / whole;  // log1p, which takes longer
  }
};

inline void cell_log_densities(const CellDensity& density, const std::vector<double>& values, double* out) {
  std::vector<double> logs(density.classes + 1);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i % 1024 == 0) poll(1024 * 8 * (density.classes + 1));
    density.log_density(values[i], logs.data(), out + i * density.classes);
  }
}

}  // namespace bayesbox
