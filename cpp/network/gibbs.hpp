// Gibbs sampling: chains of states, in each step one hidden variable drawn given all others. The whole conditional
// distribution of a step is averaged, rather than the state drawn from it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/functions.hpp"
#include "core/interrupt.hpp"
#include "core/random.hpp"
#include "network/cut_model.hpp"
#include "network/likelihood_weighting.hpp"

namespace bayesbox {

struct GibbsRequest {
  std::vector<std::int32_t> order;  // of a Bayesian network, parents first; empty for any other product of tables
  Scope wanted;                     // variables whose joint is counted as well, the last fastest
  std::int64_t chains = 1, burn_in = 0, sweeps = 1;
  std::uint64_t seed = 0;
};

struct GibbsResult {
  std::vector<double> means;  // chains x (all states of all variables, then the cells of the joint of the wanted ones)
  bool started = true;        // false: no state was found that is consistent with the evidence
  bool zeros = false;         // some table forbids states of several hidden variables: chains may not reach everything
  double starts = 0;          // independent draws that the starts are worth; 0 if they were found by search
};

class GibbsSampler {
 public:
  explicit GibbsSampler(const CutModel& cut) : cut_(cut) {
    for (const std::int32_t v : cut.hidden()) {
      Site site{v, {}};
      for (const CutModel::Use& use : cut.uses(v)) {
        const CutFactor& factor = cut.factors()[use.factor];
        Touch touch{factor.cells.data(), factor.strides[use.axis], {}};
        for (std::size_t axis = 0; axis < factor.variables.size(); ++axis)
          if (axis != use.axis) touch.others.emplace_back(factor.variables[axis], factor.strides[axis]);
        site.touches.push_back(std::move(touch));
      }
      sites_.push_back(std::move(site));
      conditional_.resize(std::max(conditional_.size(), cut.card(v)));
    }
  }

  GibbsResult run(const GibbsRequest& request) {
    GibbsResult result;
    for (const CutFactor& factor : cut_.factors())
      result.zeros = result.zeros || (factor.has_zero && factor.variables.size() > 1);
    std::size_t cells = request.wanted.empty() ? 0 : 1;
    for (const std::int32_t v : request.wanted) cells *= cut_.card(v);
    const std::size_t width = cut_.width() + cells;
    Random random(request.seed);
    std::vector<std::vector<std::int32_t>> starts;
    result.started = find_starts(request.order, request.chains, random, starts, &result.starts);
    if (!result.started) return result;
    result.means.assign(static_cast<std::size_t>(request.chains) * width, 0.0);
    for (std::size_t chain = 0; chain < starts.size(); ++chain) {
      std::int32_t* states = starts[chain].data();
      double* sums = result.means.data() + chain * width;
      for (std::int64_t sweep = 0; sweep < request.burn_in; ++sweep) step<false>(states, random, nullptr, 0);
      for (std::int64_t sweep = 0; sweep < request.sweeps; ++sweep) {
        step<true>(states, random, sums, 0);
        if (cells == 0) continue;
        std::size_t place = 0;
        for (const std::int32_t v : request.wanted)
          place = place * cut_.card(v) + static_cast<std::size_t>(states[v]);
        sums[cut_.width() + place] += 1;
      }
      for (std::size_t i = 0; i < width; ++i) sums[i] /= static_cast<double>(request.sweeps);
      cut_.fill_observed(sums);
    }
    return result;
  }

