// A forest of trees over coded columns. The splits of a tree are derived from some of the rows; its nodes have the
// counts of all rows by class, so that rows can be added to and subtracted from a grown forest.
//
// The probability in a node is that of its counts with `weight` rows added that are spread like its parent (a chain of
// Dirichlet priors from the leaf to the root); the forest averages its trees.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "core/functions.hpp"
#include "core/interrupt.hpp"
#include "tree/trees.hpp"

namespace bayesbox {

struct ForestOptions {
  std::size_t trees = 100;
  std::size_t tried = 0;   // columns tried in a node
  std::size_t sample = 0;  // rows that a tree is grown on
  std::size_t smallest = 2;  // rows that a node must have to be divided
  bool drawn = false;      // a threshold drawn at random in place of the best
  std::uint64_t seed = 0;
};

// Which rows a tree was grown on: the same draw again for the same seed.
inline std::vector<std::uint32_t> rows_of_tree(const ForestOptions& options, std::size_t tree, std::size_t rows) {
  poll(4 * rows);
  std::vector<std::uint32_t> order(rows);
  std::iota(order.begin(), order.end(), 0u);
  Draws draws(options.seed * 0x2545F4914F6CDD1Dull + tree * 2 + 1);
  const std::size_t sample = std::min(options.sample, rows);
  for (std::size_t i = 0; i < sample; ++i) std::swap(order[i], order[i + draws.below(rows - i)]);
  order.resize(sample);
  return order;
}

class ForestGrower {
 public:
  // `levels`: a column each, the number of its codes; `ordered`: whether they are cells of a line.
  ForestGrower(const CodedColumns& rows, const std::int32_t* target, std::size_t classes,
               const std::vector<std::size_t>& levels, const std::vector<std::uint8_t>& ordered,
               const ForestOptions& options)
      : rows_(rows), target_(target), classes_(classes), levels_(levels), ordered_(ordered), options_(options) {
    const std::size_t most = std::max<std::size_t>(options.sample, 1) + 1;
    n_log_n_.resize(most + 1);
    for (std::size_t n = 1; n <= most; ++n) n_log_n_[n] = static_cast<double>(n) * portable::log(static_cast<double>(n));
    left_.resize(classes);
    node_.resize(classes);
    std::size_t widest = 0;
    for (const std::size_t size : levels) widest = std::max(widest, size + 1);
    table_.resize(widest * classes);
    level_rows_.resize(widest);
  }

  Forest grow() {
    Forest forest(levels_, ordered_);
    for (std::size_t tree = 0; tree < options_.trees; ++tree) grow_tree(forest, tree);
    return forest;
  }

 private:
  struct Open {
    std::size_t node, begin, end;
  };

  void grow_tree(Forest& forest, std::size_t tree) {
    place_ = rows_of_tree(options_, tree, rows_.rows);
    Draws draws(options_.seed * 0x2545F4914F6CDD1Dull + tree * 2 + 2);
    forest.root.push_back(static_cast<std::int32_t>(forest.add_leaf()));
    std::vector<Open> open = {{forest.nodes() - 1, 0, place_.size()}};
    std::vector<std::size_t> columns(rows_.columns);
    while (!open.empty()) {
      const Open at = open.back();
      open.pop_back();
      if (at.end - at.begin < options_.smallest || is_pure(at)) continue;
      Split best;
      std::iota(columns.begin(), columns.end(), std::size_t{0});
      std::size_t tried = 0;
      for (std::size_t i = 0; i < columns.size() && (tried < options_.tried || best.column < 0); ++i) {
        std::swap(columns[i], columns[i + draws.below(columns.size() - i)]);
        tried += try_column(columns[i], at, best, draws);
      }
      if (best.column < 0) continue;
      divide(forest, at, best, open);
    }
  }

  bool is_pure(const Open& at) {
    std::fill(node_.begin(), node_.end(), 0u);
    for (std::size_t i = at.begin; i < at.end; ++i) ++node_[static_cast<std::size_t>(target_[place_[i]])];
    return node_[static_cast<std::size_t>(target_[place_[at.begin]])] == at.end - at.begin;
  }

