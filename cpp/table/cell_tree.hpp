// A Polya tree over the cells of the fixed grid: how much more or less of a class is in a cell than its t says.
//
// The formulas stand in bayesbox/dist/number/cell_tree.py. A model that is fitted asks for all parts of the line that the
// tree halves no more (cell_parts.hpp), leave-one-out for the cell of each row without it, a live model for the cell of one
// value: here.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>
#include <utility>
#include <vector>

#include "core/cell_tree_kernels.hpp"
#include "core/functions.hpp"
#include "core/kernels.hpp"
#include "table/student_below.hpp"

namespace bayesbox {

// The log of the height of a t at its middle, for a scale of 1.
inline double log_student_height(double df) { return portable::log_gamma_step(df / 2) - portable::log(df * std::numbers::pi) / 2; }

// The mass of a narrow piece, by the height and the curvature at its centre. The next term, of the fourth power of the width,
// is below 1e-12 of it wherever the mass counts.
inline double mass_around(const StudentLine& line, double centre, double width) {
  const double df = line.df, z = (centre - line.shift) / line.scale, step = width / line.scale, square = z * z;
  const double height = portable::exp(log_student_height(df) - (df + 1) / 2 * portable::log1p(square / df));
  const double curvature = (df + 1) * ((df + 2) * square - df) / ((df + square) * (df + square));
  return height * step * (1 + step * step * curvature / 24);
}

// The mass between two tails.
inline double mass_between(double low, double high) {
  return high - low + (!std::signbit(low) && std::signbit(high) ? 1.0 : 0.0);
}

// From numbers to places on the scale of the t: those of log x less a base, or their distances from a number in a unit.
struct CellPlace {
  bool is_log = false;
  double base = 0;   // of logs; else the number that is at the origin
  double origin = 0;
  double unit = 1;

  double of(double number) const {
    if (is_log) return portable::log(std::max(number, 0.0)) - base;
    if (std::isinf(number)) return number;
    constexpr double kGreatest = std::numeric_limits<double>::max();
    return origin + std::clamp(number - base, -kGreatest, kGreatest) / unit;
  }
};

class CellTree {
 public:
  static constexpr int kTop = 15;  // the level of the nodes of all positive and of all negative numbers
  static constexpr std::int32_t kLastKey = 16'376;  // of what is beyond the greatest double
  static constexpr double kLeastValues = 20;        // of a node that is halved
  static constexpr std::size_t kNone = ~std::size_t{0};

  explicit CellTree(std::size_t classes) : classes_(classes), width_(classes + 1), share_(classes), states_(kTop + 2) {
    nodes_.push_back({});
    counts_.resize(width_);
    for (State& state : states_) state.resize(width_);
    for (std::vector<double>* each : {&log_, &factor_, &nothing_}) each->resize(width_);
    node_.resize(width_);
    half_.resize(width_);
    parts_.resize(width_);
    shares_.resize(width_);
  }

  std::size_t classes() const { return classes_; }
  double total() const { return counts_[classes_]; }

  // Adds values to a cell, or takes them out. Keys are between -2^15 and 2^15 - 1.
  void add(std::int32_t key, std::size_t label, double amount) {
    std::size_t at = 0;
    for (int level = kTop;; --level) {
      counts_[at * width_ + label] += amount;
      counts_[at * width_ + classes_] += amount;
      if (level < 0) return;
      const std::size_t side = side_of(key, level);
      if (nodes_[at].child[side] == 0) {
        nodes_[at].child[side] = static_cast<std::uint32_t>(nodes_.size());
        nodes_.push_back({});
        counts_.resize(counts_.size() + width_);
      }
      at = nodes_[at].child[side];
    }
  }

  // How many values of a class are in the cell of a key.
  double count(std::int32_t key, std::size_t label) const {
    std::size_t at = 0;
    for (int level = kTop; level >= 0; --level) {
      at = nodes_[at].child[side_of(key, level)];
      if (at == 0) return 0;
    }
    return counts_[at * width_ + label];
  }

