// Boosted trees: each is grown on the residual of those before it (gradient boosting on the log loss, Friedman 2001;
// leaves are Newton steps). One tree a round serves all classes: a leaf holds a number for each, and a division is
// judged by the gain of all together.
//
// The questions are those of a Forest; `values` is nodes x classes, and log P(class | x) is the sum of the leaves a row
// comes to, normalised.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "core/functions.hpp"
#include "core/interrupt.hpp"
#include "tree/trees.hpp"

namespace bayesbox {

struct BoostOptions {
  std::size_t rounds = 100;
  std::size_t leaves = 15;
  std::size_t smallest = 3;  // rows of a leaf
  double rate = 0.1;         // share of a Newton step
  double pull = 1.0;         // added to the curvature: regularisation of a leaf towards 0
  double share = 0.7;        // of the rows that a tree is grown on
  std::uint64_t seed = 0;
};

class BoostGrower {
 public:
  BoostGrower(const CodedColumns& rows, const std::int32_t* target, std::size_t classes,
              const std::vector<std::size_t>& levels, const std::vector<std::uint8_t>& ordered, const double* start,
              const BoostOptions& options)
      : rows_(rows), target_(target), classes_(classes), width_(classes == 2 ? 1 : classes), levels_(levels),
        ordered_(ordered), options_(options) {
    sum_.resize(rows.rows * width_);
    for (std::size_t row = 0; row < rows.rows; ++row)
      for (std::size_t c = 0; c < width_; ++c) sum_[row * width_ + c] = width_ == 1 ? start[1] - start[0] : start[c];
    slope_.resize(rows.rows * width_);
    bend_.resize(rows.rows * width_);
    std::size_t widest = 0;
    for (const std::size_t size : levels) widest = std::max(widest, size + 1);
    table_.resize(widest * width_ * 2);
    level_rows_.resize(widest);
    left_.resize(width_ * 2);
    node_.resize(width_ * 2);
  }

  void grow(Forest& forest, std::vector<double>& values) {
    forest = Forest(levels_, ordered_);
    for (std::size_t round = 0; round < options_.rounds; ++round) {
      differentiate();
      grow_tree(forest, values, round);
    }
  }

 private:
  struct Leaf {
    std::size_t node, begin, end;
    Split best;
  };

  // The slope and the curvature of each row's log loss.
  void differentiate() {
    for (std::size_t row = 0; row < rows_.rows; ++row) {
      poll_at(row, 8 * width_);
      double* slope = &slope_[row * width_];
      double* bend = &bend_[row * width_];
      const double* sum = &sum_[row * width_];
      if (width_ == 1) {
        const double p = 1.0 / (1.0 + portable::exp(-sum[0]));
        slope[0] = p - (target_[row] == 1 ? 1.0 : 0.0);
        bend[0] = p * (1.0 - p);
        continue;
      }
      const double highest = *std::max_element(sum, sum + width_);
      double total = 0;
      for (std::size_t c = 0; c < width_; ++c) total += slope[c] = portable::exp(sum[c] - highest);
      for (std::size_t c = 0; c < width_; ++c) {
        const double p = slope[c] / total;
        bend[c] = p * (1.0 - p);
        slope[c] = p - (static_cast<std::size_t>(target_[row]) == c ? 1.0 : 0.0);
      }
    }
  }

  void grow_tree(Forest& forest, std::vector<double>& values, std::size_t round) {
    place_.resize(rows_.rows);
    std::iota(place_.begin(), place_.end(), 0u);
    Draws draws(options_.seed * 0x2545F4914F6CDD1Dull + round * 2 + 1);
    const std::size_t sample = std::max<std::size_t>(1, static_cast<std::size_t>(options_.share * static_cast<double>(rows_.rows)));
    for (std::size_t i = 0; i < sample; ++i) std::swap(place_[i], place_[i + draws.below(rows_.rows - i)]);
    place_.resize(sample);
    std::sort(place_.begin(), place_.end());
    const std::size_t root = forest.add_leaf();
    forest.root.push_back(static_cast<std::int32_t>(root));
    std::vector<Leaf> leaves(1);
    leaves[0] = {root, 0, sample, {}};
    leaves[0].best = best_split(leaves[0]);
    while (leaves.size() < options_.leaves) {
      std::size_t at = 0;
      for (std::size_t i = 1; i < leaves.size(); ++i)
        if (leaves[i].best.gain > leaves[at].best.gain) at = i;
      if (leaves[at].best.column < 0) break;
      divide(forest, leaves, at);
    }
    values.resize(forest.nodes() * classes_, 0.0);
    for (const Leaf& leaf : leaves) {
      total(leaf.begin, leaf.end);
      for (std::size_t c = 0; c < width_; ++c)
        values[leaf.node * classes_ + (width_ == 1 ? 1 : c)] =
            -options_.rate * node_[2 * c] / (node_[2 * c + 1] + options_.pull);
    }
    for (std::size_t row = 0; row < rows_.rows; ++row) {
      poll_at(row, 16);
      std::size_t node = root;
      while (forest.column[node] >= 0) node = forest.next(node, rows_, row);
      for (std::size_t c = 0; c < width_; ++c)
        sum_[row * width_ + c] += values[node * classes_ + (width_ == 1 ? 1 : c)];
    }
  }