  // Tries to divide the rows of a node by a column; false where they all have one code.
  bool try_column(std::size_t j, const Open& at, Split& best, Draws& draws) {
    const std::size_t count = at.end - at.begin, width = classes_;
    poll(4 * count + levels_[j]);
    const std::uint16_t* codes = rows_.data + j * rows_.rows;
    const std::size_t size = levels_[j];  // the row after the last is that of missing values
    order_.clear();
    if (count >= size) {
      std::fill(table_.begin(), table_.begin() + static_cast<std::ptrdiff_t>((size + 1) * width), 0u);
      std::fill(level_rows_.begin(), level_rows_.begin() + static_cast<std::ptrdiff_t>(size + 1), 0u);
      for (std::size_t i = at.begin; i < at.end; ++i) {
        const std::uint32_t row = place_[i];
        const std::size_t code = codes[row] == kMissingCode ? size : codes[row];
        ++table_[code * width + static_cast<std::size_t>(target_[row])];
        ++level_rows_[code];
      }
      for (std::size_t code = 0; code <= size; ++code)
        if (level_rows_[code]) order_.push_back(static_cast<std::uint32_t>(code));
    } else {
      for (std::size_t i = at.begin; i < at.end; ++i) {
        const std::uint32_t row = place_[i];
        order_.push_back(codes[row] == kMissingCode ? static_cast<std::uint32_t>(size) : codes[row]);
      }
      std::sort(order_.begin(), order_.end());
      order_.erase(std::unique(order_.begin(), order_.end()), order_.end());
      for (const std::uint32_t code : order_) {
        std::fill_n(table_.begin() + static_cast<std::ptrdiff_t>(code * width), width, 0u);
        level_rows_[code] = 0;
      }
      for (std::size_t i = at.begin; i < at.end; ++i) {
        const std::uint32_t row = place_[i];
        const std::size_t code = codes[row] == kMissingCode ? size : codes[row];
        ++table_[code * width + static_cast<std::size_t>(target_[row])];
        ++level_rows_[code];
      }
    }
    if (order_.size() < 2) return false;
    const bool some_missing = order_.back() == size;
    if (!ordered_[j]) {
      sort_levels(draws);
      sweep(j, count, order_.size(), best, draws, false, true);
    } else {
      if (some_missing) {
        sweep(j, count, order_.size(), best, draws, false, false);
        std::rotate(order_.begin(), order_.end() - 1, order_.end());
        sweep(j, count, order_.size(), best, draws, true, false);
      } else {
        sweep(j, count, order_.size(), best, draws, draws.next() & 1, false);
      }
    }
    return true;
  }

