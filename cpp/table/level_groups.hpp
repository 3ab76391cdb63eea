// Which levels of a category to take together, from their counts by class: Boulle's MODL criterion for groupings.
//
//   cost = log V + log B(V, I) + sum over the I groups of log C(N_i + J - 1, J - 1) + log N_i! / prod n_ij!
//
// B(V, I) is the number of ways to put V levels into at most I groups (a sum of Stirling numbers of the second kind).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "core/functions.hpp"
#include "core/interrupt.hpp"
#include "table/cut_points.hpp"

namespace bayesbox {

class ModlGroups {
 public:
  static constexpr std::size_t kExact = 10;  // levels up to which the best grouping is found without a shortcut
  static constexpr std::size_t kMost = 512;  // the rarer levels beyond begin in one group

  ModlGroups(std::vector<double> counts, std::size_t levels, std::size_t classes)
      : counts_(std::move(counts)), levels_(levels), classes_(classes) {
    present_ = 0;
    for (std::size_t c = 0; c < classes; ++c) {
      double sum = 0;
      for (std::size_t v = 0; v < levels; ++v) sum += counts_[v * classes + c];
      if (sum > 0) ++present_;
    }
    offset_ = log_gamma(std::max(present_, 1.0));
  }

  // The group of each level, numbered in the order of their first levels.
  std::vector<std::int32_t> groups() {
    if (levels_ == 0) return {};
    if (present_ < 2) return std::vector<std::int32_t>(levels_, 0);
    std::vector<std::int32_t> unit = units();
    size_ = static_cast<std::size_t>(*std::max_element(unit.begin(), unit.end())) + 1;
    log_ways();
    std::vector<std::int32_t> group = size_ <= kExact ? best() : settled(merged());
    for (auto& each : unit) each = group[static_cast<std::size_t>(each)];
    return numbered(unit);
  }

 private:
  using Counts = std::vector<double>;

  double cost_of(const Counts& each) const {
    poll(16 * each.size());
    double n = 0, factorials = 0;
    for (const double count : each) {
      if (count <= 0) continue;
      n += count;
      factorials += log_gamma(count + 1);
    }
    return log_gamma(n + present_) - offset_ - factorials;
  }
  Counts unit_counts(std::size_t unit) const {
    return {units_.begin() + static_cast<std::ptrdiff_t>(unit * classes_),
            units_.begin() + static_cast<std::ptrdiff_t>((unit + 1) * classes_)};
  }
  static Counts sum(Counts one, const Counts& other, double sign = 1) {
    for (std::size_t c = 0; c < one.size(); ++c) one[c] += sign * other[c];
    return one;
  }