  void total(std::size_t begin, std::size_t end) {
    std::fill(node_.begin(), node_.end(), 0.0);
    for (std::size_t i = begin; i < end; ++i) {
      const std::size_t row = place_[i] * width_;
      for (std::size_t c = 0; c < width_; ++c) {
        node_[2 * c] += slope_[row + c];
        node_[2 * c + 1] += bend_[row + c];
      }
    }
  }

  Split best_split(const Leaf& leaf) {
    Split best;
    if (leaf.end - leaf.begin < 2 * options_.smallest) return best;
    total(leaf.begin, leaf.end);
    whole_ = 0;
    for (std::size_t c = 0; c < width_; ++c) whole_ += node_[2 * c] * node_[2 * c] / (node_[2 * c + 1] + options_.pull);
    for (std::size_t j = 0; j < rows_.columns; ++j) try_column(j, leaf, best);
    return best;
  }

  void try_column(std::size_t j, const Leaf& leaf, Split& best) {
    const std::size_t count = leaf.end - leaf.begin, size = levels_[j], step = 2 * width_;
    poll(4 * count * width_ + size);
    const std::uint16_t* codes = rows_.data + j * rows_.rows;
    order_.clear();
    if (count >= size) {
      for (std::size_t code = 0; code <= size; ++code) order_.push_back(static_cast<std::uint32_t>(code));
    } else {
      for (std::size_t i = leaf.begin; i < leaf.end; ++i) {
        const std::uint16_t code = codes[place_[i]];
        order_.push_back(code == kMissingCode ? static_cast<std::uint32_t>(size) : code);
      }
      std::sort(order_.begin(), order_.end());
      order_.erase(std::unique(order_.begin(), order_.end()), order_.end());
    }
    for (const std::uint32_t code : order_) {
      std::fill_n(table_.begin() + static_cast<std::ptrdiff_t>(code * step), step, 0.0);
      level_rows_[code] = 0;
    }
    for (std::size_t i = leaf.begin; i < leaf.end; ++i) {
      const std::uint32_t row = place_[i];
      const std::size_t code = codes[row] == kMissingCode ? size : codes[row];
      double* cell = &table_[code * step];
      for (std::size_t c = 0; c < width_; ++c) {
        cell[2 * c] += slope_[row * width_ + c];
        cell[2 * c + 1] += bend_[row * width_ + c];
      }
      ++level_rows_[code];
    }
    order_.erase(std::remove_if(order_.begin(), order_.end(), [&](std::uint32_t code) { return !level_rows_[code]; }),
                 order_.end());
    if (order_.size() < 2) return;
    if (!ordered_[j]) {
      sort_levels();
      sweep(j, count, best, false, true);
      return;
    }
    const bool some_missing = order_.back() == size;
    sweep(j, count, best, false, false);
    if (some_missing) {
      std::rotate(order_.begin(), order_.end() - 1, order_.end());
      sweep(j, count, best, true, false);
    }
  }

