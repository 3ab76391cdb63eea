// The robust density of a column of numbers, from counts that a live model keeps up to date row by row.
//
// The formulas are those of bayesbox/dist/number/robust.py: what is chosen for the column, the t of each class, and what it is
// multiplied by in the cell of one value. A question needs one path of the tree, so nothing is made anew when a row is learned;
// what does not depend on the value is kept until the next row.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

#include "core/double_double.hpp"
#include "core/functions.hpp"
#include "core/kernels.hpp"
#include "table/cell_density.hpp"
#include "table/cell_tree.hpp"
#include "table/live_sums.hpp"
#include "table/log_moments.hpp"

namespace bayesbox {

class LiveRobust {
 public:
  // rest: the sums of the values that are not zero, of each class and, last, of the column; zeros: those that are.
  LiveRobust(double base, std::vector<LiveSums> rest, std::vector<std::int64_t> zeros)
      : classes_(rest.size() - 1), base_(base), rest_(std::move(rest)), zeros_(std::move(zeros)), logs_(classes_), tree_(classes_) {
    lines_.resize(classes_ + 1);
    ratios_.resize(classes_ + 1);
    heights_.resize(classes_ + 1);
    own_.resize(classes_);
    for (Spread& spread : spreads_) spread.resize(classes_);
  }

  // Enters values of a cell that is not zero, whose sums are known.
  void add_cell(std::size_t label, std::int32_t cell, std::int64_t count) {
    is_chosen_ = false;
    if (cell < 0) negative_ += count;
    else logs_.add(label, cell, static_cast<double>(count));
    tree_.add(key_of(cell), label, static_cast<double>(count));
  }

  void count(double value, std::size_t label, std::int64_t sign) {
    is_chosen_ = false;
    own_[label].is_stale = true;
    if (value == 0) {
      for (const std::size_t place : {label, classes_}) zeros_[place] += sign;
      if (tree_has_zeros_) tree_.add(0, label, static_cast<double>(sign));
      return;
    }
    for (const std::size_t place : {label, classes_}) rest_[place].count(value, base_, sign);
    add_cell(label, cell_of(value), sign);
  }

  std::int64_t n(std::size_t label) const { return rest_[label].n + zeros_[label]; }

  // Whether the counts without a value are surely those of some rows, and of a density like this. The smallest numbers have the
  // key of zero.
  bool may_forget(double value, std::size_t label) const {
    if (value == 0 ? zeros_[label] < 1 : cell_key(value) == 0 || !(tree_.count(cell_key(value), label) >= 1)) return false;
    for (const std::size_t place : {label, classes_}) {
      LiveSums sums = rest_[place];
      if (value != 0) sums.count(value, base_, -1);
      if (!sums.with_zeros(zeros_[place] - (value == 0), base_).surely_possible(base_)) return false;
    }
    return true;
  }

  // sums[c] += the log of the density, but for what all classes have in common; false where it is not exact enough.
  bool add(double value, double* sums) {
    if (std::isnan(value)) return true;
    if (!is_chosen_ && !choose()) return false;
    const Shape& shape = shape_;
    if (value == 0 && shape.zero_apart) {
      add_zero(sums);
      return true;
    }
    if (shape.is_log && value <= 0) return true;
    if (tree_has_zeros_ == shape.zero_apart) {  // zeros are in the tree where they are not apart
      const double sign = shape.zero_apart ? -1 : 1;
      for (std::size_t c = 0; c < classes_; ++c)
        if (zeros_[c] != 0) tree_.add(0, c, sign * static_cast<double>(zeros_[c]));
      tree_has_zeros_ = !shape.zero_apart;
    }
    const CellPlace place{shape.is_log, shape.base, 0, 1};
    tree_.log_ratios(key_of(cell_of(value)), lines_.data(), place, !shape.is_log, CellTree::kNone, ratios_.data());
    const double away = place.of(value);
    const double common = log_height(classes_, away, shape.zero_apart);
    for (std::size_t c = 0; c < classes_; ++c) {
      const double above = log_height(c, away, shape.zero_apart) - common;
      sums[c] += std::max(above, 0.0) + portable::log1p(portable::exp(-std::fabs(above)));
    }
    return true;
  }

