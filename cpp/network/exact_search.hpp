// The best network of all, by dynamic programming over sets of columns (Silander and Myllymaki, 2006).
//
// A network without a cycle has a column that is nobody's parent; so the best score of a set is the best, over its
// columns v, of the best score of the others plus the best score of v with parents among them. Sets are bits.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/functions.hpp"
#include "core/interrupt.hpp"
#include "network/family_counts.hpp"
#include "network/family_score.hpp"

namespace bayesbox {

using Bits = std::uint32_t;

struct ExactTask {
  ScoreKind kind = ScoreKind::likelihood;
  double parameter = 0;      // as in FamilyScore
  std::size_t most_parents = 0;
  std::vector<Bits> required, forbidden;  // parents of each column
};

class ExactSearch {
 public:
  ExactSearch(const std::vector<CodeColumn>& columns, std::size_t rows, const ExactTask& task)
      : columns_(columns), count_(columns.size()), task_(task) {
    merge_equal_rows(rows);
    sums_.assign(1 + sizes_.size(), {});
    for (auto& sums : sums_) sums.assign(std::size_t{1} << count_, kUnknown);
    std::vector<std::uint32_t> group(weights_.size(), 0);
    visit(0, 0, group, 1, 1.0);
  }

  // The parents of each column; empty if no network satisfies the required and forbidden arcs.
  std::vector<Bits> best() const {
    const std::size_t sets = std::size_t{1} << count_;
    std::vector<double> total(sets, kNever);
    std::vector<std::uint8_t> last(sets, 0);
    std::vector<std::vector<double>> score(count_);
    std::vector<std::vector<Bits>> parents(count_);
    for (std::size_t v = 0; v < count_; ++v) best_parents(v, score[v], parents[v]);
    total[0] = 0;
    for (Bits set = 1; set < sets; ++set) {
      poll_at(set, 4 * count_);
      for (Bits left = set; left != 0; left &= left - 1) {
        const auto v = static_cast<std::size_t>(std::countr_zero(left));
        const Bits others = set & ~(Bits{1} << v);
        const double found = total[others] + score[v][without(others, v)];
        if (found > total[set]) {
          total[set] = found;
          last[set] = static_cast<std::uint8_t>(v);
        }
      }
    }
    if (total[sets - 1] == kNever) return {};
    std::vector<Bits> chosen(count_);
    for (Bits set = static_cast<Bits>(sets - 1); set != 0;) {
      const std::size_t v = last[set];
      set &= ~(Bits{1} << v);
      chosen[v] = parents[v][without(set, v)];
    }
    return chosen;
  }

 private:
  static constexpr double kNever = -std::numeric_limits<double>::infinity();
  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

  // Rows that are equal in every column are merged with a count.
  void merge_equal_rows(std::size_t rows) {
    std::vector<std::uint32_t> group(rows, 0);
    std::uint32_t groups = rows > 0 ? 1 : 0;
    for (std::size_t v = 0; v < count_; ++v) groups = refine(columns_[v], {}, group, groups, group);
    std::vector<std::size_t> first(groups);
    weights_.assign(groups, 0);
    for (std::size_t i = rows; i-- > 0;) {
      first[group[i]] = i;
      ++weights_[group[i]];
    }
    codes_.assign(count_, std::vector<std::uint16_t>(groups));
    for (std::size_t v = 0; v < count_; ++v) {
      for (std::size_t g = 0; g < groups; ++g) codes_[v][g] = static_cast<std::uint16_t>(columns_[v].at(first[g]));
      const double size = static_cast<double>(columns_[v].size);
      if (task_.kind == ScoreKind::dirichlet && place_of(size) == 0) sizes_.push_back(size);
    }
  }
  std::size_t place_of(double size) const {
    for (std::size_t i = 0; i < sizes_.size(); ++i)
      if (sizes_[i] == size) return i + 1;
    return 0;
  }

  // Splits groups by the values of a column; groups are numbered in order of appearance.
  std::uint32_t refine(const CodeColumn& column, const std::vector<std::uint16_t>& codes,
                       const std::vector<std::uint32_t>& group, std::uint32_t groups,
                       std::vector<std::uint32_t>& to) {
    poll(4 * group.size() + groups);
    number_.assign(static_cast<std::size_t>(groups) * static_cast<std::size_t>(column.size), 0);
    std::uint32_t next = 0;
    for (std::size_t i = 0; i < group.size(); ++i) {
      const std::uint32_t code = codes.empty() ? column.at(i) : codes[i];
      std::uint32_t& number = number_[group[i] * static_cast<std::size_t>(column.size) + code];
      if (number == 0) number = ++next;
      to[i] = number - 1;
    }
    return next;
  }

