// Log-densities of one number in every class, for a scorer. Each is worked out by the operations of its family in Python
// (dist/number), one after another, so that a single row has the bits of a whole table.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "core/functions.hpp"
#include "table/kernel_density.hpp"

namespace bayesbox {

class NumberDensity {
 public:
  virtual ~NumberDensity() = default;
  // One number a class, of a finite x; zeros where x says nothing of the class.
  virtual void log_densities(double x, double* out) const = 0;
};

// x - y, clipped to the largest double.
inline double distance_within_doubles(double x, double y) {
  constexpr double kGreatest = std::numeric_limits<double>::max();
  return std::clamp(x - y, -kGreatest, kGreatest);
}

class NormalDensity final : public NumberDensity {
 public:
  NormalDensity(std::vector<double> mean, std::vector<double> mean_low, std::vector<double> std, std::vector<double> constant)
      : mean_(std::move(mean)), mean_low_(std::move(mean_low)), std_(std::move(std)), constant_(std::move(constant)) {}

  void log_densities(double x, double* out) const override {
    for (std::size_t c = 0; c < mean_.size(); ++c) {
      const double z = ((x - mean_[c]) - mean_low_[c]) / std_[c];
      out[c] = constant_[c] - 0.5 * z * z;
    }
  }

 private:
  std::vector<double> mean_, mean_low_, std_, constant_;
};

// The constant is the log of the density at its middle.
class StudentDensity final : public NumberDensity {
 public:
  StudentDensity(double base, std::vector<double> shift, std::vector<double> scale, std::vector<double> df, std::vector<double> constant)
      : base_(base), shift_(std::move(shift)), scale_(std::move(scale)), df_(std::move(df)), constant_(std::move(constant)) {}

  void log_densities(double x, double* out) const override {
    const double from_base = distance_within_doubles(x, base_);
    for (std::size_t c = 0; c < shift_.size(); ++c) {
      const double z = distance_within_doubles(from_base, shift_[c]) / scale_[c];
      out[c] = constant_[c] - (df_[c] + 1) / 2 * portable::log1p(z * z / df_[c]);
    }
  }

 private:
  double base_;
  std::vector<double> shift_, scale_, df_, constant_;
};

// The constant is log sqrt(2 pi); numbers of 0 and below have a term of their own.
class LogNormalDensity final : public NumberDensity {
 public:
  LogNormalDensity(std::vector<double> mean, std::vector<double> std, std::vector<double> log_positive,
                   std::vector<double> nonpositive, double constant)
      : mean_(std::move(mean)),
        std_(std::move(std)),
        log_positive_(std::move(log_positive)),
        nonpositive_(std::move(nonpositive)),
        constant_(constant) {
    for (const double each : std_) log_std_.push_back(portable::log(each));
  }

  void log_densities(double x, double* out) const override {
    if (!(x > 0)) {
      std::copy(nonpositive_.begin(), nonpositive_.end(), out);
      return;
    }
    const double log_x = portable::log(x);
    for (std::size_t c = 0; c < mean_.size(); ++c) {
      const double z = (log_x - mean_[c]) / std_[c];
      out[c] = log_positive_[c] - 0.5 * z * z - log_std_[c] - constant_ - log_x;
    }
  }

 private:
  std::vector<double> mean_, std_, log_std_, log_positive_, nonpositive_;
  double constant_;
};

// The curves of one class, and their log-density at points of equal distance, if there are so many curves that it is
// interpolated.
struct KernelClass {
  std::vector<double> values, weights;
  double width = 1, start = 0, step = 1;
  std::vector<double> grid;
};

class KernelClasses final : public NumberDensity {
 public:
  explicit KernelClasses(std::vector<KernelClass> classes) : classes_(std::move(classes)) {
    for (const KernelClass& each : classes_) curves_.emplace_back(each.values.data(), each.weights.data(), each.values.size(), each.width);
  }

  void log_densities(double x, double* out) const override {
    bool near = false;
    for (std::size_t c = 0; c < classes_.size(); ++c) {
      out[c] = log_density(c, x);
      near = near || out[c] != -std::numeric_limits<double>::infinity();
    }
    if (!near) std::fill_n(out, classes_.size(), 0.0);  // so far away that no double tells how far
  }

 private:
  // Lagrange's cubic through the two points on either side; beyond the points all curves are added up.
  double log_density(std::size_t label, double x) const {
    const KernelClass& own = classes_[label];
    const double place = (x - own.start) / own.step;
    if (own.grid.size() < 4 || !(place >= 1) || !(place < static_cast<double>(own.grid.size() - 2))) return curves_[label].log_density(x);
    const auto first = static_cast<std::size_t>(place);
    const double t = place - static_cast<double>(first);
    const double* at = own.grid.data() + first;
    return -t * (t - 1) * (t - 2) / 6 * at[-1] + (t + 1) * (t - 1) * (t - 2) / 2 * at[0] - (t + 1) * t * (t - 2) / 2 * at[1] +
           (t + 1) * t * (t - 1) / 6 * at[2];
  }

  std::vector<KernelClass> classes_;
  std::vector<KernelDensity> curves_;
};

// The average of two densities, whose shares are given as logs.
class MixedDensity final : public NumberDensity {
 public:
  MixedDensity(std::unique_ptr<NumberDensity> one, std::unique_ptr<NumberDensity> other, double log_one, double log_other,
               std::size_t classes)
      : one_(std::move(one)), other_(std::move(other)), log_one_(log_one), log_other_(log_other), classes_(classes) {}

  void log_densities(double x, double* out) const override {
    double few[8];
    std::vector<double> many(classes_ > 8 ? classes_ : 0);
    double* second = many.empty() ? few : many.data();
    one_->log_densities(x, out);
    other_->log_densities(x, second);
    for (std::size_t c = 0; c < classes_; ++c) {
      const double a = out[c] + log_one_, b = second[c] + log_other_, top = std::max(a, b);
      out[c] = std::isinf(top) ? top : top + portable::log1p(portable::exp(-std::fabs(a - b)));
    }
  }

 private:
  std::unique_ptr<NumberDensity> one_, other_;
  double log_one_, log_other_;
  std::size_t classes_;
};

}  // namespace bayesbox
