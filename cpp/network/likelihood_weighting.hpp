// Likelihood weighting: samples of a network, each counted by how well it goes with the evidence.
//
// Where elimination is cheap, nodes are drawn from the posterior itself, last eliminated first (bucket_sampling.hpp). Where
// it is not, four ways take turns: by buckets that hold as much as a limit allows; parents first, from P(x | parents); from
// its product with what the children tell by loopy belief propagation; and from its product with the root of that. The
// weight of a sample is its probability together with the evidence over that of being drawn in any of these ways (the
// balance heuristic of Veach and Guibas), so that only the variance depends on the messages, never the limit, and no
// weight is more than four times the plain one. A factor graph has no parents: its samples come from buckets alone.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "core/functions.hpp"
#include "core/interrupt.hpp"
#include "core/random.hpp"
#include "network/bucket_sampling.hpp"
#include "network/cut_model.hpp"
#include "network/loopy.hpp"
#include "network/scaling.hpp"

namespace bayesbox {

// Draws samples and their weights. `order`: the variables of the network, parents before children; table i of the model
// is that of variable i, with its own states along the last axis. Nothing where the model is not a network.
class WeightedDraws {
 public:
  static constexpr std::size_t kMostCells = 1 << 14;  // of a bucket

  WeightedDraws(const CutModel& cut, const std::vector<std::int32_t>& order, std::size_t most_cells = kMostCells)
      : cut_(cut), order_(order), buckets_(cut, most_cells) {
    LoopyPropagation loopy(cut);
    possible_ = !std::isinf(loopy.run(kSweeps, kTolerance).log_evidence);
    for (const std::int32_t v : order) {
      if (cut.observed()[static_cast<std::size_t>(v)] < 0) {
        propose(v, loopy);
      } else {
        scored_.push_back(static_cast<std::size_t>(v));
      }
    }
    for (std::size_t f = order.size(); f < cut.factors().size(); ++f) scored_.push_back(f);  // likelihoods
  }

  bool possible() const { return possible_; }
  bool by_buckets() const { return order_.empty() || buckets_.exact(); }

  // Fills in the hidden states of sample number `turn`; returns the log of the weight, minus infinity for an impossible
  // sample.
  double draw(Random& random, std::int64_t turn, std::int32_t* states) {
    const std::size_t way = by_buckets() ? kBuckets : static_cast<std::size_t>(turn) % kWays;
    double logs[kWays] = {};  // of the probability of being drawn in each way, over P(x | parents) of all
    if (way == kBuckets && std::isinf(logs[kBuckets] = buckets_.draw(random, states))) return kImpossible;
    LogProduct prior;
    LogProduct drawn[kBuckets];
    for (const Proposal& proposal : proposals_) {
      const CutFactor& factor = cut_.factors()[proposal.factor];
      const std::size_t card = proposal.card;
      const std::size_t row = place(factor, states, factor.variables.size() - 1);
      const double* totals = proposal.totals.data() + row / card * kBuckets;
      const double* messages = proposal.messages.data();
      if (way != kBuckets) {
        if (!(totals[way] > 0)) return kImpossible;
        states[proposal.variable] = static_cast<std::int32_t>(
            choose(random, factor.cells.data() + row, messages + way * card, card, totals[way]));
      }
      const auto state = static_cast<std::size_t>(states[proposal.variable]);
      prior.multiply(factor.cells[row + state]);
      for (std::size_t k = 0; k < kBuckets && !by_buckets(); ++k)
        drawn[k].multiply(totals[k] > 0 ? messages[k * card + state] / totals[k] : 0.0);
    }
    LogProduct score;
    for (const std::size_t f : scored_) {
      const CutFactor& factor = cut_.factors()[f];
      const double cell = factor.cells[place(factor, states, factor.variables.size())];
      if (!(cell > 0)) return kImpossible;
      score.multiply(cell);
    }
    const double log_prior = prior.log();
    if (std::isinf(log_prior)) return kImpossible;
    if (by_buckets()) return score.log() + log_prior - logs[kBuckets];
    if (way != kBuckets) logs[kBuckets] = buckets_.log_probability(states);
    logs[kBuckets] -= log_prior;
    for (std::size_t k = 0; k < kBuckets; ++k) logs[k] = drawn[k].log();
    const double most = *std::max_element(logs, logs + kWays);
    double sum = 0;
    for (const double each : logs) sum += portable::exp(each - most);
    return score.log() - most - portable::log(sum / kWays);
  }

 private:
  static constexpr double kImpossible = -std::numeric_limits<double>::infinity();
  static constexpr std::size_t kBuckets = 3, kWays = 4;  // the way by buckets is the last of them
  static constexpr std::int64_t kSweeps = 20;
  static constexpr double kTolerance = 1e-6;
  static constexpr double kLeast = 0.01;  // of what children tell: no state that is possible is drawn too seldom

  struct Proposal {
    std::int32_t variable;
    std::size_t factor, card;
    std::vector<double> messages;  // ways x states: 1, the message, and its root; without buckets
    std::vector<double> totals;    // rows x ways: the sum of P(x | parents) times these
  };