  // The log of what each t is multiplied by in the cell of a key: of the classes and, last, of the class of no rows. `own` is
  // the class of a value in that cell which does not count, or kNone. Narrow pieces are looked at only where `sharp` is set.
  void log_ratios(std::int32_t key, const StudentLine* lines, const CellPlace& place, bool sharp, std::size_t own, double* out) {
    begin(lines, own);
    std::size_t depth = 0, at[kTop + 2] = {0};
    for (int level = kTop; level >= 0 && (depth == 0 || at[depth] != 0); --level, ++depth) {
      const double values = counts_[at[depth] * width_ + classes_] - (own == kNone ? 0 : 1);
      if (!(values >= kLeastValues)) break;
      edges_[depth] = middle_edge(key, level);
      at[depth + 1] = nodes_[at[depth]].child[side_of(key, level)];
    }
    find_middles(depth, lines, place);
    for (std::size_t k = 0; k < depth; ++k)
      halve(states_[k], states_[k + 1], side_of(key, kTop - static_cast<int>(k)) == 1, edges_[k], lines, place, sharp);
    weigh_halved(depth);
    for (std::size_t k = 0; k < depth; ++k) {
      if (!states_[k + 1].is_halved) continue;
      const double* half = at[k + 1] == 0 ? without_nothing(own) : without(at[k + 1], own, half_);
      correct(states_[k], states_[k + 1], without(at[k], own, node_), half);
    }
    logs_.assign(padded(width_), 1.0);
    std::copy_n(factor_.data(), width_, logs_.data());  // all of them plain
    kernels_.logarithms(logs_.data(), logs_.size());
    for (std::size_t c = 0; c < width_; ++c) out[c] = log_[c] + logs_[c];
  }

  // In scales, below which a difference of tails has few digits: then the mass of a piece is worked out anew. Beside an outlier
  // all other values are in such pieces: of their masses, as differences of tails, doubles have nine digits or less.
  static constexpr double kNarrow = 1e-3;
  static bool is_narrow(double width, double scale, double mass) { return width / scale < kNarrow && mass > kLeastMass / 2; }

  // Whether a product of ratios need not become a logarithm yet.
  static bool is_plain(double factor) { return (factor > 0x1p-500) & (factor < 0x1p500); }

  // The number at which the node of a key is halved.
  static double middle_edge(std::int32_t key, int level) {
    if (level == kTop) return 0;
    const std::int32_t middle = (key >> level | 1) * (1 << level);
    const auto size = static_cast<std::uint64_t>(std::min(std::abs(middle), kLastKey)) << 49;
    const auto edge = std::bit_cast<double>(size);
    return middle < 0 ? -edge : edge;
  }
  // The first key of the upper half of a node.
  static std::int32_t upper_key(std::int32_t first_key, int level) { return level == kTop ? 0 : first_key | 1 << level; }

 private:
  struct Node {
    std::uint32_t child[2] = {0, 0};  // of the halves below and above the middle; 0 where it has no values
  };

  // A node on the way down: its tails, its mass by each t, and the numbers at its ends.
  struct State {
    std::vector<double> low, high, mass, middle;
    std::vector<double> other;  // the masses of the other half of the node above
    bool is_halved = false;     // whether both these halves have mass by some t: no others are corrected
    std::vector<double> depth;  // how often all is halved down to a mass of this, of the classes and, last, of their mixture
    double whole = 1;           // the mass by the mixture
    double first = 0, last = 0;

    void resize(std::size_t width) {
      for (std::vector<double>* each : {&low, &high, &mass, &middle, &other, &depth}) each->resize(width);
    }
  };

  static constexpr std::size_t kMostPlaces = padded(kTop + 1);

  static std::size_t side_of(std::int32_t key, int level) {
    return level == kTop ? key >= 0 : static_cast<std::size_t>(key >> level & 1);
  }

