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

#include "core/column.hpp"
#include "core/functions.hpp"
#include "core/interrupt.hpp"
#include "core/kernels.hpp"
#include "table/class_order.hpp"
#include "table/gaussian_class.hpp"
#include "table/prefetch.hpp"

namespace bayesbox {

struct ScaledMoments {
  double n, mean, rest, q;

  double distance(double x, double scale) const { return ((x - mean) - rest) * scale; }
};

class LeaveOneOutGaussian {
 public:
  // `moments` holds the classes and then the whole column.
  LeaveOneOutGaussian(const double* moments, std::size_t classes, double floor, double scale)
      : classes_(classes), floor_(floor), scale_(scale), log_scale_(portable::log(scale)) {
    for (std::size_t c = 0; c <= classes; ++c) {
      const double* from = moments + 4 * c;
      moments_.push_back({from[0], from[1], from[2], from[3]});
      variances_.push_back(from[0] > 0 ? from[3] / from[0] : 0.0);
      constants_.push_back(constant(variances_.back()));
    }
    for (std::size_t c = 0; c < classes; ++c) {
      const double deviation = std::sqrt(variances_[c]) / scale_;
      others_.push_back(gaussian_class(moments_[c].mean, moments_[c].rest, deviation, constants_[c]));
      own_.push_back(left_out(c));
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

  // Whether runs of rows of class `own` can be worked out side by side.
  bool has_shortcut(std::size_t own) const { return own_[own].radius > 0; }
  const LeftOut& own(std::size_t label) const { return own_[label]; }
  const GaussianClass& other(std::size_t label) const { return others_[label]; }

 private:
  static constexpr double kDigitsKept = 1e-3;  // of a sum of squares: what is left keeps twelve digits and more
  static constexpr double kRounding = 1e-13;
  static constexpr double kLogRoot2Pi = 0.91893853320467274178;
  static constexpr double kLeastVariance = 1e-8;  // beside that of the column: products of many such do not underflow

  struct Reduced {
    double distance, q;
  };

  Reduced without(const ScaledMoments& moments, double x) const {
    const double d = moments.distance(x, scale_);
    const double wider = d * (moments.n / (moments.n - 1));
    return {wider, moments.q - d * wider};
  }

  // The shortcut takes the variances of all classes as they are and that of the own class without x, so none may be
  // lifted by the floor, and no sum of squares may lose its digits. Both hold for every x within a radius of the own
  // mean. (The floor sinks without x: here it is that of the full column.)
  LeftOut left_out(std::size_t own) const {
    const ScaledMoments& mine = moments_[own];
    const ScaledMoments& whole = moments_[classes_];
    LeftOut left{mine.mean, mine.rest, scale_, 0, mine.q, 0, log_scale_ - kLogRoot2Pi, 0};
    if (whole.n < 2 || mine.n < 2) return left;
    left.ratio = mine.n / (mine.n - 1);
    left.share = 1 / (mine.n - 1);
    const double least = std::max(floor_ * whole.q / (whole.n - 1), kLeastVariance);
    for (std::size_t c = 0; c < classes_; ++c)
      if (!(variances_[c] > least)) return left;
    const double kept = std::max(kDigitsKept * mine.q, least * (mine.n - 1));
    const double gap = std::abs(((mine.mean - whole.mean) + (mine.rest - whole.rest)) * scale_);
    const double whole_radius = std::sqrt((1 - kDigitsKept) * whole.q * ((whole.n - 1) / whole.n));
    left.radius = std::min(std::sqrt(std::max(0.0, mine.q - kept) / left.ratio), whole_radius - gap);
    return left;
  }

  double constant(double variance) const { return log_scale_ - kLogRoot2Pi - 0.5 * portable::log(variance); }

  std::size_t classes_;
  double floor_, scale_, log_scale_;
  std::vector<ScaledMoments> moments_;
  std::vector<double> variances_;
  std::vector<double> constants_;
  std::vector<GaussianClass> others_;
  std::vector<LeftOut> own_;
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
        values_(4 * padded(order_.capacity())),
        sums_(order_.capacity() * classes),
        variances_(order_.capacity(), 1.0),
        unsure_(order_.capacity()),
        places_(kBlock) {}

  void run(double* sums, std::uint8_t* doubtful) {
    for (std::size_t begin = 0; begin < target_.rows; begin += kBlock) {
      const std::size_t count = std::min(kBlock, target_.rows - begin);
      poll(count * classes_ * terms_.size());
      order_.sort(target_, begin, count);
      std::fill(sums_.begin(), sums_.end(), 0.0);
      std::fill(unsure_.begin(), unsure_.end(), 0);
      for (std::size_t j = 0; j < terms_.size(); j += 4) {
        add(j, std::min<std::size_t>(4, terms_.size() - j), begin);
        if ((j + 4) % kTermsALogarithm == 0) take_logarithms();
      }
      take_logarithms();
      for (const Run& run : order_.runs())
        for (std::size_t i = run.begin; i < run.begin + run.count; ++i) places_[order_.order()[i]] = static_cast<std::uint32_t>(i);
      for (std::size_t i = 0; i < count; ++i) {
        const auto own = static_cast<std::uint32_t>(order_.labels()[i]);
        doubtful[begin + i] = finish(places_[i], begin + i, own, sums + (begin + i) * classes_);
      }
    }
  }

 private:
  static constexpr std::size_t kBlock = 1024;
  static constexpr std::size_t kTermsALogarithm = 32;

  // Up to four columns from the first on.
  void add(std::size_t first, std::size_t columns, std::size_t begin) {
    double* const buffers[4] = {buffer(0), buffer(1), buffer(2), buffer(3)};
    const auto column_at = [this](std::size_t j) -> const Column& { return terms_[j].values; };
    const bool four = four_side_by_side(first, terms_.size(), Kind::float64, column_at);
    if (four) {
      const Column& column = terms_[first].values;
      void* const out[4] = {buffers[0], buffers[1], buffers[2], buffers[3]};
      kernels().gather_four(column.at(begin), column.stride, order_.order(), order_.length(), out);
    } else {
      for (std::size_t k = 0; k < columns; ++k)
        gather_doubles(terms_[first + k].values, begin, order_.order(), order_.length(), buffers[k]);
    }
    for (const Run& run : order_.runs()) {
      for (std::size_t k = 0; k < columns; ++k) {
        double* values = buffers[k] + run.begin;
        std::fill_n(values + run.count, padded(run.count) - run.count, values[0]);
      }
      add_run(first, columns, run, buffers);
    }
    const std::size_t next = std::min(begin + kBlock, target_.rows - 1);
    for (std::size_t k = 0; k < columns; ++k) fetch(next_block(column_at, first + k, terms_.size(), next, kBlock, four), kBlock);
  }

  void add_run(std::size_t first, std::size_t columns, const Run& run, const double* const* buffers) {
    const double* values[4];
    Ahead here[4];  // nothing more to fetch
    const LeftOut* own[4];
    GaussianClass others[4];
    bool shortcut = true;
    for (std::size_t k = 0; k < columns; ++k) {
      values[k] = buffers[k] + run.begin;
      here[k] = {reinterpret_cast<const char*>(values[k]), 0};
      own[k] = &terms_[first + k].gaussian.own(run.label);
      shortcut = shortcut && terms_[first + k].gaussian.has_shortcut(run.label);
    }
    if (!shortcut) {
      std::fill_n(unsure_.data() + run.begin, run.count, 1);
      return;
    }
    const std::size_t count = padded(run.count);
    const bool holes = kernels().any_nan(values, columns, count);
    for (std::size_t c = 0; c < classes_; ++c) {
      double* sums = sums_.data() + c * order_.capacity() + run.begin;
      if (c == run.label) {
        kernels().leave_one_out(values, columns, count, holes, own, sums, variances_.data() + run.begin, unsure_.data() + run.begin);
        continue;
      }
      for (std::size_t k = 0; k < columns; ++k) others[k] = terms_[first + k].gaussian.other(c);
      kernels().add_gaussians(values, columns, count, holes, others, 1, sums, order_.capacity(), here);
    }
  }

  double* buffer(std::size_t k) { return values_.data() + k * padded(order_.capacity()); }

  void take_logarithms() {
    for (const Run& run : order_.runs()) {
      double* sums = sums_.data() + run.label * order_.capacity();
      kernels().logarithms(variances_.data() + run.begin, padded(run.count));
      for (std::size_t i = run.begin; i < run.begin + run.count; ++i) sums[i] -= 0.5 * variances_[i];
    }
    std::fill(variances_.begin(), variances_.end(), 1.0);
  }

  // Whether the row is doubtful.
  bool finish(std::size_t place, std::size_t row, std::size_t own, double* sums) const {
    if (own < classes_ && !unsure_[place]) {
      for (std::size_t c = 0; c < classes_; ++c) sums[c] = sums_[c * order_.capacity() + place];
      return false;
    }
    std::fill_n(sums, classes_, 0.0);
    if (own >= classes_) return true;
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
  std::vector<double> values_;
  std::vector<double> sums_;  // class by class
  std::vector<double> variances_;
  std::vector<std::uint8_t> unsure_;
  std::vector<std::uint32_t> places_;  // of the rows of a block in its order
};

// The sums of the terms, rows x classes; NaN adds nothing. `doubtful` marks the rows whose terms are to be worked out
// exactly instead, those with a label outside included.
inline void leave_one_out(const std::vector<LeaveOneOutTerm>& terms, const Column& target, std::size_t classes,
                          double* sums, std::uint8_t* doubtful) {
  LeaveOneOut(terms, target, classes).run(sums, doubtful);
}

}  // namespace bayesbox
