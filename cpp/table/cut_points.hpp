// Where to cut a column of numbers, from the counts of its distinct values by class (values ascending).
//
// A cut is the position k of the last value below it: it lies between the values k and k + 1.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <queue>
#include <utility>
#include <vector>

#include "core/functions.hpp"
#include "core/interrupt.hpp"
#include "core/log_gamma.hpp"

namespace bayesbox {

// Counts summed up from the first value: any run of values is the difference of two rows.
class RunningCounts {
 public:
  RunningCounts(const double* counts, std::size_t values, std::size_t classes)
      : values_(values), classes_(classes), sums_((values + 1) * classes, 0.0) {
    for (std::size_t v = 0; v < values; ++v)
      for (std::size_t c = 0; c < classes; ++c) at(v + 1, c) = at(v, c) + counts[v * classes + c];
  }
  std::size_t values() const { return values_; }
  std::size_t classes() const { return classes_; }
  // The count of a class in the values first .. last - 1. What rounding leaves of fractional weights is none.
  double of(std::size_t first, std::size_t last, std::size_t c) const {
    const double upper = sums_[last * classes_ + c], count = upper - sums_[first * classes_ + c];
    return count > 1e-12 * upper ? count : 0.0;
  }
  double total(std::size_t first, std::size_t last) const {
    double sum = 0;
    for (std::size_t c = 0; c < classes_; ++c) sum += of(first, last, c);
    return sum;
  }

 private:
  double& at(std::size_t v, std::size_t c) { return sums_[v * classes_ + c]; }

  std::size_t values_, classes_;
  std::vector<double> sums_;
};

// -- Fayyad and Irani (1993): the cut of least entropy, again and again, as long as it pays for its description ------

struct Entropy {
  double n = 0, nats = 0;  // nats: n times the entropy
  int classes = 0;         // that occur
};

inline Entropy entropy_of(const RunningCounts& counts, std::size_t first, std::size_t last) {
  Entropy found;
  double sum = 0;
  for (std::size_t c = 0; c < counts.classes(); ++c) {
    const double n = counts.of(first, last, c);
    if (n <= 0) continue;
    found.n += n;
    sum += n * portable::log(n);
    ++found.classes;
  }
  found.nats = found.n > 0 ? found.n * portable::log(found.n) - sum : 0.0;
  return found;
}

// Whether the gain exceeds (log2(N - 1) + log2(3^k - 2) - (k E - k1 E1 - k2 E2)) / N, all of it times N and in nats.
inline bool cut_pays(const Entropy& whole, const Entropy& left, const Entropy& right) {
  const double gain = whole.nats - left.nats - right.nats;
  if (whole.n < 2 || gain <= 0) return false;
  const double k = whole.classes;
  const double coding = k * portable::log(3.0) + portable::log1p(-2 * portable::exp(-k * portable::log(3.0)));
  const double drop = k * whole.nats / whole.n - left.classes * (left.n > 0 ? left.nats / left.n : 0.0) -
                      right.classes * (right.n > 0 ? right.nats / right.n : 0.0);
  return gain > portable::log(whole.n - 1) + coding - drop;
}

inline std::vector<std::int64_t> mdl_cuts(const RunningCounts& counts) {
  std::vector<std::int64_t> cuts;
  std::vector<std::pair<std::size_t, std::size_t>> waiting = {{0, counts.values()}};
  while (!waiting.empty()) {
    const auto [first, last] = waiting.back();
    waiting.pop_back();
    if (last - first < 2) continue;
    const Entropy whole = entropy_of(counts, first, last);
    const double tie = 1e-13 * whole.n * (1 + portable::log1p(whole.n));  // what rounding alone can make of equal entropies
    std::size_t best = first;
    double least = whole.nats;
    for (std::size_t cut = first + 1; cut < last; ++cut) {
      poll(16 * counts.classes());
      const double nats = entropy_of(counts, first, cut).nats + entropy_of(counts, cut, last).nats;
      if (nats < least - tie) {
        least = nats;
        best = cut;
      }
    }
    if (best == first || !cut_pays(whole, entropy_of(counts, first, best), entropy_of(counts, best, last))) continue;
    cuts.push_back(static_cast<std::int64_t>(best) - 1);
    waiting.emplace_back(first, best);
    waiting.emplace_back(best, last);
  }
  std::sort(cuts.begin(), cuts.end());
  return cuts;
}

// -- Boulle (2006), MODL: the most probable partition into intervals ------------------------------------------------
//
//   cost = log N + log C(N + I - 1, I - 1) + sum over the I intervals of log C(N_i + J - 1, J - 1) + log N_i! / prod n_ij!
//
// The two terms of an interval are together log (N_i + J - 1)! / ((J - 1)! prod n_ij!). As a function of where a cut
// lies within a run of values of a single class this is concave, so a best cut never lies within such a run.

class Modl {
 public:
  static constexpr std::size_t kExact = 256;  // intervals from which the best partition is found without a shortcut