 private:
  static constexpr double kMeanRows[] = {0.01, 0.1, 1, 10, 100, 1000};
  static constexpr std::size_t kWeights = std::size(kMeanRows);
  static constexpr double kVarianceRows = 10, kNoDegrees = 3, kMostDegrees = 0x1p53;
  static constexpr double kLogOdds = 2.995732273553991;  // log 20: by how much the evidence for the scale of logs must be greater
  static constexpr double kZeroRows = 2, kLogOwn = -0.10536051565782628, kLogCommon = -2.302585092994046;
  static constexpr double kFar = 1e150;  // in scales, beyond which a square is not a double

  // n, the distance of the mean from that of the column and the deviation, of each class; the formulas are those of
  // bayesbox/dist/number/conjugate.py.
  struct Spread {
    std::vector<double> n, distance, std;
    double unit = 0;
    double before = 0;                // 10 w
    double log_evidence[kWeights]{};  // for each k, but for what does not depend on the scale
    double size = 0;                  // of the terms of the evidence
    std::vector<double> logs, rows_of_logs, log_rows;

    void resize(std::size_t classes) {
      for (std::vector<double>* each : {&n, &distance, &std}) each->assign(classes, 0.0);
      rows_of_logs.assign(classes, -1.0);
      log_rows.assign(classes * kWeights, 0.0);
    }
    double squares(std::size_t c, double weight) const {
      const double away = distance[c] / unit, own = std[c] / unit;
      return before + n[c] * own * own + weight * (n[c] / (n[c] + weight)) * away * away;
    }
    // To be called when the spreads are known.
    void weigh() {
      double inside = 1, rows = 1;
      for (std::size_t c = 0; c < n.size(); ++c) {
        const double own = std[c] / unit;
        inside += n[c] * own * own;
        rows += std::max(n[c] - 1, 0.0);
      }
      before = kVarianceRows * (inside / rows);
      const double log_unit = portable::log(unit), log_before = kVarianceRows / 2 * portable::log(before);
      size = 0;
      find_logs();
      for (std::size_t k = 0; k < kWeights; ++k) {
        double sum = 0;
        for (std::size_t c = 0; c < n.size(); ++c) {
          const double spread = (n[c] + kVarianceRows) / 2 * logs[k * n.size() + c], scale = n[c] * log_unit;
          sum += log_before - spread - log_rows[c * kWeights + k] / 2 - scale;
          size += std::fabs(log_before) + std::fabs(spread) + std::fabs(scale);
        }
        log_evidence[k] = sum;
      }
    }
    // Of the squares for each weight, side by side; those of the rows alone stay while a class has no more of them.
    void find_logs() {
      logs.assign(padded(kWeights * n.size()), 1.0);
      bool plain = true;
      for (std::size_t k = 0; k < kWeights; ++k)
        for (std::size_t c = 0; c < n.size(); ++c) plain &= CellTree::is_plain(logs[k * n.size() + c] = squares(c, kMeanRows[k]));
      if (plain) kernels().logarithms(logs.data(), logs.size());
      else for (double& each : logs) each = portable::log(each);
      for (std::size_t c = 0; c < n.size(); ++c) {
        if (rows_of_logs[c] == n[c]) continue;
        rows_of_logs[c] = n[c];
        for (std::size_t k = 0; k < kWeights; ++k) log_rows[c * kWeights + k] = portable::log1p(n[c] / kMeanRows[k]);
      }
    }
    // Of all weights together: the log of the mean, and what the prior of the mean is worth.
    double evidence() const {
      const double most = *std::max_element(log_evidence, log_evidence + kWeights);
      double sum = 0;
      for (const double each : log_evidence) sum += portable::exp(each - most);
      return most + portable::log(sum / kWeights);
    }
    static const std::array<double, kWeights>& log_weights() {
      static const std::array<double, kWeights> known = [] {
        std::array<double, kWeights> made{};
        for (std::size_t k = 0; k < kWeights; ++k) made[k] = portable::log(kMeanRows[k]);
        return made;
      }();
      return known;
    }
    double mean_rows() const {
      const double most = *std::max_element(log_evidence, log_evidence + kWeights);
      double sum = 0, logs = 0;
      for (std::size_t k = 0; k < kWeights; ++k) {
        const double share = portable::exp(log_evidence[k] - most);
        sum += share;
        logs += share * log_weights()[k];
      }
      return portable::exp(logs / sum);
    }
    StudentLine line(std::size_t c, double low, double weight) const {
      const double k = n[c] + weight, variance = squares(c, weight) / (n[c] + kVarianceRows) * ((k + 1) / k);
      return {low + distance[c] * (n[c] / k), scale_of(variance), std::min(n[c] + kVarianceRows, kMostDegrees)};
    }
    // That of a class of no rows.
    StudentLine common(double low) const { return {low, scale_of(2), kNoDegrees}; }
    double scale_of(double variance) const { return std::min(unit * std::sqrt(variance), std::numeric_limits<double>::max()); }
  };