  // The levels of a category in the order of the share of one class, drawn among the rows.
  void sort_levels(Draws& draws) {
    std::size_t total = 0;
    for (std::size_t c = 0; c < classes_; ++c) total += node_[c];
    std::size_t drawn = draws.below(total), chosen = 0;
    while (drawn >= node_[chosen]) drawn -= node_[chosen++];
    std::sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) {
      const std::uint64_t x = static_cast<std::uint64_t>(table_[a * classes_ + chosen]) * level_rows_[b];
      const std::uint64_t y = static_cast<std::uint64_t>(table_[b * classes_ + chosen]) * level_rows_[a];
      return x != y ? x < y : a < b;
    });
  }

  // Goes through the divisions of the codes in order_ into a first part and a rest.
  void sweep(std::size_t j, std::size_t count, std::size_t size, Split& best, Draws& draws, bool missing_first,
             bool set) {
    std::fill(left_.begin(), left_.end(), 0u);
    double in = 0, out = 0, whole = n_log_n_[count];
    for (std::size_t c = 0; c < classes_; ++c) out += n_log_n_[node_[c]];
    whole -= out;
    std::size_t taken = 0;
    const std::size_t only = options_.drawn ? draws.below(size - 1) : size;
    for (std::size_t i = 0; i + 1 < size; ++i) {
      const std::uint32_t code = order_[i];
      const std::uint32_t* row = &table_[code * classes_];
      for (std::size_t c = 0; c < classes_; ++c) {
        if (!row[c]) continue;
        const std::uint32_t before = left_[c], after = before + row[c];
        in += n_log_n_[after] - n_log_n_[before];
        out += n_log_n_[node_[c] - after] - n_log_n_[node_[c] - before];
        left_[c] = after;
      }
      taken += level_rows_[code];
      if (only < size && i != only) continue;
      const double gain = whole - (n_log_n_[taken] - in) - (n_log_n_[count - taken] - out);
      if (gain <= best.gain + 1e-9 && best.column >= 0) continue;
      if (gain <= 1e-9 && best.column >= 0) continue;
      best.gain = gain;
      best.column = static_cast<std::int32_t>(j);
      if (set) {
        best.set.assign((levels_[j] + 63) / 64, 0);
        best.missing_left = 2 * taken > count;
        for (std::size_t k = 0; k <= i; ++k) {
          if (order_[k] == levels_[j]) best.missing_left = true;
          else best.set[order_[k] / 64] |= std::uint64_t{1} << (order_[k] % 64);
        }
        for (std::size_t k = i + 1; k < size; ++k)
          if (order_[k] == levels_[j]) best.missing_left = false;
        if (2 * taken > count) {  // levels that are not here go where most rows go
          absent_.assign(best.set.size(), ~std::uint64_t{0});
          for (std::size_t k = i + 1; k < size; ++k)
            if (order_[k] != levels_[j]) absent_[order_[k] / 64] &= ~(std::uint64_t{1} << (order_[k] % 64));
          best.set = absent_;
        }
      } else {
        const std::uint32_t following = order_[i + 1];
        best.missing_left = missing_first;
        // the boundary lies between the two codes, drawn if there are empty cells between them
        const std::uint32_t low = (code == levels_[j] && missing_first && i == 0) ? 0 : code + 1;
        if (following == levels_[j]) best.threshold = static_cast<std::int32_t>(levels_[j]);
        else if (i == 0 && missing_first && code == levels_[j]) best.threshold = 0;
        else best.threshold = static_cast<std::int32_t>(low + draws.below(following - low + 1));
      }
    }
  }

  void divide(Forest& forest, const Open& at, const Split& best, std::vector<Open>& open) {
    const std::size_t left = forest.divide(at.node, best);
    const auto first = place_.begin() + static_cast<std::ptrdiff_t>(at.begin);
    const auto last = place_.begin() + static_cast<std::ptrdiff_t>(at.end);
    const auto middle = std::partition(first, last, [&](std::uint32_t row) {
      return forest.goes_left(at.node, rows_.at(row, static_cast<std::size_t>(best.column)));
    });
    const std::size_t cut = static_cast<std::size_t>(middle - place_.begin());
    open.push_back({left + 1, cut, at.end});
    open.push_back({left, at.begin, cut});
  }

  const CodedColumns rows_;
  const std::int32_t* target_;
  const std::size_t classes_;
  const std::vector<std::size_t>& levels_;
  const std::vector<std::uint8_t>& ordered_;
  const ForestOptions options_;
  std::vector<double> n_log_n_;
  std::vector<std::uint32_t> place_, left_, node_, table_, level_rows_, order_;
  std::vector<std::uint64_t> absent_;
};

// Adds the rows to the counts of every node they come to: nodes x classes.
inline void count_in_forest(const Forest& forest, const CodedColumns& rows, const std::int32_t* target,
                            std::size_t classes, std::int64_t* counts) {
  for (const std::int32_t root : forest.root)
    for (std::size_t row = 0; row < rows.rows; ++row) {
      poll_at(row, 16);
      if (target[row] < 0) continue;
      std::size_t node = static_cast<std::size_t>(root);
      const std::size_t cls = static_cast<std::size_t>(target[row]);
      ++counts[node * classes + cls];
      while (forest.column[node] >= 0) {
        node = forest.next(node, rows, row);
        ++counts[node * classes + cls];
      }
    }
}

