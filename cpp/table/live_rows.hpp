// Rows that are learned one at a time: kept until they are counted together, and meanwhile counted by a live model.
//
// The rows wait in columns, to be added to the exact tallies in one piece. The live model has the counts of all rows so
// far, and answers from them: it takes the logarithm of a count where a question needs it, so that a learned row costs a
// few additions and nothing is made anew. It knows levels and flags under (n + a) / (N + a K), normal densities and robust ones.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "core/double_double.hpp"
#include "core/functions.hpp"
#include "table/level_index.hpp"
#include "table/live_robust.hpp"
#include "table/live_sums.hpp"

namespace bayesbox {

enum class LiveKind : std::uint8_t { number, levels, flag, nothing };

// What a row has in one column: a number (NaN: missing), or a code (-1: missing, -2: a level that was never seen).
struct LiveValue {
  double number = 0;
  std::int32_t code = -1;
};

inline constexpr std::int32_t kMissingCode = -1, kUnseenCode = -2;

// The counts of one column of levels.
struct LiveLevels {
  double added = 1;            // what the rule adds to a count
  bool smooths_unseen = false;  // whether a level that was never seen has the probability of a count of 0
  std::vector<std::int64_t> counts;    // code-major: codes x classes
  std::vector<std::int64_t> by_level;  // rows with each code
  std::vector<std::int64_t> totals;    // of each class
  std::size_t possible = 0;            // levels that some row has, or that are declared
  std::vector<std::uint8_t> declared;  // codes that are possible though no row has them

  void resize(std::size_t levels, std::size_t classes) {
    counts.resize(levels * classes);
    by_level.resize(levels);
    declared.resize(levels);
  }

  void count(std::int32_t code, std::size_t label, std::size_t classes, std::int64_t sign) {
    const auto place = static_cast<std::size_t>(code);
    if (place >= by_level.size()) resize(place + 1, classes);
    const bool before = by_level[place] != 0 || declared[place] != 0;
    counts[place * classes + label] += sign;
    by_level[place] += sign;
    totals[label] += sign;
    const bool after = by_level[place] != 0 || declared[place] != 0;
    if (before != after) possible += after ? 1 : -std::size_t{1};
  }

  // sums[c] += log P(level | class), where the column takes part and the level is known or smoothed.
  void add(std::int32_t code, std::size_t classes, double* sums) const {
    if (possible < 2 || code == kMissingCode) return;
    const auto place = static_cast<std::size_t>(code);
    const bool known = code >= 0 && place < by_level.size() && (by_level[place] != 0 || declared[place] != 0);
    if (!known && !smooths_unseen) return;
    const double spread = added * static_cast<double>(possible);
    for (std::size_t c = 0; c < classes; ++c) {
      const double own = known ? static_cast<double>(counts[place * classes + c]) : 0.0;
      sums[c] += portable::log(own + added) - portable::log(static_cast<double>(totals[c]) + spread);
    }
  }
};

// The normal density of one column of numbers, from its moments about a base near their mean.
struct LiveNormal {
  double base = 0, floor = 0;
  std::vector<LiveSums> sums;  // of each class and, last, of the column

  void count(double value, std::size_t label, std::int64_t sign) {
    for (const std::size_t place : {label, sums.size() - 1}) sums[place].count(value, base, sign);
  }

  // Whether the sums without a value are surely those of some rows.
  bool may_forget(double value, std::size_t label) const {
    for (const std::size_t place : {label, sums.size() - 1}) {
      LiveSums less = sums[place];
      less.count(value, base, -1);
      if (!less.surely_possible(base)) return false;
    }
    return true;
  }

