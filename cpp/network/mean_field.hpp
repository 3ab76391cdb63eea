// Mean field: the best product of independent distributions, one for each hidden variable. What it maximises,
//
//   sum over tables of E[log table] + sum over variables of entropy,
//
// is never above the log of the probability of the evidence.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/functions.hpp"
#include "core/interrupt.hpp"
#include "core/random.hpp"
#include "network/cut_model.hpp"
#include "network/gibbs.hpp"
#include "network/loopy.hpp"

namespace bayesbox {

struct MeanFieldResult {
  double bound = -std::numeric_limits<double>::infinity();  // a lower bound of log P(evidence)
  double change = 0;                                        // of the bound in the last sweep
  std::int64_t sweeps = 0;
};

class MeanField {
 public:
  explicit MeanField(const CutModel& cut) : cut_(cut), beliefs_(cut.width(), 0.0) {
    for (const CutFactor& factor : cut.factors()) {
      std::vector<double> logs(factor.cells.size());
      std::transform(factor.cells.begin(), factor.cells.end(), logs.begin(), [](double cell) { return portable::log(cell); });
      logs_.push_back(std::move(logs));
    }
  }

  // From beliefs of all states (those of observed variables are not read), each sweep no worse than the one before.
  MeanFieldResult run(const double* start, std::int64_t most_sweeps, double tolerance) {
    std::copy_n(start, beliefs_.size(), beliefs_.begin());
    cut_.fill_observed(beliefs_.data());
    MeanFieldResult result;
    result.bound = bound();
    while (result.sweeps < most_sweeps) {
      for (const std::int32_t v : cut_.hidden()) update(v);
      ++result.sweeps;
      const double now = bound();
      result.change = now - result.bound;
      result.bound = now;
      if (std::isinf(now) || std::fabs(result.change) <= tolerance * std::max(1.0, std::fabs(now))) break;
    }
    return result;
  }

  const std::vector<double>& beliefs() const { return beliefs_; }

 private:
  static constexpr double kNever = -std::numeric_limits<double>::infinity();

  // E[log table] for each state of the variable of one axis, the others as believed. What is believed impossible counts
  // for nothing, also where its log is minus infinity.
  void expect(std::size_t f, std::size_t axis, double* to) {
    const CutFactor& factor = cut_.factors()[f];
    const std::vector<double>& logs = logs_[f];
    const std::size_t axes = factor.variables.size();
    at_.assign(axes, 0);
    before_.assign(axes + 1, 1.0);
    std::size_t changed = 0;
    for (std::size_t cell = 0; cell < logs.size(); ++cell) {
      poll_at(cell, 4);
      for (std::size_t i = changed; i < axes; ++i)
        before_[i + 1] = i == axis ? before_[i] : before_[i] * beliefs_[cut_.offset(factor.variables[i]) + at_[i]];
      if (before_[axes] > 0) to[at_[axis]] += before_[axes] * logs[cell];
      for (changed = axes; changed-- > 0;) {
        if (++at_[changed] < static_cast<std::size_t>(factor.sizes[changed])) break;
        at_[changed] = 0;
      }
    }
  }

  void update(std::int32_t v) {
    const std::size_t card = cut_.card(v);
    scores_.assign(card, 0.0);
    for (const CutModel::Use& use : cut_.uses(v)) expect(use.factor, use.axis, scores_.data());
    const double most = *std::max_element(scores_.begin(), scores_.end());
    if (most == kNever) return;  // every state is at odds with what is believed of the others
    double total = 0;
    for (double& score : scores_) total += score = portable::exp(score - most);
    for (std::size_t s = 0; s < card; ++s) beliefs_[cut_.offset(v) + s] = scores_[s] / total;
  }

  double bound() {
    double sum = 0;
    for (std::size_t f = 0; f < logs_.size(); ++f) {
      const CutFactor& factor = cut_.factors()[f];
      if (factor.variables.empty()) {
        sum += logs_[f][0];
        continue;
      }
      const std::int32_t first = factor.variables[0];
      scores_.assign(cut_.card(first), 0.0);
      expect(f, 0, scores_.data());
      for (std::size_t s = 0; s < scores_.size(); ++s) {
        const double belief = beliefs_[cut_.offset(first) + s];
        if (belief > 0) sum += belief * scores_[s];
      }
    }
    for (const std::int32_t v : cut_.hidden())
      for (std::size_t s = 0; s < cut_.card(v); ++s) {
        const double belief = beliefs_[cut_.offset(v) + s];
        if (belief > 0) sum -= belief * portable::log(belief);
      }
    return sum;
  }

  const CutModel& cut_;
  std::vector<std::vector<double>> logs_;
  std::vector<double> beliefs_;
  std::vector<std::size_t> at_;
  std::vector<double> before_, scores_;
};

// The best of several starts: what loopy belief propagation believes, and states drawn at random as if they were certain,
// which are a start also where zeros in the tables forbid every other. Without any possible states there is no result.
inline MeanFieldResult mean_field(const CutModel& cut, const std::vector<std::int32_t>& order, std::int64_t most_sweeps,
                                  double tolerance, std::uint64_t seed, std::vector<double>& beliefs) {
  constexpr std::int64_t kStarts = 4, kLoopySweeps = 50;
  MeanFieldResult best;
  std::vector<std::vector<std::int32_t>> states;
  Random random(seed);
  if (!GibbsSampler(cut).find_starts(order, kStarts, random, states)) return best;
  MeanField field(cut);
  const auto attempt = [&](const std::vector<double>& start) {
    const MeanFieldResult found = field.run(start.data(), most_sweeps, tolerance);
    if (beliefs.empty() || found.bound > best.bound) {
      best = found;
      beliefs = field.beliefs();
    }
  };
  std::vector<double> start(cut.width());
  LoopyPropagation loopy(cut);
  if (!std::isinf(loopy.run(kLoopySweeps, tolerance).log_evidence)) {
    loopy.beliefs(start.data());
    attempt(start);
  }
  for (const std::vector<std::int32_t>& each : states) {
    std::fill(start.begin(), start.end(), 0.0);
    for (const std::int32_t v : cut.hidden())
      start[cut.offset(v) + static_cast<std::size_t>(each[static_cast<std::size_t>(v)])] = 1.0;
    attempt(start);
  }
  return best;
}

}  // namespace bayesbox