  static std::size_t place(const CutFactor& factor, const std::int32_t* states, std::size_t axes) {
    std::int64_t at = 0;
    for (std::size_t axis = 0; axis < axes; ++axis) at += factor.strides[axis] * states[factor.variables[axis]];
    return static_cast<std::size_t>(at);
  }
  static std::size_t choose(Random& random, const double* row, const double* message, std::size_t card, double total) {
    double rest = random.uniform() * total;
    std::size_t last = 0;
    for (std::size_t s = 0; s < card; ++s) {
      const double share = row[s] * message[s];
      if (!(share > 0)) continue;
      last = s;  // rounding may leave a rest after the last one
      if (rest < share) return s;
      rest -= share;
    }
    return last;
  }

  void propose(std::int32_t v, const LoopyPropagation& loopy) {
    const std::size_t card = cut_.card(v);
    Proposal made{v, static_cast<std::size_t>(v), card, std::vector<double>(kBuckets * card, 1.0), {}};
    double* message = made.messages.data() + card;
    if (!(loopy.product(v, made.factor, message) > 0)) std::fill_n(message, card, 1.0);
    const double most = *std::max_element(message, message + card);
    for (std::size_t s = 0; s < card; ++s) {
      message[s] = message[s] > 0 ? std::max(message[s] / most, kLeast) : 0.0;
      message[card + s] = std::sqrt(message[s]);
    }
    const std::vector<double>& cells = cut_.factors()[made.factor].cells;
    made.totals.assign(cells.size() / card * kBuckets, 0.0);
    for (std::size_t row = 0; row < cells.size(); row += card)
      for (std::size_t k = 0; k < kBuckets; ++k)
        for (std::size_t s = 0; s < card; ++s)
          made.totals[row / card * kBuckets + k] += cells[row + s] * made.messages[k * card + s];
    proposals_.push_back(std::move(made));
  }

  const CutModel& cut_;
  std::vector<std::int32_t> order_;
  BucketDraws buckets_;
  std::vector<Proposal> proposals_;
  std::vector<std::size_t> scored_;
  bool possible_ = true;
};

// Sums over samples, each weight times exp(log_scale): of the weights and of their squares, in all and by state.
struct WeightedSums {
  std::vector<double> weights, squares;  // all states of all variables, then the cells of the joint of the wanted ones
  double total = 0, total_squares = 0;
  double log_scale = -std::numeric_limits<double>::infinity();
  std::vector<double> largest;  // the logarithms of the largest weights, a heap with the least of them in front
};

// Keeps the `most` largest values.
inline void keep_largest(std::vector<double>& largest, double value, std::size_t most) {
  if (largest.size() < most) {
    largest.push_back(value);
    std::push_heap(largest.begin(), largest.end(), std::greater<>());
  } else if (most > 0 && value > largest.front()) {
    std::pop_heap(largest.begin(), largest.end(), std::greater<>());
    largest.back() = value;
    std::push_heap(largest.begin(), largest.end(), std::greater<>());
  }
}

// `wanted`: variables whose joint is counted as well, the last fastest. `kept`: how many of the largest weights are kept.
inline WeightedSums weigh_samples(const CutModel& cut, const std::vector<std::int32_t>& order, const Scope& wanted,
                                  std::int64_t samples, std::uint64_t seed,
                                  std::size_t most_cells = WeightedDraws::kMostCells, std::size_t kept = 0) {
  WeightedDraws draws(cut, order, most_cells);
  WeightedSums sums;
  std::size_t cells = wanted.empty() ? 0 : 1;
  for (const std::int32_t v : wanted) cells *= cut.card(v);
  sums.weights.assign(cut.width() + cells, 0.0);
  sums.squares.assign(cut.width() + cells, 0.0);
  if (!draws.possible()) return sums;
  Random random(seed);
  std::vector<std::int32_t> states = cut.observed();
  for (std::int64_t sample = 0; sample < samples; ++sample) {
    poll(64 * cut.hidden().size());
    const double log_weight = draws.draw(random, sample, states.data());
    if (std::isinf(log_weight)) continue;
    if (log_weight > sums.log_scale + 200 || std::isinf(sums.log_scale)) {
      const double shrink = std::isinf(sums.log_scale) ? 0.0 : portable::exp(sums.log_scale - log_weight);
      for (double& each : sums.weights) each *= shrink;
      for (double& each : sums.squares) each *= shrink * shrink;
      sums.total *= shrink;
      sums.total_squares *= shrink * shrink;
      sums.log_scale = log_weight;
    }
    keep_largest(sums.largest, log_weight, kept);
    const double weight = portable::exp(log_weight - sums.log_scale), square = weight * weight;
    sums.total += weight;
    sums.total_squares += square;
    for (const std::int32_t v : cut.hidden()) {
      const std::size_t at = cut.offset(v) + static_cast<std::size_t>(states[static_cast<std::size_t>(v)]);
      sums.weights[at] += weight;
      sums.squares[at] += square;
    }
    if (cells == 0) continue;
    std::size_t place = 0;
    for (const std::int32_t v : wanted)
      place = place * cut.card(v) + static_cast<std::size_t>(states[static_cast<std::size_t>(v)]);
    sums.weights[cut.width() + place] += weight;
    sums.squares[cut.width() + place] += square;
  }
  return sums;
}

}  // namespace bayesbox