// One step of the chain of priors: `p` is the parent's distribution and becomes that of the node with these counts.
inline void step_down(const std::int64_t* counts, std::size_t classes, double weight, std::ptrdiff_t less, double* p) {
  double total = less >= 0 ? -1 : 0;  // exact up to 2^53, and no counts are too large for it
  for (std::size_t c = 0; c < classes; ++c) total += static_cast<double>(counts[c]);
  const double scale = 1.0 / (total + weight);
  for (std::size_t c = 0; c < classes; ++c) {
    const std::int64_t own = counts[c] - (static_cast<std::ptrdiff_t>(c) == less ? 1 : 0);
    p[c] = (static_cast<double>(own) + weight * p[c]) * scale;
  }
}

// The distribution of every node: nodes x classes. The prior of a root is uniform with a row's weight.
inline std::vector<double> forest_table(const Forest& forest, const std::int64_t* counts, std::size_t classes,
                                        double weight) {
  std::vector<double> table(forest.nodes() * classes);
  std::vector<std::size_t> open;
  for (const std::int32_t root : forest.root) {
    const std::size_t at = static_cast<std::size_t>(root);
    std::fill_n(&table[at * classes], classes, 1.0 / static_cast<double>(classes));
    step_down(counts + at * classes, classes, 1.0, -1, &table[at * classes]);
    open.push_back(at);
    while (!open.empty()) {
      poll(8 * classes);
      const std::size_t node = open.back();
      open.pop_back();
      if (forest.column[node] < 0) continue;
      for (std::size_t side = 0; side < 2; ++side) {
        const std::size_t next = static_cast<std::size_t>(forest.child[node]) + side;
        std::copy_n(&table[node * classes], classes, &table[next * classes]);
        step_down(counts + next * classes, classes, weight, -1, &table[next * classes]);
        open.push_back(next);
      }
    }
  }
  return table;
}

// Adds to `sum` (rows x classes) the predictions of the trees for each row.
inline void ask_forest(const Forest& forest, const CodedColumns& rows, const double* table, std::size_t classes,
                       double* sum) {
  for (const std::int32_t root : forest.root)
    for (std::size_t row = 0; row < rows.rows; ++row) {
      poll_at(row, 16);
      std::size_t node = static_cast<std::size_t>(root);
      while (forest.column[node] >= 0) node = forest.next(node, rows, row);
      for (std::size_t c = 0; c < classes; ++c) sum[row * classes + c] += table[node * classes + c];
    }
}

// The out-of-bag predictions of each row, with the row subtracted from the counts: rows x classes, and the number of
// such trees per row.
inline void ask_forest_without(const Forest& forest, const CodedColumns& rows, const std::int32_t* target,
                               const std::int64_t* counts, std::size_t classes, double weight,
                               const ForestOptions& options, double* sum, std::int32_t* asked) {
  std::vector<double> p(classes);
  std::vector<std::uint8_t> grown(rows.rows);
  for (std::size_t tree = 0; tree < forest.root.size(); ++tree) {
    std::fill(grown.begin(), grown.end(), std::uint8_t{0});
    for (const std::uint32_t row : rows_of_tree(options, tree, rows.rows)) grown[row] = 1;
    for (std::size_t row = 0; row < rows.rows; ++row) {
      poll_at(row, 16);
      if (grown[row]) continue;
      std::size_t node = static_cast<std::size_t>(forest.root[tree]);
      std::fill(p.begin(), p.end(), 1.0 / static_cast<double>(classes));
      step_down(counts + node * classes, classes, 1.0, target[row], p.data());
      while (forest.column[node] >= 0) {
        node = forest.next(node, rows, row);
        step_down(counts + node * classes, classes, weight, target[row], p.data());
      }
      for (std::size_t c = 0; c < classes; ++c) sum[row * classes + c] += p[c];
      ++asked[row];
    }
  }
}

}  // namespace bayesbox