  // A start for each chain: among weighted samples of a network in proportion to their weights, so that chains which
  // cannot get from one region to another are spread over them as they should be; else by search. `worth`: how many
  // independent draws the weighted samples are worth (Kish's effective sample size).
  bool find_starts(const std::vector<std::int32_t>& order, std::int64_t count, Random& random,
                   std::vector<std::vector<std::int32_t>>& starts, double* worth = nullptr) {
    if (!order.empty()) {
      WeightedDraws draws(cut_, order);
      if (!draws.possible()) return false;
      std::vector<std::vector<std::int32_t>> pool;
      std::vector<double> weights;
      std::vector<std::int32_t> states = cut_.observed();
      for (std::int64_t draw = 0; draw < kMostDraws && pool.size() < static_cast<std::size_t>(kPool * count);
           ++draw) {
        poll(64 * order.size());
        const double log_weight = draws.draw(random, draw, states.data());
        if (std::isinf(log_weight)) continue;
        pool.push_back(states);
        weights.push_back(log_weight);
      }
      if (!pool.empty()) {
        const double most = *std::max_element(weights.begin(), weights.end());
        double total = 0, squares = 0;
        for (double& weight : weights) {
          total += weight = portable::exp(weight - most);
          squares += weight * weight;
        }
        if (worth != nullptr) *worth = total * total / squares;
        for (std::int64_t chain = 0; chain < count; ++chain)
          starts.push_back(pool[random.choose(weights.data(), weights.size(), total)]);
        return true;
      }
    }
    for (std::int64_t chain = 0; chain < count; ++chain) {
      starts.push_back(cut_.observed());
      if (!search(random, starts.back().data())) return false;
    }
    return true;
  }

 private:
  static constexpr std::int64_t kPool = 20;            // weighted samples for each chain to start from one of them
  static constexpr std::int64_t kMostDraws = 200'000;  // until one has a weight
  static constexpr int kAttempts = 50;

  struct Touch {
    const double* cells;
    std::int64_t stride;
    std::vector<std::pair<std::int32_t, std::int64_t>> others;  // variable, stride
  };
  struct Site {
    std::int32_t variable;
    std::vector<Touch> touches;
  };

  // One sweep over the hidden variables. With a floor, cells that are smaller, zeros too, count as that much.
  template <bool Summed>
  void step(std::int32_t* states, Random& random, double* sums, double floor) {
    double* conditional = conditional_.data();
    poll(32 * sites_.size());
    for (const Site& site : sites_) {
      const std::size_t card = cut_.card(site.variable);
      std::fill_n(conditional, card, 1.0);
      for (const Touch& touch : site.touches) {
        const double* cells = touch.cells;
        for (const auto& [variable, stride] : touch.others) cells += stride * states[variable];
        double most = 0;
        for (std::size_t s = 0; s < card; ++s, cells += touch.stride) {
          conditional[s] *= std::max(*cells, floor);
          most = std::max(most, conditional[s]);
        }
        if (most < 1e-100 && most > 0)
          for (std::size_t s = 0; s < card; ++s) conditional[s] /= most;
      }
      double total = 0;
      for (std::size_t s = 0; s < card; ++s) total += conditional[s];
      states[site.variable] = static_cast<std::int32_t>(random.choose(conditional, card, total));
      if constexpr (Summed) {
        double* to = sums + cut_.offset(site.variable);
        for (std::size_t s = 0; s < card; ++s) to[s] += conditional[s] / total;
      }
    }
  }

  bool possible(const std::int32_t* states) const {
    for (const CutFactor& factor : cut_.factors()) {
      std::int64_t place = 0;
      for (std::size_t axis = 0; axis < factor.variables.size(); ++axis)
        place += factor.strides[axis] * states[factor.variables[axis]];
      if (!(factor.cells[static_cast<std::size_t>(place)] > 0)) return false;
    }
    return true;
  }

  // From states at random, by sweeps to which zeros are first only small, to states that no table forbids.
  bool search(Random& random, std::int32_t* states) {
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      for (const Site& site : sites_)
        states[site.variable] =
            static_cast<std::int32_t>(random.uniform() * static_cast<double>(cut_.card(site.variable)));
      for (double floor = 0.1; floor > 1e-12; floor /= 1.5) {
        step<false>(states, random, nullptr, floor);
        if (floor < 1e-3 && possible(states)) return true;
      }
    }
    return possible(states);
  }

  const CutModel& cut_;
  std::vector<Site> sites_;
  std::vector<double> conditional_;
};

}  // namespace bayesbox