  // The moments of a class, which stay as they are while rows of other classes are learned.
  struct OwnSpread {
    bool is_stale = true, with_zeros = false, is_known = false;
    double n = 0, squares = 0;
    DoubleDouble mean;
    double std = 0;
  };

  struct Shape {
    bool zero_apart = false, is_log = false;
    double base = 0, low = 0;
    std::size_t spread = 0;  // its place among the spreads
  };

  static std::int32_t cell_of(double value) {
    const std::int32_t key = cell_key(value);
    return key >= 0 ? key + 1 : key;
  }
  static std::int32_t key_of(std::int32_t cell) { return cell > 0 ? cell - 1 : cell; }

  // The height of a t at its middle depends on its degrees alone, which a row changes in one class.
  struct Height {
    double df = -1, log = 0;
  };

  // What is chosen for the column, and the t of each class: until the next row, whatever is asked.
  bool choose() {
    shape_ = {};
    if (!choose(shape_)) return false;
    const Spread& spread = spreads_[shape_.spread];
    const double weight = spread.mean_rows();
    for (std::size_t c = 0; c <= classes_; ++c) {
      lines_[c] = c < classes_ ? spread.line(c, shape_.low, weight) : spread.common(shape_.low);
      if (heights_[c].df != lines_[c].df) heights_[c] = {lines_[c].df, log_student_height(lines_[c].df)};
    }
    find_log_scales();
    is_chosen_ = true;
    return true;
  }

  void find_log_scales() {
    log_scales_.assign(padded(classes_ + 1), 1.0);
    bool plain = true;
    for (std::size_t c = 0; c <= classes_; ++c) plain &= CellTree::is_plain(log_scales_[c] = lines_[c].scale);
    if (plain) return kernels().logarithms(log_scales_.data(), log_scales_.size());
    for (double& each : log_scales_) each = portable::log(each);
  }

  // False where doubles cannot tell, or where there is no t.
  bool choose(Shape& shape) {
    const std::int64_t zeros = zeros_[classes_];
    const bool common = 100 * zeros > n(classes_);
    if (rest_[classes_].n < 1) return false;
    if (negative_ == 0) {
      if (!find_spread(false, shape)) return false;
      find_log_spread();
      const double sum_of_logs = logs_.n(classes_) * logs_.mean(classes_);
      const double size = std::fabs(sum_of_logs) + spreads_[0].size + spreads_[1].size;
      const double gain = spreads_[1].evidence() - sum_of_logs - spreads_[0].evidence() - kLogOdds;
      if (!(std::fabs(gain) > 1e-12 * size)) return false;
      if (gain > 0) {
        shape = {zeros > 0, true, logs_.mean(classes_), 0, 1};
        return true;
      }
      shape.zero_apart = common;
      if (common || zeros == 0) return true;
    }
    shape.zero_apart = common;
    return find_spread(!common, shape);
  }

