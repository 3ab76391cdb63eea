// The moments of log x, read off the cells of the fixed grid: a value may be anywhere in its cell, evenly on the scale of
// logs. Kept in two doubles, so that they do not depend on the order in which values came and went.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/double_double.hpp"
#include "core/functions.hpp"

namespace bayesbox {

// The middle of log x in a cell of positive numbers, and the variance of log x within it: width^2 / 12.
struct LogCell {
  double middle, within;

  static LogCell of(std::int32_t cell) {
    const auto size = static_cast<std::uint64_t>(cell);
    const std::uint64_t near = (size - 1) << 49;
    const double low = portable::log(std::bit_cast<double>(near == 0 ? std::uint64_t{1} : near));
    const double high = portable::log(std::bit_cast<double>((size << 49) - 1));
    return {(low + high) / 2, (high - low) * (high - low) / 12};
  }
};

// Those of cells that were asked for before are kept: the columns of a table share most of them.
class LogCells {
 public:
  // Of a positive cell.
  const LogCell& of(std::int32_t cell) {
    const auto place = static_cast<std::size_t>(cell);
    if (place >= known_.size()) known_.resize(place + 1, LogCell{0, -1});
    if (known_[place].within < 0) known_[place] = LogCell::of(cell);
    return known_[place];
  }

 private:
  std::vector<LogCell> known_;
};

// Of each class and, last, of all.
class LogMoments {
 public:
  explicit LogMoments(std::size_t classes) : sums_(classes + 1) {}

  void add(std::size_t label, std::int32_t cell, double amount) { add(label, LogCell::of(cell), amount); }
  void add(std::size_t label, const LogCell& logs, double amount) {
    if (!has_base_) base_ = logs.middle;
    has_base_ = true;
    const DoubleDouble times{amount, 0}, away = DoubleDouble::sum(logs.middle, -base_);
    const DoubleDouble total = away * times, squares = away * away * times, within = DoubleDouble::product(logs.within, amount);
    for (const std::size_t place : {label, sums_.size() - 1}) {
      Sums& sums = sums_[place];
      sums.n += amount;
      sums.total = sums.total + total;
      sums.squares = sums.squares + squares;
      sums.within = sums.within + within;
    }
  }

  double n(std::size_t place) const { return sums_[place].n; }
  // 0 without values
  double mean(std::size_t place) const {
    const Sums& sums = sums_[place];
    return sums.n > 0 ? (DoubleDouble{base_, 0} + sums.total.over(sums.n)).high : 0;
  }
  // The sum of the squared distances from the mean.
  double squares(std::size_t place) const {
    const Sums& sums = sums_[place];
    if (!(sums.n > 0)) return 0;
    const DoubleDouble between = sums.squares - sums.total.over(sums.n) * sums.total;
    return ((between.high > 0 ? between : DoubleDouble{}) + sums.within).high;
  }

 private:
  struct Sums {
    double n = 0;
    DoubleDouble total, squares, within;
  };

  double base_ = 0;
  bool has_base_ = false;
  std::vector<Sums> sums_;
};

}  // namespace bayesbox
