// Gaussian terms of each row under the moments of all other rows.
//
// With n, mean and q = n * variance of a class and d = x - mean, the class has without x
//
//   n' = n - 1     x - mean' = d n / n'     q' = q - d^2 n / n'
//
// and the whole column likewise; its variance times `floor` is the least variance of every class. All is in units of
// `scale`, a power of two that brings the column's deviation near 1, so that no square over- or underflows.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "column.hpp"

namespace bayesbox {

struct ScaledMoments {
  double n, mean, rest, q;

  double distance(double x, double scale) const { return ((x - mean) - rest) * scale; }
};

class LeaveOneOutGaussian {
 public:
  // `moments` holds the classes and then the whole column.
  LeaveOneOutGaussian(const double* moments, std::size_t classes, double floor, double scale)
      : classes_(classes), floor_(floor), scale_(scale), log_scale_(std::log(scale)) {
    for (std::size_t c = 0; c <= classes; ++c) {
      const double* from = moments + 4 * c;
      moments_.push_back({from[0], from[1], from[2], from[3]});
      variances_.push_back(from[0] > 0 ? from[3] / from[0] : 0.0);
      constants_.push_back(constant(variances_.back()));
    }
  }

  // Adds the terms of one value to `terms`; false where they are not certain to full precision.
  bool add(double x, std::size_t own, double* terms) const {
    const ScaledMoments& whole = moments_[classes_];
    const double left = whole.n - 1;
    if (left < 1 || moments_[own].n < 1) return false;
    const Reduced all = without(whole, x);
    const double least = floor_ * all.q / left;
    // The floor may decide, so a floor made of a difference that cancelled is as doubtful as a variance.
    if (all.q <= kDigitsKept * whole.q) return false;
    for (std::size_t c = 0; c < classes_; ++c) {
      double variance, distance;
      if (c == own && moments_[c].n > 1) {
        const Reduced reduced = without(moments_[c], x);
        variance = reduced.q / (moments_[c].n - 1);
        distance = reduced.distance;
        const bool hidden = (reduced.q + kRounding * moments_[c].q) < least * (moments_[c].n - 1);
        if (reduced.q <= kDigitsKept * moments_[c].q && !hidden) return false;
      } else if (c == own || moments_[c].n == 0) {
        variance = all.q / left;  // no value is left: the density of the whole column
        distance = all.distance;
      } else if (variances_[c] >= least && variances_[c] > 0) {
        const double d = moments_[c].distance(x, scale_);
        terms[c] += constants_[c] - 0.5 * (d * d) / variances_[c];
        continue;
      } else {
        variance = variances_[c];
        distance = moments_[c].distance(x, scale_);
      }
      variance = std::max(variance, least);
      if (!(variance > 0)) return false;
      terms[c] += constant(variance) - 0.5 * (distance * distance) / variance;
    }
    return true;
  }

 private:
  static constexpr double kDigitsKept = 1e-3;  // of a sum of squares: what is left keeps twelve digits and more
  static constexpr double kRounding = 1e-13;
  static constexpr double kLogRoot2Pi = 0.91893853320467274178;

  struct Reduced {
    double distance, q;
  };

  Reduced without(const ScaledMoments& moments, double x) const {
    const double d = moments.distance(x, scale_);
    const double wider = d * (moments.n / (moments.n - 1));
    return {wider, moments.q - d * wider};
  }

  double constant(double variance) const { return log_scale_ - kLogRoot2Pi - 0.5 * std::log(variance); }

  std::size_t classes_;
  double floor_, scale_, log_scale_;
  std::vector<ScaledMoments> moments_;
  std::vector<double> variances_;
  std::vector<double> constants_;
};

struct LeaveOneOutTerm {
  Column values;
  LeaveOneOutGaussian gaussian;
};

// The sums of the terms, rows x classes, from zeros; NaN adds nothing. `doubtful` marks the rows whose terms are to be
// worked out exactly instead: those with a class outside too.
inline void leave_one_out(const std::vector<LeaveOneOutTerm>& terms, const Column& target, std::size_t classes,
                          double* sums, std::uint8_t* doubtful) {
  constexpr std::size_t kBlock = 256;
  std::vector<double> values(kBlock);
  std::vector<std::int32_t> own(kBlock);
  for (std::size_t begin = 0; begin < target.rows; begin += kBlock) {
    const std::size_t count = std::min(kBlock, target.rows - begin);
    for (std::size_t i = 0; i < count; ++i) {
      own[i] = load<std::int32_t>(target.at(begin + i));
      if (own[i] < 0 || static_cast<std::size_t>(own[i]) >= classes) doubtful[begin + i] = 1;
    }
    for (const LeaveOneOutTerm& term : terms) {
      read_doubles(term.values, begin, count, values.data());
      for (std::size_t i = 0; i < count; ++i)
        if (!doubtful[begin + i] && !std::isnan(values[i]))
          doubtful[begin + i] = !term.gaussian.add(values[i], own[i], sums + (begin + i) * classes);
    }
  }
}

}  // namespace bayesbox