  // All sets that add columns from `from` on to `set`, whose combinations are the groups.
  void visit(Bits set, std::size_t from, const std::vector<std::uint32_t>& group, std::uint32_t groups, double cells) {
    std::vector<std::uint64_t> totals(groups, 0);
    for (std::size_t i = 0; i < group.size(); ++i) totals[group[i]] += weights_[i];
    note(set, totals, cells);
    if (static_cast<std::size_t>(std::popcount(set)) > task_.most_parents) return;
    std::vector<std::uint32_t> finer(group.size());
    for (std::size_t v = from; v < count_; ++v) {
      const std::uint32_t more = refine(columns_[v], codes_[v], group, groups, finer);
      visit(set | (Bits{1} << v), v + 1, finer, more, cells * static_cast<double>(columns_[v].size));
    }
  }

  // What a set contributes: as a child with its parents, and (for Dirichlet) as the parents of a child of each size.
  void note(Bits set, const std::vector<std::uint64_t>& totals, double cells) {
    if (task_.kind == ScoreKind::likelihood) {
      double sum = 0;
      for (const std::uint64_t n : totals) sum += n > 0 ? static_cast<double>(n) * portable::log(static_cast<double>(n)) : 0;
      sums_[0][set] = sum;
      return;
    }
    const auto gamma_sum = [&](double a) {
      const double before = log_gamma(a);
      double sum = 0;
      for (const std::uint64_t n : totals)
        if (n > 0) sum += log_gamma(static_cast<double>(n) + a) - before;
      return sum;
    };
    sums_[0][set] = gamma_sum(task_.kind == ScoreKind::bdeu ? task_.parameter / cells : task_.parameter);
    for (std::size_t i = 0; i < sizes_.size(); ++i) sums_[i + 1][set] = gamma_sum(task_.parameter * sizes_[i]);
  }

  double family(std::size_t v, Bits parents) const {
    if (static_cast<std::size_t>(std::popcount(parents)) > task_.most_parents) return kNever;
    if ((parents & task_.forbidden[v]) != 0 || (parents & task_.required[v]) != task_.required[v]) return kNever;
    const double size = static_cast<double>(columns_[v].size);
    const std::size_t half = task_.kind == ScoreKind::dirichlet ? place_of(size) : 0;
    double score = sums_[0][parents | (Bits{1} << v)] - sums_[half][parents];
    if (task_.kind == ScoreKind::likelihood) {
      double combinations = 1;
      for (Bits left = parents; left != 0; left &= left - 1)
        combinations *= static_cast<double>(columns_[static_cast<std::size_t>(std::countr_zero(left))].size);
      score -= task_.parameter * combinations * (size - 1);
    }
    return score;
  }

  // A set of other columns without the gap that v leaves.
  static Bits without(Bits set, std::size_t v) {
    const Bits low = (Bits{1} << v) - 1;
    return (set & low) | ((set >> 1) & ~low);
  }
  static Bits with_gap(Bits set, std::size_t v) {
    const Bits low = (Bits{1} << v) - 1;
    return (set & low) | ((set & ~low) << 1);
  }

  // For each set of other columns, the best parents within it.
  void best_parents(std::size_t v, std::vector<double>& score, std::vector<Bits>& parents) const {
    const std::size_t sets = std::size_t{1} << (count_ - 1);
    score.assign(sets, kNever);
    parents.assign(sets, 0);
    for (Bits set = 0; set < sets; ++set) {
      poll_at(set, 4 * count_);
      const Bits whole = with_gap(set, v);
      for (Bits left = set; left != 0; left &= left - 1) {
        const Bits smaller = set & ~(left & (~left + 1));
        if (score[smaller] > score[set]) score[set] = score[smaller], parents[set] = parents[smaller];
      }
      const double own = family(v, whole);
      if (own > score[set]) score[set] = own, parents[set] = whole;
    }
  }

  const std::vector<CodeColumn>& columns_;
  std::size_t count_;
  ExactTask task_;
  std::vector<std::uint64_t> weights_;                // rows behind each distinct row
  std::vector<std::vector<std::uint16_t>> codes_;     // of the distinct rows
  std::vector<double> sizes_;                         // distinct numbers of states, where the score asks for them
  std::vector<std::vector<double>> sums_;             // by set: as a whole; then as parents of a child of each size
  std::vector<std::uint32_t> number_;
};

}  // namespace bayesbox
