// A density of rows as a sum of round normal curves at many rows, by class. A column is a number, or a group of zeros with a one
// at the level that a row has; of a group the code alone is kept, so that a distance takes one step for each column.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "core/interrupt.hpp"
#include "core/kernels.hpp"

namespace bayesbox {

class PointKernel {
 public:
  // `groups`: for each column 0 of a number, else how many levels it has. Nothing where a group is not zeros and a one.
  static std::optional<PointKernel> of(const double* points, const std::int64_t* labels, std::size_t count, std::vector<std::size_t> groups,
                                       std::vector<double> shares, double pull, double scale) {
    PointKernel found;
    found.groups_ = std::move(groups);
    found.shares_ = std::move(shares);
    found.pull_ = pull;
    found.scale_ = scale;
    found.count_ = count;
    for (const std::size_t group : found.groups_) found.width_ += std::max<std::size_t>(group, 1);
    const std::size_t columns = found.groups_.size();
    found.numbers_.resize(columns);
    found.codes_.resize(columns);
    std::vector<std::size_t> order;  // class by class
    found.starts_.push_back(0);
    for (std::size_t c = 0; c < found.shares_.size(); ++c) {
      for (std::size_t i = 0; i < count; ++i)
        if (labels[i] == static_cast<std::int64_t>(c)) order.push_back(i);
      found.starts_.push_back(order.size());
    }
    if (order.size() != count) return std::nullopt;
    for (std::size_t i = 0; i < count; ++i) {
      const double* at = points + order[i] * found.width_;
      for (std::size_t j = 0; j < columns; ++j) {
        const std::size_t group = found.groups_[j];
        if (group == 0) {
          found.numbers_[j].push_back(*at++);
          continue;
        }
        std::int32_t code = kNone;
        if (!code_of(at, group, code)) return std::nullopt;
        found.codes_[j].push_back(code);
        at += group;
      }
    }
    return found;
  }

  std::size_t width() const { return width_; }
  std::size_t classes() const { return shares_.size(); }

  // The shares of the classes near a row, which has the columns of the points; false where a group is not zeros and a one.
  bool ask(const double* row, double* out) const {
    const std::size_t whole = padded(count_);
    std::vector<double> away(whole), top(whole);
    poll(count_ * (groups_.size() + 4));
    for (std::size_t j = 0; j < groups_.size(); ++j) {
      const std::size_t group = groups_[j];
      if (group == 0) {
        const double own = *row++;
        const double* values = numbers_[j].data();
        for (std::size_t i = 0; i < count_; ++i) away[i] += (own - values[i]) * (own - values[i]);
        continue;
      }
      std::int32_t own = kNone;
      if (!code_of(row, group, own)) return false;
      row += group;
      // Two ones that differ are 2 apart, a one and none are 1.
      const double differs = own == kNone ? 1.0 : 2.0, from_none = own == kNone ? 0.0 : 1.0;
      const std::int32_t* codes = codes_[j].data();
      for (std::size_t i = 0; i < count_; ++i) away[i] += codes[i] == own ? 0.0 : codes[i] == kNone ? from_none : differs;
    }
    for (std::size_t i = 0; i < count_; ++i) away[i] = -away[i] / scale_;
    kernels().exponentials(away.data(), top.data(), whole);
    double all = 0;
    for (std::size_t c = 0; c < classes(); ++c) {
      double sums[4] = {};
      for (std::size_t i = starts_[c]; i < starts_[c + 1]; ++i) sums[i % 4] += away[i];
      out[c] = (sums[0] + sums[1]) + (sums[2] + sums[3]);
      all += out[c];
    }
    for (std::size_t c = 0; c < classes(); ++c) out[c] = (out[c] + pull_ * shares_[c]) / (all + pull_);
    return true;
  }

 private:
  static constexpr std::int32_t kNone = -1;

  static bool code_of(const double* at, std::size_t group, std::int32_t& code) {
    code = kNone;
    for (std::size_t k = 0; k < group; ++k) {
      if (at[k] == 0) continue;
      if (at[k] != 1 || code != kNone) return false;
      code = static_cast<std::int32_t>(k);
    }
    return true;
  }

  std::vector<std::size_t> groups_, starts_;
  std::vector<std::vector<double>> numbers_;       // by column
  std::vector<std::vector<std::int32_t>> codes_;  // by column
  std::vector<double> shares_;
  double pull_ = 0, scale_ = 1;
  std::size_t count_ = 0, width_ = 0;
};

}  // namespace bayesbox