  explicit Modl(const RunningCounts& counts) : counts_(counts) {
    present_ = 0;
    for (std::size_t c = 0; c < counts.classes(); ++c)
      if (counts.of(0, counts.values(), c) > 0) ++present_;
    n_ = counts.total(0, counts.values());
    offset_ = log_gamma(std::max(present_, 1.0));
    if (n_ <= kMostTabled * static_cast<double>(counts.values()))
      for (double whole = 0; whole <= n_ + present_; ++whole) {
        poll_at(tabled_.size(), 8);
        tabled_.push_back(log_gamma(whole));
      }
  }

  // The terms of one interval, the values first .. last - 1.
  double interval(std::size_t first, std::size_t last) const {
    poll(8 * counts_.classes());
    double n = 0, factorials = 0;
    for (std::size_t c = 0; c < counts_.classes(); ++c) {
      const double each = counts_.of(first, last, c);
      if (each <= 0) continue;
      n += each;
      factorials += log_gamma_of(each + 1);
    }
    return log_gamma_of(n + std::max(present_, 1.0)) - offset_ - factorials;
  }
  // The terms that know only how many intervals there are.
  double prior(std::size_t intervals) const {
    const double i = static_cast<double>(intervals);
    return portable::log(n_) + log_gamma(n_ + i) - log_gamma(n_ + 1) - log_gamma(i);
  }
  double cost(const std::vector<std::size_t>& bounds) const {
    double sum = prior(bounds.size() - 1);
    for (std::size_t i = 0; i + 1 < bounds.size(); ++i) sum += interval(bounds[i], bounds[i + 1]);
    return sum;
  }

  std::vector<std::int64_t> cuts() const {
    if (counts_.values() < 2 || present_ < 2 || !(n_ > 0)) return {};
    std::vector<std::size_t> bounds = runs();
    const bool shortened = bounds.size() > kExact + 1;
    const std::vector<std::size_t> all = bounds;
    if (shortened) bounds = merged(bounds);
    bounds = best_among(bounds);
    if (shortened) settle(bounds, all);
    std::vector<std::int64_t> cuts;
    for (std::size_t i = 1; i + 1 < bounds.size(); ++i) cuts.push_back(static_cast<std::int64_t>(bounds[i]) - 1);
    return cuts;
  }

 private:
  static constexpr double kMostTabled = 16;  // rows per value: with more, a table costs more than it saves

  double log_gamma_of(double x) const {
    const bool is_tabled = x < static_cast<double>(tabled_.size()) && x == std::floor(x);
    return is_tabled ? tabled_[static_cast<std::size_t>(x)] : log_gamma(x);
  }

  // Bounds of runs: neighbouring values of one and the same class are never separated.
  std::vector<std::size_t> runs() const {
    std::vector<std::size_t> bounds = {0};
    for (std::size_t v = 1; v < counts_.values(); ++v) {
      const int before = only_class(v - 1), now = only_class(v);
      if (before < 0 || before != now) bounds.push_back(v);
    }
    bounds.push_back(counts_.values());
    return bounds;
  }
  int only_class(std::size_t v) const {
    int only = -1;
    for (std::size_t c = 0; c < counts_.classes(); ++c) {
      if (counts_.of(v, v + 1, c) <= 0) continue;
      if (only >= 0) return -1;
      only = static_cast<int>(c);
    }
    return only;
  }

  // Merge the two neighbours whose merging costs least until few enough intervals are left.
  std::vector<std::size_t> merged(const std::vector<std::size_t>& bounds) const {
    const std::size_t size = bounds.size() - 1;
    std::vector<std::size_t> next(size), previous(size), version(size, 0);
    std::vector<double> own(size);
    std::vector<bool> alive(size, true);
    struct Merge {
      double change;
      std::size_t left, version;
      bool operator>(const Merge& other) const {
        return change != other.change ? change > other.change : left > other.left;
      }
    };
    std::priority_queue<Merge, std::vector<Merge>, std::greater<>> queue;
    const auto end_of = [&](std::size_t i) { return next[i] < size ? bounds[next[i]] : bounds[size]; };
    const auto offer = [&](std::size_t i) {
      ++version[i];
      if (next[i] >= size) return;
      queue.push({interval(bounds[i], end_of(next[i])) - own[i] - own[next[i]], i, version[i]});
    };
    for (std::size_t i = 0; i < size; ++i) {
      next[i] = i + 1;
      previous[i] = i == 0 ? size : i - 1;
      own[i] = interval(bounds[i], bounds[i + 1]);
    }
    for (std::size_t i = 0; i < size; ++i) offer(i);
    for (std::size_t left = size; left > kExact;) {
      const Merge least = queue.top();
      queue.pop();
      if (!alive[least.left] || version[least.left] != least.version) continue;
      const std::size_t gone = next[least.left];
      alive[gone] = false;
      next[least.left] = next[gone];
      if (next[gone] < size) previous[next[gone]] = least.left;
      own[least.left] = interval(bounds[least.left], end_of(least.left));
      offer(least.left);
      if (previous[least.left] < size) offer(previous[least.left]);
      --left;
    }
    std::vector<std::size_t> kept;
    for (std::size_t i = 0; i < size; i = next[i]) kept.push_back(bounds[i]);
    kept.push_back(bounds[size]);
    return kept;
  }

