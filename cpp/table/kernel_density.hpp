// A density as the sum of one normal curve of the same width at each of many weighted values.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>

#include "core/functions.hpp"
#include "core/interrupt.hpp"

namespace bayesbox {

// log of sum w_i exp(-((x - v_i) / width)^2 / 2) / (total width sqrt(2 pi)). Values ascend; weights are above zero.
//
// The largest term is that of the value nearest to x, at the distance m. Terms smaller than it by exp(-kReach) or more
// are left out: less than total * 4e-18 of it, together.
class KernelDensity {
 public:
  static constexpr double kReach = 40;

  KernelDensity(const double* values, const double* weights, std::size_t size, double width)
      : values_(values), weights_(weights), size_(size), width_(width) {
    double total = 0;
    for (std::size_t i = 0; i < size; ++i) total += weights[i];
    offset_ = -portable::log(total) - portable::log(width) - 0.5 * portable::log(2 * std::numbers::pi);
  }

  double log_density(double x) const {
    if (size_ == 0) return -std::numeric_limits<double>::infinity();
    const std::size_t above = static_cast<std::size_t>(std::lower_bound(values_, values_ + size_, x) - values_);
    poll(64);
    double nearest = std::numeric_limits<double>::infinity();
    if (above < size_) nearest = half_square(x, above);
    if (above > 0) nearest = std::min(nearest, half_square(x, above - 1));
    if (std::isinf(nearest)) return -nearest;
    double sum = 0;
    for (std::size_t i = above; i < size_; ++i) {
      poll_at(i - above + 1, 4);
      const double behind = half_square(x, i) - nearest;
      if (behind > kReach) break;
      sum += weights_[i] * portable::exp(-behind);
    }
    for (std::size_t i = above; i-- > 0;) {
      poll_at(above - i, 4);
      const double behind = half_square(x, i) - nearest;
      if (behind > kReach) break;
      sum += weights_[i] * portable::exp(-behind);
    }
    return portable::log(sum) - nearest + offset_;
  }

 private:
  double half_square(double x, std::size_t i) const {
    const double z = (x - values_[i]) / width_;
    return 0.5 * z * z;
  }

  const double* values_;
  const double* weights_;
  std::size_t size_;
  double width_, offset_ = 0;
};

}  // namespace bayesbox