  void begin(const StudentLine* lines, std::size_t own) {
    widest_ = 0;
    for (std::size_t c = 0; c < width_; ++c) widest_ = std::max(widest_, lines[c].scale);
    State& root = states_[0];
    std::fill(root.low.begin(), root.low.end(), 0.0);
    std::fill(root.high.begin(), root.high.end(), -0.0);  // a tail above
    std::fill(root.mass.begin(), root.mass.end(), 1.0);
    std::fill(log_.begin(), log_.end(), 0.0);
    std::fill(factor_.begin(), factor_.end(), 1.0);
    root.first = -std::numeric_limits<double>::infinity();
    root.last = -root.first;
    const double* counts = without(0, own, node_);
    for (std::size_t c = 0; c < classes_; ++c) share_[c] = counts[c] / counts[classes_];
  }

  const double* without(std::size_t at, std::size_t own, std::vector<double>& into) const {
    const double* counts = counts_.data() + at * width_;
    if (own == kNone) return counts;
    std::copy_n(counts, width_, into.data());
    into[own] -= 1;
    into[classes_] -= 1;
    return into.data();
  }

  const double* without_nothing(std::size_t own) {
    if (own == kNone) return nothing_.data();
    std::fill(half_.begin(), half_.end(), 0.0);
    half_[own] -= 1;
    half_[classes_] -= 1;
    return half_.data();
  }

  // Those of all nodes on a way down, class by class.
  void find_middles(std::size_t count, const StudentLine* lines, const CellPlace& place) {
    for (std::size_t k = 0; k < count; ++k) places_[k] = place.of(edges_[k]);
    for (std::size_t c = 0; c < width_; ++c) {
      const StudentLine& line = lines[c];
      // Those that are far away have no tail: most edges are, which halve all numbers and not these.
      double z[kMostPlaces] = {}, tails[kMostPlaces];
      std::size_t near[kMostPlaces], some = 0;
      const double inverse = 1 / line.scale, most = line.df > kManyDegrees ? kFarTail * line.df : std::numeric_limits<double>::max();
      for (std::size_t k = 0; k < count; ++k) {
        const double about = (places_[k] - line.shift) * inverse;
        states_[k].middle[c] = about > 0 ? -0.0 : 0.0;
        if (about * about > 2 * most) continue;
        near[some] = k;
        z[some++] = (places_[k] - line.shift) / line.scale;
      }
      cells_.student_tails(z, padded(some), student_tail(line.df), tails);
      for (std::size_t k = 0; k < some; ++k) states_[near[k]].middle[c] = tails[k];
    }
  }

  // From a node to one of its halves, by what each t says alone; the tails at its middle are known.
  void halve(const State& from, State& to, bool above, double edge, const StudentLine* lines, const CellPlace& place, bool sharp) {
    to.first = above ? edge : from.first;
    to.last = above ? from.last : edge;
    for (std::size_t c = 0; c < width_; ++c) {
      to.low[c] = above ? from.middle[c] : from.low[c];
      to.high[c] = above ? from.high[c] : from.middle[c];
      to.mass[c] = mass_between(to.low[c], to.high[c]);
      to.other[c] = mass_between(above ? from.low[c] : from.middle[c], above ? from.middle[c] : from.high[c]);
    }
    if (sharp) {
      sharpen(to.mass.data(), to.first, to.last, lines, place);
      sharpen(to.other.data(), above ? from.first : edge, above ? edge : from.last, lines, place);
    }
    to.is_halved = false;
    for (std::size_t c = 0; c < width_; ++c) to.is_halved |= to.mass[c] > kLeastMass && to.other[c] > kLeastMass;
  }

  // The depths of some nodes, whose logarithms are worked out together.
  void weigh(State* states, std::size_t count) {
    logs_.assign(padded(count * width_), 1.0);
    for (std::size_t k = 0; k < count; ++k) {
      State& state = states[k];
      state.whole = 0;
      for (std::size_t c = 0; c < classes_; ++c) {
        state.whole += state.mass[c] * share_[c];
        logs_[k * width_ + c] = std::max(state.mass[c], kLeastMass);
      }
      logs_[k * width_ + classes_] = std::max(state.whole, kLeastMass);
    }
    kernels_.logarithms(logs_.data(), logs_.size());
    for (std::size_t k = 0; k < count; ++k)
      for (std::size_t c = 0; c < width_; ++c) states[k].depth[c] = 1 - logs_[k * width_ + c] * std::numbers::log2e;
  }

