// A calibration of log-posteriors, one row at a time; see bayesbox/stat/calibrate.py for what the kinds are.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/functions.hpp"

namespace bayesbox {

enum class CalibrationKind : std::uint8_t { none = 0, temperature = 1, isotonic = 2, dirichlet = 3, shares = 4 };

struct Calibration {
  CalibrationKind kind = CalibrationKind::none;
  double power = 1;                           // of temperature
  std::vector<std::vector<double>> at, curve;  // of isotonic, by class: log-odds, ascending, and the share there
  std::vector<double> slopes, offsets;         // of dirichlet: classes x classes, classes
  double share = 0;                            // of shares
  std::vector<double> log_shares;
  std::vector<double> shift;  // for another base rate than the one it was learned under; empty for the same

  bool is_plain() const { return kind == CalibrationKind::none && shift.empty(); }

  // log_p: the log-posteriors of a row, overwritten; `scratch` has room for as many.
  void apply(double* log_p, std::size_t classes, double* scratch) const {
    switch (kind) {
      case CalibrationKind::none: break;
      case CalibrationKind::temperature:
        for (std::size_t c = 0; c < classes; ++c) log_p[c] *= power;
        normalise(log_p, classes);
        break;
      case CalibrationKind::isotonic: {
        double total = 0;
        for (std::size_t c = 0; c < classes; ++c) total += scratch[c] = portable::exp(log_p[c]);
        for (std::size_t c = 0; c < classes; ++c) {
          double others = 0;  // not 1 - P, which loses what is small
          if (classes <= kFewClasses || scratch[c] > total / 2) {
            for (std::size_t k = 0; k < classes; ++k) others += k == c ? 0 : scratch[k];
          } else {
            others = total - scratch[c];
          }
          const double odds = std::max(log_p[c], portable::log(kSmallest)) - portable::log(std::max(others, kSmallest));
          log_p[c] = portable::log(std::max(interpolated(at[c], curve[c], odds), kSmallest));
        }
        normalise(log_p, classes);
        break;
      }
      case CalibrationKind::dirichlet:
        for (std::size_t c = 0; c < classes; ++c) scratch[c] = std::max(log_p[c], portable::log(kSmallest));
        for (std::size_t c = 0; c < classes; ++c) {
          double sum = 0;
          for (std::size_t k = 0; k < classes; ++k) sum += scratch[k] * slopes[k * classes + c];
          log_p[c] = sum + offsets[c];
        }
        normalise(log_p, classes);
        break;
      case CalibrationKind::shares: {
        const double own = portable::log1p(-share), other = portable::log(share);
        for (std::size_t c = 0; c < classes; ++c) log_p[c] = log_add(own + log_p[c], other + log_shares[c]);
        break;
      }
    }
    if (shift.empty()) return;
    for (std::size_t c = 0; c < classes; ++c) log_p[c] += shift[c];
    normalise(log_p, classes);
  }

 private:
  static constexpr double kSmallest = 1e-12;  // the least probability that takes part
  static constexpr std::size_t kFewClasses = 64;

  static void normalise(double* log_p, std::size_t classes) {
    const double top = *std::max_element(log_p, log_p + classes);
    double total = 0;
    for (std::size_t c = 0; c < classes; ++c) total += portable::exp(log_p[c] -= top);
    const double log_total = portable::log(total);
    for (std::size_t c = 0; c < classes; ++c) log_p[c] -= log_total;
  }

  static double log_add(double a, double b) {
    if (a == b) return a + portable::log(2.0);
    const double top = std::max(a, b), rest = std::min(a, b);
    return top + portable::log1p(portable::exp(rest - top));
  }

  // Straight lines between the points, the ends beyond them.
  static double interpolated(const std::vector<double>& at, const std::vector<double>& value, double x) {
    if (x <= at.front()) return value.front();
    if (x >= at.back()) return value.back();
    const std::size_t j = static_cast<std::size_t>(std::upper_bound(at.begin(), at.end(), x) - at.begin()) - 1;
    const double slope = (value[j + 1] - value[j]) / (at[j + 1] - at[j]);
    return slope * (x - at[j]) + value[j];
  }
};

}  // namespace bayesbox
