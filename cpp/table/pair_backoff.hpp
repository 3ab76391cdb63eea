// The tables of averaged one-dependence estimators: log P(x_j | class, x_i) of every two columns, backed off to
// P(x_j | class). The formulas are those of rule/backoff.py.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/elementary.hpp"
#include "core/interrupt.hpp"
#include "table/pair_layout.hpp"

namespace bayesbox {

// The columns of a model among those that were counted, and their levels among the counted ones (negative: not there).
struct PairColumns {
  std::vector<std::size_t> column;
  std::vector<std::vector<std::int64_t>> level;
};

class PairBackoff {
 public:
  // below, left_out: classes x slots, P(x | class) and the same with the row itself left out; every column has a slot for
  // each of its levels and one for an unseen level.
  PairBackoff(const PairLayout& layout, const double* counts, const PairColumns& columns, const std::vector<double>& weights,
              const double* below, const double* left_out)
      : layout_(layout), counts_(counts), columns_(columns), weights_(weights), below_(below), left_out_(left_out) {
    first_.push_back(0);
    for (const std::vector<std::int64_t>& levels : columns.level) first_.push_back(first_.back() + levels.size() + 1);
  }

  std::size_t slots() const { return first_.back(); }

  // table: slots x slots x classes, cleared; shares: columns x columns x weights, the trust of each pair.
  void fill(double* table, double* shares) {
    for (std::size_t parent = 0; parent < columns_.column.size(); ++parent)
      for (std::size_t child = 0; child < columns_.column.size(); ++child)
        if (parent != child) one(parent, child, table, shares + (parent * columns_.column.size() + child) * weights_.size());
  }

 private:
  void one(std::size_t parent, std::size_t child, double* table, double* shares) {
    const std::size_t classes = layout_.classes(), given = columns_.level[parent].size(), own = columns_.level[child].size();
    const std::size_t width = own + 1;
    poll(40 * classes * given * width);
    gather(parent, child);
    learn_trust(child, shares);
    probability_.assign(given * width * classes, 0.0);
    for (std::size_t c = 0; c < classes; ++c)
      for (std::size_t a = 0; a < given; ++a) {
        const double total = total_[c * given + a], m = rows_of(total, shares);
        for (std::size_t b = 0; b < width; ++b)
          probability_[(a * width + b) * classes + c] =
              (n_[(c * given + a) * width + b] + m * below_[c * slots() + first_[child] + b]) / (total + m);
      }
    natural_logarithms(probability_);
    for (std::size_t a = 0; a < given; ++a)
      for (std::size_t b = 0; b < width; ++b) {
        const double* from = &probability_[(a * width + b) * classes];
        double* to = table + ((first_[parent] + a) * slots() + first_[child] + b) * classes;
        if (std::any_of(from, from + classes, [](double x) { return x > -INFINITY; })) std::copy(from, from + classes, to);
      }
  }

  // n_: classes x levels of the parent x slots of the child; total_: of each of these rows.
  void gather(std::size_t parent, std::size_t child) {
    const std::vector<std::int64_t>&rows = columns_.level[parent], &levels = columns_.level[child];
    const std::size_t i = columns_.column[parent], j = columns_.column[child], width = levels.size() + 1;
    const std::size_t block = layout_.sizes()[i] * layout_.sizes()[j];
    const double* counts = counts_ + (i < j ? layout_.pair(i, j) : layout_.pair(j, i));
    const std::size_t by_row = i < j ? layout_.sizes()[j] : 1, by_level = i < j ? 1 : layout_.sizes()[i];
    n_.assign(layout_.classes() * rows.size() * width, 0.0);
    total_.assign(layout_.classes() * rows.size(), 0.0);
    for (std::size_t c = 0; c < layout_.classes(); ++c, counts += block)
      for (std::size_t a = 0; a < rows.size(); ++a) {
        if (rows[a] < 0) continue;
        for (std::size_t b = 0; b + 1 < width; ++b) {
          if (levels[b] < 0) continue;
          const double n = counts[static_cast<std::size_t>(rows[a]) * by_row + static_cast<std::size_t>(levels[b]) * by_level];
          n_[(c * rows.size() + a) * width + b] = n;
          total_[c * rows.size() + a] += n;
        }
      }
  }

  // P(m | rows): from the probability of each row given all the others.
  void learn_trust(std::size_t child, double* shares) {
    const std::size_t width = columns_.level[child].size() + 1, contexts = total_.size(), given = contexts / layout_.classes();
    seen_.clear();
    values_.clear();
    for (std::size_t k = 0; k < contexts; ++k)
      for (std::size_t b = 0; b < width; ++b) {
        const double n = n_[k * width + b];
        if (!(n > 0)) continue;
        seen_.push_back(n);
        const double lower = left_out_[(k / given) * slots() + first_[child] + b];
        for (const double weight : weights_)
          values_.push_back((std::max(n - 1, 0.0) + weight * lower) / (std::max(total_[k] - 1, 0.0) + weight));
      }
    const std::size_t count = weights_.size();
    if (seen_.empty()) {
      std::fill(shares, shares + count, 0.0);
      shares[count - 1] = 1.0;
      return;
    }
    natural_logarithms(values_);
    gains_.assign(count, 0.0);
    for (std::size_t k = 0; k < seen_.size(); ++k)
      for (std::size_t w = 0; w < count; ++w) gains_[w] += seen_[k] * values_[k * count + w];
    const double most = *std::max_element(gains_.begin(), gains_.end());
    for (double& gain : gains_) gain -= most;
    exponentials_up_to_one(gains_);
    double sum = 0, kept = 0;
    for (const double gain : gains_) sum += gain;
    for (double& gain : gains_) {
      if (gain < 1e-9 * sum) gain = 0.0;
      kept += gain;
    }
    for (std::size_t w = 0; w < count; ++w) shares[w] = gains_[w] / kept;
  }

  // The one m by which a context of this many rows gets the average over all m.
  double rows_of(double total, const double* shares) const {
    double over = 0, under = 0;
    for (std::size_t w = 0; w < weights_.size(); ++w)
      if (shares[w] != 0) {
        over += shares[w] * weights_[w] / (total + weights_[w]);
        under += shares[w] / (total + weights_[w]);
      }
    return over / under;
  }

  const PairLayout& layout_;
  const double* counts_;
  const PairColumns& columns_;
  const std::vector<double>& weights_;
  const double *below_, *left_out_;
  std::vector<std::size_t> first_;
  std::vector<double> n_, total_, probability_, seen_, values_, gains_;
};

}  // namespace bayesbox