  // What is grouped: each level by itself, the rarest beyond the limit together.
  std::vector<std::int32_t> units() {
    std::vector<std::int32_t> unit(levels_);
    std::iota(unit.begin(), unit.end(), 0);
    if (levels_ > kMost) {
      std::vector<double> total(levels_, 0.0);
      for (std::size_t v = 0; v < levels_; ++v)
        for (std::size_t c = 0; c < classes_; ++c) total[v] += counts_[v * classes_ + c];
      std::vector<std::int32_t> order = unit;
      std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) {
        return total[static_cast<std::size_t>(a)] > total[static_cast<std::size_t>(b)];
      });
      for (std::size_t rank = 0; rank < levels_; ++rank)
        unit[static_cast<std::size_t>(order[rank])] = static_cast<std::int32_t>(std::min(rank, kMost - 1));
    }
    const std::size_t size = std::min(levels_, kMost);
    units_.assign(size * classes_, 0.0);
    for (std::size_t v = 0; v < levels_; ++v)
      for (std::size_t c = 0; c < classes_; ++c)
        units_[static_cast<std::size_t>(unit[v]) * classes_ + c] += counts_[v * classes_ + c];
    return unit;
  }

  // log B(size, I) for I = 1 .. size, from S(v, i) = i S(v - 1, i) + S(v - 1, i - 1) in logs.
  void log_ways() {
    const double none = -std::numeric_limits<double>::infinity();
    const auto log_sum = [](double a, double b) {
      if (a < b) std::swap(a, b);
      return std::isinf(b) ? a : a + portable::log1p(portable::exp(b - a));
    };
    std::vector<double> stirling(size_ + 1, none);
    stirling[0] = 0;
    for (std::size_t v = 1; v <= size_; ++v) {
      for (std::size_t i = v; i >= 1; --i)
        stirling[i] = log_sum(portable::log(static_cast<double>(i)) + stirling[i], stirling[i - 1]);
      stirling[0] = none;
    }
    prior_.assign(size_ + 1, none);
    for (std::size_t i = 1; i <= size_; ++i) prior_[i] = log_sum(prior_[i - 1], stirling[i]);
  }

  // Few levels: the best grouping of every subset, by the group that its first level is in.
  std::vector<std::int32_t> best() const {
    const std::size_t subsets = std::size_t{1} << size_;
    std::vector<double> each(subsets, 0.0);
    for (std::size_t set = 1; set < subsets; ++set) {
      Counts total(classes_, 0.0);
      for (std::size_t v = 0; v < size_; ++v)
        if (set >> v & 1) total = sum(std::move(total), unit_counts(v));
      each[set] = cost_of(total);
    }
    const double none = std::numeric_limits<double>::infinity();
    std::vector<std::vector<double>> cost(size_ + 1, std::vector<double>(subsets, none));
    std::vector<std::vector<std::size_t>> taken(size_ + 1, std::vector<std::size_t>(subsets, 0));
    cost[0][0] = 0;
    double least = none;
    std::size_t groups = 1;
    for (std::size_t k = 1; k <= size_; ++k) {
      poll(4 * subsets);
      for (std::size_t set = 1; set < subsets; ++set) {
        const std::size_t first = set & (~set + 1), rest = set ^ first;
        for (std::size_t more = rest;; more = (more - 1) & rest) {
          const double found = each[first | more] + cost[k - 1][rest ^ more];
          if (found < cost[k][set]) {
            cost[k][set] = found;
            taken[k][set] = first | more;
          }
          if (more == 0) break;
        }
      }
      const double found = cost[k][subsets - 1] + prior_[k];
      if (found < least - 1e-12 * std::abs(found)) {
        least = found;
        groups = k;
      }
    }
    std::vector<std::int32_t> group(size_, 0);
    std::size_t set = subsets - 1;
    for (std::size_t k = groups; k > 0; --k) {
      const std::size_t members = taken[k][set];
      for (std::size_t v = 0; v < size_; ++v)
        if (members >> v & 1) group[v] = static_cast<std::int32_t>(k);
      set ^= members;
    }
    return group;
  }

  // Merge the two groups whose merging costs least, down to one; the cheapest grouping on the way counts.
  std::vector<std::int32_t> merged() const {
    std::vector<std::int32_t> group(size_);
    std::iota(group.begin(), group.end(), 0);
    std::vector<Counts> counts(size_);
    std::vector<double> own(size_), change(size_ * size_);
    std::vector<std::size_t> alive(size_);
    std::iota(alive.begin(), alive.end(), std::size_t{0});
    double sum_own = 0;
    for (std::size_t i = 0; i < size_; ++i) {
      counts[i] = unit_counts(i);
      own[i] = cost_of(counts[i]);
      sum_own += own[i];
    }
    const auto weigh = [&](std::size_t i, std::size_t j) {
      change[std::min(i, j) * size_ + std::max(i, j)] = cost_of(sum(counts[i], counts[j])) - own[i] - own[j];
    };
    for (std::size_t i = 0; i < size_; ++i)
      for (std::size_t j = i + 1; j < size_; ++j) weigh(i, j);
    std::vector<std::int32_t> cheapest = group;
    double least = sum_own + prior_[size_];
    while (alive.size() > 1) {
      std::size_t one = 0, other = 1;
      poll(alive.size() * alive.size() / 2);
      double best = std::numeric_limits<double>::infinity();
      for (std::size_t a = 0; a < alive.size(); ++a)
        for (std::size_t b = a + 1; b < alive.size(); ++b)
          if (change[alive[a] * size_ + alive[b]] < best) {
            best = change[alive[a] * size_ + alive[b]];
            one = a;
            other = b;
          }
      const std::size_t kept = alive[one], gone = alive[other];
      counts[kept] = sum(std::move(counts[kept]), counts[gone]);
      own[kept] = cost_of(counts[kept]);
      sum_own += best;
      for (auto& each : group)
        if (each == static_cast<std::int32_t>(gone)) each = static_cast<std::int32_t>(kept);
      alive.erase(alive.begin() + static_cast<std::ptrdiff_t>(other));
      for (const std::size_t i : alive)
        if (i != kept) weigh(kept, i);
      const double cost = sum_own + prior_[alive.size()];
      if (cost < least) {
        least = cost;
        cheapest = group;
      }
    }
    return cheapest;
  }

  // Move single levels to the group where they cost least, until none moves.
  std::vector<std::int32_t> settled(std::vector<std::int32_t> group) const {
    std::vector<Counts> counts(size_, Counts(classes_, 0.0));
    std::vector<std::size_t> members(size_, 0);
    for (std::size_t v = 0; v < size_; ++v) {
      const auto g = static_cast<std::size_t>(group[v]);
      counts[g] = sum(std::move(counts[g]), unit_counts(v));
      ++members[g];
    }
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t v = 0; v < size_; ++v) {
        const auto from = static_cast<std::size_t>(group[v]);
        const Counts own = unit_counts(v), left = sum(counts[from], own, -1);
        const double without = members[from] > 1 ? cost_of(left) - cost_of(counts[from]) : -cost_of(counts[from]);
        std::size_t number = 0, best = from;
        for (const std::size_t count : members) number += count > 0;
        const double fewer = members[from] > 1 ? 0.0 : prior_[number - 1] - prior_[number];
        double least = -1e-9;
        for (std::size_t to = 0; to < size_; ++to) {
          if (to == from || members[to] == 0) continue;
          const double found = without + fewer + cost_of(sum(counts[to], own)) - cost_of(counts[to]);
          if (found < least) {
            least = found;
            best = to;
          }
        }
        if (best == from) continue;
        counts[from] = left;
        --members[from];
        counts[best] = sum(std::move(counts[best]), own);
        ++members[best];
        group[v] = static_cast<std::int32_t>(best);
        moved = true;
      }
    }
    return group;
  }

  static std::vector<std::int32_t> numbered(const std::vector<std::int32_t>& group) {
    std::vector<std::int32_t> number(static_cast<std::size_t>(*std::max_element(group.begin(), group.end())) + 1, -1);
    std::vector<std::int32_t> result(group.size());
    std::int32_t next = 0;
    for (std::size_t v = 0; v < group.size(); ++v) {
      auto& own = number[static_cast<std::size_t>(group[v])];
      if (own < 0) own = next++;
      result[v] = own;
    }
    return result;
  }

  std::vector<double> counts_, units_, prior_;
  std::size_t levels_, classes_, size_ = 0;
  double present_ = 0, offset_ = 0;
};

}  // namespace bayesbox