  // The moments of x, with the zeros or without them; false where too few digits of them are known.
  bool find_spread(bool with_zeros, Shape& shape) {
    const auto sums_of = [&](std::size_t place) {
      return with_zeros && zeros_[place] != 0 ? rest_[place].with_zeros(zeros_[place], base_) : rest_[place];
    };
    const DoubleDouble base{base_, 0};
    DoubleDouble mean, variance;
    if (!sums_of(classes_).spread(mean, variance) || !(variance.high > 0)) return false;
    const double whole_variance = variance.high;
    const DoubleDouble whole = base + mean;
    Spread& spread = spreads_[0];
    spread.unit = rounded_root(variance);
    shape.base = whole.high;
    shape.low = whole.low;
    for (std::size_t c = 0; c < classes_; ++c) {
      OwnSpread& own = own_[c];
      if (own.is_stale || own.with_zeros != with_zeros) {
        const LiveSums sums = sums_of(c);
        own = {false, with_zeros, true, static_cast<double>(sums.n), sums.squares.high, {}, 0};
        if (sums.n != 0) {
          own.is_known = sums.spread(mean, variance);
          own.mean = base + mean;
          own.std = rounded_root(variance);
        }
      }
      spread.n[c] = own.n;
      spread.distance[c] = spread.std[c] = 0;
      if (own.n == 0) continue;
      // What is lost of the variance of a class does no harm where it is little beside that of the column.
      if (!own.is_known && !(own.squares <= 1e12 * whole_variance)) return false;
      spread.distance[c] = (own.mean.high - whole.high) + (own.mean.low - whole.low);
      spread.std[c] = own.std;
      if (!std::isfinite(spread.distance[c]) || !std::isfinite(spread.std[c])) return false;
    }
    if (!std::isfinite(spread.unit) || !(spread.unit > 0)) return false;
    spread.weigh();
    return true;
  }

  void find_log_spread() {
    Spread& logs = spreads_[1];
    for (std::size_t c = 0; c < classes_; ++c) {
      logs.n[c] = logs_.n(c);
      logs.distance[c] = logs.n[c] > 0 ? logs_.mean(c) - logs_.mean(classes_) : 0;
      logs.std[c] = std::sqrt(logs_.squares(c) / (logs.n[c] > 0 ? logs.n[c] : 1));
    }
    logs.unit = std::sqrt(logs_.squares(classes_) / std::max(logs_.n(classes_), 1.0));
    logs.weigh();
  }

  // The share of zero in the column, which is the prior of that of each class.
  double share_of_zero() const { return static_cast<double>(zeros_[classes_]) / static_cast<double>(n(classes_)); }

  // The rows of a class, of which the one behind the last has none.
  double rows(std::size_t c) const { return c < classes_ ? static_cast<double>(n(c)) : 0; }
  double zero_rows(std::size_t c) const { return c < classes_ ? static_cast<double>(zeros_[c]) : 0; }

  void add_zero(double* sums) const {
    const double share = share_of_zero();
    const auto log_zero = [&](std::size_t c) {
      return portable::log(zero_rows(c) + kZeroRows * share) - portable::log(rows(c) + kZeroRows);
    };
    const double common = kLogCommon + log_zero(classes_);
    for (std::size_t c = 0; c < classes_; ++c) {
      const double own = kLogOwn + log_zero(c);
      sums[c] += std::max(own, common) + portable::log1p(portable::exp(-std::fabs(own - common)));
    }
  }

  // The log of the density of a class, or of that of no rows, at a place.
  double log_height(std::size_t c, double away, bool zero_apart) const {
    const StudentLine& line = lines_[c];
    double rest = 0;
    if (zero_apart)
      rest = portable::log(rows(c) - zero_rows(c) + kZeroRows * (1 - share_of_zero())) - portable::log(rows(c) + kZeroRows);
    const double height = heights_[c].log - log_scales_[c];
    const double z = (away - line.shift) / line.scale, size = std::fabs(z);
    const double tail = size < kFar ? portable::log1p(z * z / line.df)
                                    : 2 * portable::log(std::min(size, std::numeric_limits<double>::max())) - portable::log(line.df);
    return ratios_[c] + rest + height + (c < classes_ ? kLogOwn : kLogCommon) - (line.df + 1) / 2 * tail;
  }

  std::size_t classes_;
  double base_;
  std::vector<LiveSums> rest_;
  std::vector<std::int64_t> zeros_;
  std::int64_t negative_ = 0;
  LogMoments logs_;
  CellTree tree_;
  bool tree_has_zeros_ = false;
  Spread spreads_[2];  // of x, and of log x
  bool is_chosen_ = false;
  Shape shape_;
  std::vector<StudentLine> lines_;
  std::vector<Height> heights_;
  std::vector<OwnSpread> own_;
  std::vector<double> ratios_, log_scales_;
};

}  // namespace bayesbox
