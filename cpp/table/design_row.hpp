// One row as the models of a pool see it: the codes of its cells and levels, and numbers made of them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/functions.hpp"
#include "table/level_index.hpp"

namespace bayesbox {

struct DesignAxis {
  bool has_levels = false, is_flag = false, gaps = false;
  LevelIndex levels;
  std::int32_t flag_codes[2] = {-1, -1};  // of false and true
  std::vector<double> cuts, knots;
  double centre = 0, scale = 1;
};

// A value that is not zero, and its place.
using Entry = std::pair<std::size_t, double>;

struct DesignRow {
  static constexpr std::uint16_t kMissing = 0xffff;
  static constexpr double kFarthest = 5;  // deviations that a number counts as, at most

  std::vector<std::uint16_t> codes;          // of the axes
  std::vector<double> standard;              // deviations, and a one for the level
  std::vector<Entry> standard_entries, features;  // the second with what is above each knot, and a one for what is missing

  void clear(std::size_t width) {
    codes.clear();
    standard.assign(width, 0.0);
    standard_entries.clear();
    features.clear();
    place_ = feature_ = 0;
  }

  void add_level(const DesignAxis& axis, std::int32_t code) {
    codes.push_back(code < 0 ? kMissing : static_cast<std::uint16_t>(code));
    if (code >= 0) {
      set_standard(place_ + static_cast<std::size_t>(code), 1.0);
      features.emplace_back(feature_ + static_cast<std::size_t>(code), 1.0);
    }
    place_ += axis.levels.size();
    feature_ += axis.levels.size();
    add_gap(axis, code < 0);
  }

  void add_number(const DesignAxis& axis, double value) {
    const bool missing = std::isnan(value);
    const auto cell = std::upper_bound(axis.cuts.begin(), axis.cuts.end(), value) - axis.cuts.begin();
    codes.push_back(missing ? kMissing : static_cast<std::uint16_t>(cell));
    const double away = missing ? 0.0 : std::clamp((value - axis.centre) / axis.scale, -kFarthest, kFarthest);
    set_standard(place_++, away);
    if (away != 0) features.emplace_back(feature_, away);
    ++feature_;
    for (const double knot : axis.knots) {
      if (!missing && away > knot) features.emplace_back(feature_, away - knot);
      ++feature_;
    }
    add_gap(axis, missing);
  }

 private:
  void set_standard(std::size_t place, double value) {
    standard[place] = value;
    if (value != 0) standard_entries.emplace_back(place, value);
  }
  void add_gap(const DesignAxis& axis, bool missing) {
    if (!axis.gaps) return;
    if (missing) features.emplace_back(feature_, 1.0);
    ++feature_;
  }

  std::size_t place_ = 0, feature_ = 0;
};

// log p less the log of the sum of all p.
inline void normalise_logs(double* log_p, std::size_t classes) {
  const double top = *std::max_element(log_p, log_p + classes);
  double sum = 0;
  for (std::size_t c = 0; c < classes; ++c) sum += portable::exp(log_p[c] - top);
  const double log_sum = portable::log(sum);
  for (std::size_t c = 0; c < classes; ++c) log_p[c] = (log_p[c] - top) - log_sum;
}

// Weights of features and, last, offsets: features x classes.
struct LinearLogits {
  std::vector<double> weights;

  void ask(const DesignRow& row, std::size_t classes, double* out) const {
    std::fill_n(out, classes, 0.0);
    for (const auto& [place, value] : row.features)
      for (std::size_t c = 0; c < classes; ++c) out[c] += value * weights[place * classes + c];
    for (std::size_t c = 0; c < classes; ++c) out[c] += weights[weights.size() - classes + c];
    normalise_logs(out, classes);
  }
};

// Normals of all columns: the offset of a class less half the square of (x - mean) root, to a power.
struct RootNormals {
  std::vector<double> shifts;  // mean root: classes x width
  std::vector<double> roots;   // of each class, or one for all
  std::vector<double> offsets;
  double power = 1;
  std::size_t width = 0;

  void ask(const DesignRow& row, std::size_t classes, std::vector<double>& scratch, double* out) const {
    const bool own = roots.size() != width * width;
    for (std::size_t c = 0; c < classes; ++c) {
      const double* root = roots.data() + (own ? c * width * width : 0);
      scratch.assign(shifts.begin() + static_cast<std::ptrdiff_t>(c * width), shifts.begin() + static_cast<std::ptrdiff_t>((c + 1) * width));
      for (const auto& [place, value] : row.standard_entries)
        for (std::size_t k = 0; k < width; ++k) scratch[k] -= value * root[place * width + k];
      double square = 0;
      for (const double each : scratch) square += each * each;
      out[c] = power * (offsets[c] - 0.5 * square);
    }
    normalise_logs(out, classes);
  }
};

}  // namespace bayesbox
