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
#include <limits>
#include <vector>

#include "class_order.hpp"
#include "column.hpp"
#include "kernels.hpp"

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
      const ScaledMoments& now = moments_.back();
      others_.push_back({now.mean, now.rest, variances_.back(), 0.5 / variances_.back(), constants_.back()});
      shortcut_ = shortcut_ && variances_.back() > 0;
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

  // The same for a run of rows of one class, side by side; see Kernels::leave_one_out.
  void add_run(const double* values, std::size_t count, std::size_t own, double* sums, std::size_t row_stride,
               double* variances, std::uint8_t* unsure) const {
    const ScaledMoments& whole = moments_[classes_];
    if (whole.n < 2 || moments_[own].n < 2 || !shortcut_) {
      std::fill_n(unsure, count, 1);
      return;
    }
    const LeftOutColumn column{left_out(whole), scale_, log_scale_ - kLogRoot2Pi, floor_ / (whole.n - 1)};
    kernels().leave_one_out(values, count, column, left_out(moments_[own]), 1 / (moments_[own].n - 1), others_.data(),
                            classes_, own, sums, row_stride, variances, unsure);
  }

 private:
  static LeftOut left_out(const ScaledMoments& of) {
    return {of.mean, of.rest, of.n / (of.n - 1), of.q, kDigitsKept * of.q};
  }

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
  std::vector<LeftOutOther> others_;
  bool shortcut_ = true;  // every class has values, and they differ
};

struct LeaveOneOutTerm {
  Column values;
  LeaveOneOutGaussian gaussian;
};

// Rows go through in blocks sorted by class, so that the moments of a row's own class are constants of a run; the rare
// rows for which a shortcut of the run may not hold are done one by one.
class LeaveOneOut {
 public:
  LeaveOneOut(const std::vector<LeaveOneOutTerm>& terms, const Column& target, std::size_t classes)
      : terms_(terms),
        target_(target),
        classes_(classes),
        order_(classes, kBlock),
        read_(kBlock),
        values_(order_.capacity()),
        sums_(order_.capacity() * classes),
        variances_(order_.capacity()),
        unsure_(order_.capacity()) {}

  void run(double* sums, std::uint8_t* doubtful) {
    for (std::size_t begin = 0; begin < target_.rows; begin += kBlock) {
      const std::size_t count = std::min(kBlock, target_.rows - begin);
      std::fill_n(doubtful + begin, count, 1);  // until the row is found in a run
      order_.sort(target_, begin, count);
      std::fill(sums_.begin(), sums_.end(), 0.0);
      std::fill(variances_.begin(), variances_.end(), 1.0);
      std::fill(unsure_.begin(), unsure_.end(), 0);
      for (std::size_t j = 0; j < terms_.size(); ++j) {
        add(terms_[j], begin, count);
        if ((j + 1) % kTermsALogarithm == 0) take_logarithms();
      }
      take_logarithms();
      for (const Run& run : order_.runs())
        for (std::size_t i = run.begin; i < run.begin + run.count; ++i) {
          const std::size_t row = begin + order_.order()[i];
          doubtful[row] = finish(i, row, run.label, sums + row * classes_);
        }
    }
  }

 private:
  static constexpr std::size_t kBlock = 1024;
  static constexpr std::size_t kTermsALogarithm = 32;

  void add(const LeaveOneOutTerm& term, std::size_t begin, std::size_t count) {
    read_doubles(term.values, begin, count, read_.data());
    for (const Run& run : order_.runs()) {
      double* values = values_.data() + run.begin;
      for (std::size_t i = 0; i < run.count; ++i) values[i] = read_[order_.order()[run.begin + i]];
      std::fill_n(values + run.count, padded(run.count) - run.count, std::numeric_limits<double>::quiet_NaN());
      term.gaussian.add_run(values, padded(run.count), run.label, sums_.data() + run.begin, order_.capacity(),
                            variances_.data() + run.begin, unsure_.data() + run.begin);
    }
  }

  void take_logarithms() {
    for (const Run& run : order_.runs())
      for (std::size_t i = run.begin; i < run.begin + run.count; ++i) {
        sums_[run.label * order_.capacity() + i] -= 0.5 * std::log(variances_[i]);
        variances_[i] = 1.0;
      }
  }

  // Whether the row is doubtful.
  bool finish(std::size_t i, std::size_t row, std::size_t own, double* sums) const {
    for (std::size_t c = 0; c < classes_; ++c) sums[c] = unsure_[i] ? 0.0 : sums_[c * order_.capacity() + i];
    if (!unsure_[i]) return false;
    for (const LeaveOneOutTerm& term : terms_) {
      const double x = value_at(term.values, row);
      if (!std::isnan(x) && !term.gaussian.add(x, own, sums)) return true;
    }
    return false;
  }

  const std::vector<LeaveOneOutTerm>& terms_;
  const Column& target_;
  std::size_t classes_;
  ClassOrder order_;
  std::vector<double> read_;
  std::vector<double> values_;
  std::vector<double> sums_;  // class by class
  std::vector<double> variances_;
  std::vector<std::uint8_t> unsure_;
};

// The sums of the terms, rows x classes; NaN adds nothing. `doubtful` marks the rows whose terms are to be worked out
// exactly instead, those with a label outside included.
inline void leave_one_out(const std::vector<LeaveOneOutTerm>& terms, const Column& target, std::size_t classes,
                          double* sums, std::uint8_t* doubtful) {
  LeaveOneOut(terms, target, classes).run(sums, doubtful);
}

}  // namespace bayesbox