  // into[c] += the log of the normal density, but for what all classes have in common; false where it is not exact enough.
  bool add(double value, std::size_t classes, double* into, std::vector<double>& scratch) const {
    if (std::isnan(value)) return true;
    const LiveSums& whole = sums.back();
    DoubleDouble whole_mean, whole_variance;
    if (whole.n == 0 || !whole.spread(whole_mean, whole_variance) || !(whole_variance.high > 0)) return false;
    const double least = floor * whole_variance.high;
    const DoubleDouble away = DoubleDouble::sum(value, -base);
    scratch.resize(2 * classes);
    double widest = 0;
    for (std::size_t c = 0; c < classes; ++c) {
      DoubleDouble mean = whole_mean, spread = whole_variance;
      // Where few digits are left of a variance, the floor hides them, or it is not known.
      if (sums[c].n != 0 && !sums[c].spread(mean, spread) && !(spread.high < 0.5 * least && sums[c].squares.high < 1e25 * least))
        return false;
      const double variance = std::max(spread.high, least), distance = (away - mean).high;
      scratch[c] = variance;
      scratch[classes + c] = distance * distance / variance;
      widest = std::max(widest, variance);
    }
    if (!std::isfinite(widest)) return false;
    for (std::size_t c = 0; c < classes; ++c) into[c] -= 0.5 * (scratch[classes + c] + portable::log(scratch[c] / widest));
    return true;
  }
};

struct LiveColumn {
  LiveKind kind = LiveKind::nothing;
  LevelIndex levels;
  bool takes_numbers = false;  // whether a number is a level too
  bool takes_new = true;       // whether a level may be new
  std::vector<double> numbers;         // of the rows that wait
  std::vector<std::int32_t> codes;
  std::vector<std::int32_t> gone;  // of the rows that are to be forgotten
  std::vector<double> gone_numbers;
  LiveLevels counts;   // of the live model
  LiveNormal normal;
  std::unique_ptr<LiveRobust> robust;  // which it has instead, where that is the density
  bool is_used = true;  // whether the live model has the column

  std::int64_t observed(std::size_t label) const { return robust ? robust->n(label) : normal.sums[label].n; }
  bool may_forget(double value, std::size_t label) const {
    return robust ? robust->may_forget(value, label) : normal.may_forget(value, label);
  }
  void count(double value, std::size_t label, std::int64_t sign) {
    robust ? robust->count(value, label, sign) : normal.count(value, label, sign);
  }
};

class LiveRows {
 public:
  static constexpr std::size_t kMostLevels = 900'000;
  static constexpr std::int64_t kMostAsked = 128;

  LiveRows(std::vector<LiveColumn> columns, std::size_t classes) : columns_(std::move(columns)), classes_(classes) {
    row_.resize(columns_.size());
  }
  LiveRows(const LiveRows&) = delete;
  LiveRows& operator=(const LiveRows&) = delete;

  std::size_t classes() const { return classes_; }
  std::size_t waiting() const { return labels_.size() + gone_labels_.size(); }
  std::vector<LiveColumn>& columns() { return columns_; }
  std::vector<LiveValue>& row() { return row_; }
  std::vector<std::int32_t>& labels() { return labels_; }
  std::vector<std::int32_t>& gone_labels() { return gone_labels_; }

  bool is_live() const { return live_; }
  void go_live(std::vector<std::int64_t> class_counts) {
    class_counts_ = std::move(class_counts);
    live_ = true;
  }
  void end_live() { live_ = false; }
  // Whether the live model should answer: after kMostAsked predictions without a row in between, compiling a model costs less
  // than going on.
  bool takes_question() { return live_ && ++asked_ <= kMostAsked; }

  // Takes the row that was read up, to be counted with others.
  void learn(std::size_t label) {
    for (std::size_t j = 0; j < columns_.size(); ++j) {
      LiveColumn& column = columns_[j];
      if (column.kind == LiveKind::number) column.numbers.push_back(row_[j].number);
      if (column.kind == LiveKind::levels || column.kind == LiveKind::flag) column.codes.push_back(row_[j].code);
    }
    labels_.push_back(static_cast<std::int32_t>(label));
    if (live_) count(label, 1);
  }