  // The best partition whose bounds are among these: for each number of intervals the best way to cover the first
  // values, interval by interval. It is exact.
  std::vector<std::size_t> best_among(const std::vector<std::size_t>& bounds) const {
    const std::size_t size = bounds.size() - 1;
    std::vector<double> each(size * (size + 1));
    for (std::size_t i = 0; i < size; ++i)
      for (std::size_t j = i + 1; j <= size; ++j) each[i * (size + 1) + j] = interval(bounds[i], bounds[j]);
    std::vector<double> before(size + 1, std::numeric_limits<double>::infinity()), now(size + 1);
    before[0] = 0;
    std::vector<std::uint16_t> from((size + 1) * (size + 1), 0);
    double least = std::numeric_limits<double>::infinity();
    std::size_t intervals = 1;
    for (std::size_t k = 1; k <= size; ++k) {
      std::fill(now.begin(), now.end(), std::numeric_limits<double>::infinity());
      poll(size * size);
      for (std::size_t j = k; j <= size; ++j)
        for (std::size_t i = k - 1; i < j; ++i) {
          const double cost = before[i] + each[i * (size + 1) + j];
          if (cost < now[j]) {
            now[j] = cost;
            from[k * (size + 1) + j] = static_cast<std::uint16_t>(i);
          }
        }
      const double cost = now[size] + prior(k);
      if (cost < least - 1e-12 * std::abs(cost)) {
        least = cost;
        intervals = k;
      }
      std::swap(before, now);
      const bool is_power_of_two = (k & (k - 1)) == 0;  // a look ahead costs as much as a number of intervals
      if (is_power_of_two && k + 1 < size && least_from(k + 1, each, size) > least + 1e-9 * std::abs(least)) break;
    }
    std::vector<std::size_t> kept(intervals + 1);
    std::size_t at = size;
    for (std::size_t k = intervals; k > 0; --k) {
      kept[k] = bounds[at];
      at = from[k * (size + 1) + at];
    }
    kept[0] = bounds[0];
    return kept;
  }

  // No partition of `fewest` intervals or more costs less than this. With u the least sum of interval + toll over all
  // partitions, one of k intervals costs at least prior(k) - toll k + u; as the prior is concave in k, that is least at an
  // end of the range, and the toll is chosen so that it is the same at both.
  double least_from(std::size_t fewest, const std::vector<double>& each, std::size_t size) const {
    const double toll = (prior(size) - prior(fewest)) / static_cast<double>(size - fewest);
    std::vector<double> best(size + 1, std::numeric_limits<double>::infinity());
    best[0] = 0;
    for (std::size_t i = 0; i < size; ++i)
      for (std::size_t j = i + 1; j <= size; ++j) best[j] = std::min(best[j], best[i] + toll + each[i * (size + 1) + j]);
    return prior(fewest) - toll * static_cast<double>(fewest) + best[size];
  }

  // Move each cut to its best place between its neighbours, until none moves.
  void settle(std::vector<std::size_t>& bounds, const std::vector<std::size_t>& places) const {
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t i = 1; i + 1 < bounds.size(); ++i) {
        double least = interval(bounds[i - 1], bounds[i]) + interval(bounds[i], bounds[i + 1]);
        auto place = std::upper_bound(places.begin(), places.end(), bounds[i - 1]);
        for (; *place < bounds[i + 1]; ++place) {
          const double cost = interval(bounds[i - 1], *place) + interval(*place, bounds[i + 1]);
          if (cost < least - 1e-12 * std::abs(least)) {
            least = cost;
            bounds[i] = *place;
            moved = true;
          }
        }
      }
    }
  }

  const RunningCounts& counts_;
  double present_ = 0, n_ = 0, offset_ = 0;
  std::vector<double> tabled_;  // log gamma of whole numbers
};

}  // namespace bayesbox
