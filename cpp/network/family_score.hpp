// Scores of structure learning: how well a column is explained by others, from counts.
//
// With n_jk rows of the child's state k in the parents' combination j and n_j = sum of n_jk:
//   log-likelihood    sum n_jk log(n_jk / n_j)
//   penalised         the same, less (penalty) for each of the (r - 1) q parameters
//   Dirichlet(a)      sum_j [lnG(r a) - lnG(n_j + r a)] + sum_jk [lnG(n_jk + a) - lnG(a)]      (K2: a = 1)
//   BDeu(ess)         the same with a = ess / (q r)
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/functions.hpp"
#include "core/interrupt.hpp"
#include "core/log_gamma.hpp"
#include "network/family_counts.hpp"

namespace bayesbox {

enum class ScoreKind : std::uint8_t { likelihood, dirichlet, bdeu };

class FamilyScore {
 public:
  static constexpr std::size_t kListed = std::size_t{1} << 20;  // counts with precomputed terms

  // parameter: the penalty of a free parameter, a, or the equivalent sample size; scale: the weight of a counted row.
  FamilyScore(ScoreKind kind, double parameter, double scale, std::size_t rows)
      : kind_(kind), parameter_(parameter), scale_(scale) {
    if (kind_ == ScoreKind::likelihood) {
      logs_.resize(std::min(rows + 1, kListed));
      for (std::size_t n = 0; n < logs_.size(); ++n) logs_[n] = plain(n);
    }
  }

  // A dense table of which the child is one axis: `before` x `states` x `after`.
  template <class Count>
  double dense(const Count* table, std::int64_t before, std::int64_t states, std::int64_t after) const {
    const double combinations = static_cast<double>(before) * static_cast<double>(after);
    Sum sum = begin(combinations, static_cast<double>(states));
    for (std::int64_t i = 0; i < before; ++i, table += states * after)
      for (std::int64_t j = 0; j < after; ++j) {
        poll(8 * static_cast<std::size_t>(states));
        std::uint64_t total = 0;
        for (std::int64_t k = 0; k < states; ++k) {
          const auto n = static_cast<std::uint64_t>(table[k * after + j]);
          if (n == 0) continue;
          total += n;
          sum.child(*this, n);
        }
        if (total > 0) sum.parents(*this, total);
      }
    return end(sum, combinations, static_cast<double>(states));
  }

  // Places of the rows in a table whose last axis is the child's; they are sorted on the way.
  double sparse(std::vector<std::uint64_t>& places, double combinations, std::uint64_t states) const {
    std::sort(places.begin(), places.end());
    Sum sum = begin(combinations, static_cast<double>(states));
    std::size_t at = 0;
    while (at < places.size()) {
      poll(8);
      const std::uint64_t group = places[at] / states;
      std::uint64_t total = 0;
      while (at < places.size() && places[at] / states == group) {
        const std::uint64_t cell = places[at];
        std::uint64_t n = 0;
        while (at < places.size() && places[at] == cell) ++n, ++at;
        total += n;
        sum.child(*this, n);
      }
      sum.parents(*this, total);
    }
    return end(sum, combinations, static_cast<double>(states));
  }

 private:
  double plain(std::uint64_t n) const {
    const double x = static_cast<double>(n) * scale_;
    return x > 0 ? x * portable::log(x) : 0.0;
  }
  double x_log_x(std::uint64_t n) const { return n < logs_.size() ? logs_[n] : plain(n); }

  // The two halves of a score, kept separately: each is monotone.
  struct Sum {
    double above = 0, below = 0;
    double a = 0, b = 0;            // Dirichlet: the pseudo-counts of a cell and of a combination
    double log_a = 0, log_b = 0;    // ln gamma of these

    void child(const FamilyScore& score, std::uint64_t n) {
      above += score.kind_ == ScoreKind::likelihood
                   ? score.x_log_x(n)
                   : log_gamma(static_cast<double>(n) * score.scale_ + a) - log_a;
    }
    void parents(const FamilyScore& score, std::uint64_t n) {
      below += score.kind_ == ScoreKind::likelihood
                   ? score.x_log_x(n)
                   : log_gamma(static_cast<double>(n) * score.scale_ + b) - log_b;
    }
  };
  Sum begin(double combinations, double states) const {
    Sum sum;
    if (kind_ == ScoreKind::likelihood) return sum;
    sum.a = kind_ == ScoreKind::bdeu ? parameter_ / (combinations * states) : parameter_;
    sum.b = kind_ == ScoreKind::bdeu ? parameter_ / combinations : parameter_ * states;
    sum.log_a = log_gamma(sum.a);
    sum.log_b = log_gamma(sum.b);
    return sum;
  }
  double end(const Sum& sum, double combinations, double states) const {
    const double score = sum.above - sum.below;
    return kind_ == ScoreKind::likelihood ? score - parameter_ * combinations * (states - 1) : score;
  }

  ScoreKind kind_;
  double parameter_, scale_;
  std::vector<double> logs_;
};

}  // namespace bayesbox