  // Takes the row that was read out, to be forgotten with others, where the counts show that it may have been learned: false
  // where a count would be below zero, or where two doubles do not tell whether any rows have the sums that are left.
  bool forget_later(std::size_t label) {
    if (!live_ || class_counts_[label] < 1) return false;
    for (std::size_t j = 0; j < columns_.size(); ++j) {
      const LiveColumn& column = columns_[j];
      if (column.kind == LiveKind::nothing) continue;
      if (!column.is_used) return false;
      if (column.kind == LiveKind::number) {
        const double value = row_[j].number;
        if (std::isnan(value) ? column.observed(label) >= class_counts_[label] : !column.may_forget(value, label)) return false;
        continue;
      }
      const LiveLevels& counts = column.counts;
      const auto place = static_cast<std::size_t>(row_[j].code);
      if (row_[j].code == kMissingCode) {  // another row of the class has none either
        if (counts.totals[label] >= class_counts_[label]) return false;
      } else if (row_[j].code < 0 || place >= counts.by_level.size() || counts.counts[place * classes_ + label] < 1) {
        return false;
      }
    }
    for (std::size_t j = 0; j < columns_.size(); ++j)
      if (columns_[j].kind == LiveKind::number) columns_[j].gone_numbers.push_back(row_[j].number);
      else if (columns_[j].kind != LiveKind::nothing) columns_[j].gone.push_back(row_[j].code);
    gone_labels_.push_back(static_cast<std::int32_t>(label));
    count(label, -1);
    return true;
  }

  // Takes the row that was read out of the live model, after it was taken out of the tallies.
  void forget(std::size_t label) {
    if (live_) count(label, -1);
  }

  // log P(class, x) but for what all classes have in common; false where the live model does not know.
  bool joint(double* sums) {
    std::int64_t rows = 0;
    for (const std::int64_t each : class_counts_) rows += each;
    if (!live_ || rows <= 0) return false;
    const double log_rows = portable::log(static_cast<double>(rows));
    for (std::size_t c = 0; c < classes_; ++c) {
      if (class_counts_[c] <= 0) return false;
      sums[c] = portable::log(static_cast<double>(class_counts_[c])) - log_rows;
    }
    for (std::size_t j = 0; j < columns_.size(); ++j) {
      const LiveColumn& column = columns_[j];
      if (!column.is_used || column.kind == LiveKind::nothing) continue;
      if (column.kind == LiveKind::number) {
        const double value = row_[j].number;
        if (!(column.robust ? column.robust->add(value, sums) : column.normal.add(value, classes_, sums, scratch_))) return false;
      } else {
        column.counts.add(row_[j].code, classes_, sums);
      }
    }
    return true;
  }

  // The rows that wait are counted elsewhere now.
  void clear() {
    labels_.clear();
    gone_labels_.clear();
    for (LiveColumn& column : columns_) {
      column.gone.clear();
      column.gone_numbers.clear();
      column.numbers.clear();
      column.codes.clear();
    }
  }

 private:
  void count(std::size_t label, std::int64_t sign) {
    asked_ = 0;
    class_counts_[label] += sign;
    for (std::size_t j = 0; j < columns_.size(); ++j) {
      LiveColumn& column = columns_[j];
      if (!column.is_used) continue;
      if (column.kind == LiveKind::number) {
        if (!std::isnan(row_[j].number)) column.count(row_[j].number, label, sign);
      } else if (column.kind != LiveKind::nothing && row_[j].code >= 0) {
        column.counts.count(row_[j].code, label, classes_, sign);
      }
    }
  }

  std::vector<LiveColumn> columns_;
  std::size_t classes_;
  std::vector<LiveValue> row_;
  std::vector<std::int32_t> labels_, gone_labels_;
  std::vector<std::int64_t> class_counts_;
  std::vector<double> scratch_;
  bool live_ = false;
  std::int64_t asked_ = 0;  // questions since the last row
};

}  // namespace bayesbox