  // The same of the nodes of a way down that are corrected. Most edges of the grid are far from all values.
  void weigh_halved(std::size_t count) {
    for (std::size_t first = 0, last = 0; first < count; first = last + 1) {
      while (first < count && !states_[first + 1].is_halved) ++first;
      for (last = first; last < count && states_[last + 1].is_halved; ++last) {
      }
      if (last > first) weigh(states_.data() + first, last - first);
    }
  }

  // What each t is multiplied by in a half, by the counts of it and of its node.
  void correct(const State& from, const State& to, const double* node, const double* half) {
    double part = 0, rest = 0;
    for (std::size_t c = 0; c < classes_; ++c) {
      part += to.mass[c] * share_[c];
      rest += to.other[c] * share_[c];
    }
    const bool pooled_clear = part > kLeastMass && rest > kLeastMass;
    double up_ratio = 1, other_ratio = 1;
    if (pooled_clear) {
      const double r = part / from.whole, not_r = rest / from.whole, depth = from.depth[classes_], worth = kPooledRows * (depth * depth);
      const double corrected = (half[classes_] + worth * r) / (node[classes_] + worth);
      up_ratio = corrected / r;
      other_ratio = (1 - corrected) / not_r;
    }
    // First the shares of all classes, those that do not count too, so that they are divided side by side.
    double* __restrict const q = parts_.data();
    double* __restrict const share = shares_.data();
    const double* __restrict const mass = to.mass.data();
    const double* __restrict const other = to.other.data();
    const double* __restrict const whole = from.mass.data();
    const double* __restrict const depth = from.depth.data();
    for (std::size_t c = 0; c < width_; ++c) {
      q[c] = mass[c] / whole[c];
      const double not_q = other[c] / whole[c], up = q[c] * up_ratio;
      share[c] = up / (up + not_q * other_ratio);
    }
    for (std::size_t c = 0; c < classes_; ++c) {
      const double worth = kClassRows * (depth[c] * depth[c]);
      share[c] = (half[c] + worth * share[c]) / (node[c] + worth);
    }
    for (std::size_t c = 0; c < width_; ++c) {
      if (!(mass[c] > kLeastMass && other[c] > kLeastMass)) continue;
      const double ratio = std::max(share[c], kLeastShare) / q[c];
      const double before = factor_[c];
      factor_[c] *= ratio;
      if (is_plain(factor_[c])) continue;
      log_[c] += portable::log(before) + portable::log(ratio);
      factor_[c] = 1;
    }
  }

  // The masses of pieces that are narrow beside a scale, worked out anew.
  void sharpen(double* mass, double first, double last, const StudentLine* lines, const CellPlace& place) {
    const double width = (last - first) / place.unit;
    if (!(width < 2 * kNarrow * widest_)) return;
    double centre = 0;
    bool known = false;
    for (std::size_t c = 0; c < width_; ++c) {
      if (!is_narrow(width, lines[c].scale, mass[c])) continue;
      if (!known) centre = place.of(first + (last - first) / 2);
      known = true;
      mass[c] = mass_around(lines[c], centre, width);
    }
  }

  std::size_t classes_, width_;  // the last count of a node is that of all classes
  std::vector<Node> nodes_;      // the first is the whole line
  std::vector<double> counts_;
  std::vector<double> share_, nothing_, node_, half_, logs_, parts_, shares_;
  std::vector<double> log_, factor_;  // of what a t is multiplied by so far: log + the log of the factor
  std::vector<State> states_;
  double widest_ = 0;  // of the scales
  double edges_[kTop + 1] = {}, places_[kTop + 1] = {};
  const CellTreeKernels& cells_ = cell_tree_kernels();
  const Kernels& kernels_ = kernels();
};

}  // namespace bayesbox