  // The levels of a category in the order of the step of one class: the one they differ in most.
  void sort_levels() {
    std::size_t chosen = 0;
    double most = -1;
    for (std::size_t c = 0; c < width_; ++c) {
      double told = 0;
      for (const std::uint32_t code : order_) {
        const double* cell = &table_[(code * width_ + c) * 2];
        told += cell[0] * cell[0] / (cell[1] + options_.pull);
      }
      if (told > most) most = told, chosen = c;
    }
    const auto step = [&](std::uint32_t code) {
      const double* cell = &table_[(code * width_ + chosen) * 2];
      return cell[0] / (cell[1] + options_.pull);
    };
    std::sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) {
      const double x = step(a), y = step(b);
      return x != y ? x < y : a < b;
    });
  }

  // Goes through the divisions of the codes in order_ into a first part and a rest.
  void sweep(std::size_t j, std::size_t count, Split& best, bool missing_first, bool set) {
    std::fill(left_.begin(), left_.end(), 0.0);
    std::size_t taken = 0;
    for (std::size_t i = 0; i + 1 < order_.size(); ++i) {
      const std::uint32_t code = order_[i];
      const double* cell = &table_[code * width_ * 2];
      for (std::size_t k = 0; k < 2 * width_; ++k) left_[k] += cell[k];
      taken += level_rows_[code];
      if (taken < options_.smallest || count - taken < options_.smallest) continue;
      double gain = -whole_;
      for (std::size_t c = 0; c < width_; ++c) {
        const double g = left_[2 * c], h = left_[2 * c + 1];
        const double rest_g = node_[2 * c] - g, rest_h = std::max(node_[2 * c + 1] - h, 0.0);
        gain += g * g / (h + options_.pull) + rest_g * rest_g / (rest_h + options_.pull);
      }
      if (gain <= best.gain + 1e-9) continue;
      best.gain = gain;
      best.column = static_cast<std::int32_t>(j);
      if (set) {
        keep_set(j, i, 2 * taken > count, best);
      } else {
        const std::uint32_t following = order_[i + 1];
        const bool only_missing = missing_first && i == 0;
        best.missing_left = missing_first || (following != levels_[j] && order_.back() != levels_[j] && 2 * taken > count);
        if (following == levels_[j]) best.threshold = static_cast<std::int32_t>(levels_[j]);
        else best.threshold = only_missing ? 0 : static_cast<std::int32_t>((code + following + 1) / 2);
      }
    }
  }

  // The codes up to `last` in order_ go left; levels that are not here go where most rows go.
  void keep_set(std::size_t j, std::size_t last, bool most_left, Split& best) {
    best.missing_left = most_left;
    best.set.assign((levels_[j] + 63) / 64, most_left ? ~std::uint64_t{0} : 0);
    for (std::size_t k = 0; k < order_.size(); ++k) {
      const std::uint32_t code = order_[k];
      const bool here = k <= last;
      if (code == levels_[j]) best.missing_left = here;
      else if (here) best.set[code / 64] |= std::uint64_t{1} << (code % 64);
      else best.set[code / 64] &= ~(std::uint64_t{1} << (code % 64));
    }
  }

  void divide(Forest& forest, std::vector<Leaf>& leaves, std::size_t which) {
    const Leaf at = leaves[which];
    const std::size_t left = forest.divide(at.node, at.best);
    const auto first = place_.begin() + static_cast<std::ptrdiff_t>(at.begin);
    const auto last = place_.begin() + static_cast<std::ptrdiff_t>(at.end);
    const auto middle = std::stable_partition(first, last, [&](std::uint32_t row) {
      return forest.goes_left(at.node, rows_.at(row, static_cast<std::size_t>(at.best.column)));
    });
    const std::size_t cut = static_cast<std::size_t>(middle - place_.begin());
    leaves[which] = {left, at.begin, cut, {}};
    leaves[which].best = best_split(leaves[which]);
    leaves.push_back({left + 1, cut, at.end, {}});
    leaves.back().best = best_split(leaves.back());
  }

  const CodedColumns rows_;
  const std::int32_t* target_;
  const std::size_t classes_, width_;
  const std::vector<std::size_t>& levels_;
  const std::vector<std::uint8_t>& ordered_;
  const BoostOptions options_;
  double whole_ = 0;
  std::vector<double> sum_, slope_, bend_, table_, left_, node_;
  std::vector<std::uint32_t> place_, level_rows_, order_;
};

// The log loss of rows after each tree, summed; `sum` (rows x classes) holds the start and becomes the whole sum.
inline std::vector<double> losses_by_round(const Forest& forest, const double* values, const CodedColumns& rows,
                                           const std::int32_t* target, std::size_t classes, double* sum) {
  std::vector<double> losses;
  for (const std::int32_t root : forest.root) {
    double loss = 0;
    for (std::size_t row = 0; row < rows.rows; ++row) {
      poll_at(row, 16);
      std::size_t node = static_cast<std::size_t>(root);
      while (forest.column[node] >= 0) node = forest.next(node, rows, row);
      double* own = sum + row * classes;
      double highest = -INFINITY, total = 0;
      for (std::size_t c = 0; c < classes; ++c) highest = std::max(highest, own[c] += values[node * classes + c]);
      for (std::size_t c = 0; c < classes; ++c) total += portable::exp(own[c] - highest);
      loss += highest + portable::log(total) - own[static_cast<std::size_t>(target[row])];
    }
    losses.push_back(loss);
  }
  return losses;
}

}  // namespace bayesbox
