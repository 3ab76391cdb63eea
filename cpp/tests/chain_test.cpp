// Chains against the sum over all paths, on both instruction sets.
#include "chain/chain.hpp"

#include <cmath>
#include <vector>

#include "test.hpp"

using namespace bayesbox;

namespace {

constexpr double kNone = -std::numeric_limits<double>::infinity();

struct Example {
  std::vector<double> start, transition, terms;
  std::vector<std::int32_t> codes;
  std::vector<std::int64_t> offsets;

  ChainRequest request() const {
    return {start.size(), start.data(),   transition.data(),  terms.data(),
            terms.size() / start.size(),  codes.data(),       offsets.data(), offsets.size() - 1};
  }
};

// Made numbers, some of them impossible.
Example example(std::size_t states, std::int64_t steps, bool zeros) {
  std::uint64_t seed = 17 + states;
  const auto next = [&] {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return static_cast<double>(seed >> 11) * 0x1p-53;
  };
  Example made;
  for (std::size_t i = 0; i < states; ++i) made.start.push_back(-3 * next());
  for (std::size_t i = 0; i < states * states; ++i) made.transition.push_back(zeros && i % 3 == 1 ? kNone : -3 * next());
  for (std::size_t i = 0; i < 4 * states; ++i) made.terms.push_back(-5 * next());
  for (std::int64_t t = 0; t < steps; ++t) made.codes.push_back(static_cast<std::int32_t>(4 * next()));
  made.offsets = {0, steps};
  return made;
}

double sum_over_paths(const Example& chain) {
  const std::size_t states = chain.start.size(), steps = chain.codes.size();
  std::size_t paths = 1;
  for (std::size_t t = 0; t < steps; ++t) paths *= states;
  double total = 0;
  for (std::size_t path = 0; path < paths; ++path) {
    double log_p = 0;
    std::size_t rest = path, before = 0;
    for (std::size_t t = 0; t < steps; ++t, rest /= states) {
      const std::size_t state = rest % states;
      log_p += t == 0 ? chain.start[state] : chain.transition[before * states + state];
      log_p += chain.terms[static_cast<std::size_t>(chain.codes[t]) * states + state];
      before = state;
    }
    total += std::exp(log_p);
  }
  return std::log(total);
}

}  // namespace

TEST(chain_is_the_sum_over_paths) {
  for (const bool avx2 : {true, false}) {
    use_avx2(avx2);
    for (std::size_t states = 1; states <= 10; ++states)
      for (const bool zeros : {false, true}) {
        const Example chain = example(states, 4, zeros);
        double log_likelihood = 0, best = 0;
        std::vector<double> posterior(4 * states);
        ChainResult result;
        result.log_likelihood = &log_likelihood;
        result.posterior = posterior.data();
        forward_backward(chain.request(), result);
        CHECK(std::abs(log_likelihood - sum_over_paths(chain)) < 1e-12);
        for (std::size_t t = 0; t < 4; ++t) {
          double sum = 0;
          for (std::size_t k = 0; k < states; ++k) sum += posterior[t * states + k];
          CHECK(std::abs(sum - 1) < 1e-12);
        }
        std::vector<std::int32_t> path(4);
        best_paths(chain.request(), &best, path.data());
        CHECK(best <= log_likelihood + 1e-12);
      }
  }
  use_avx2(true);
}

TEST(chain_that_is_nearly_impossible_has_its_own_likelihood) {
  const std::vector<double> start{0.0, kNone}, transition{std::log(0.5), std::log(0.5), kNone, 0.0};
  const std::vector<double> terms{-5e5, 0.0, -5e5, 0.0};
  const std::vector<std::int64_t> offsets{0, 2};
  double log_likelihood = 0;
  std::vector<double> posterior(4);
  ChainResult result;
  result.log_likelihood = &log_likelihood;
  result.posterior = posterior.data();
  forward_backward({2, start.data(), transition.data(), terms.data(), 2, nullptr, offsets.data(), 1}, result);
  CHECK(std::abs(log_likelihood - (-5e5 + std::log(0.5))) < 1e-9);
  CHECK(posterior[0] == 1.0 && posterior[3] == 1.0);
}

TEST(chain_that_is_impossible_is_minus_infinity) {
  const std::vector<double> start{0.0, kNone}, transition{0.0, kNone, kNone, 0.0}, terms{0.0, kNone, kNone, 0.0};
  const std::vector<std::int64_t> offsets{0, 2};
  double log_likelihood = 0;
  ChainResult result;
  result.log_likelihood = &log_likelihood;
  forward_backward({2, start.data(), transition.data(), terms.data(), 2, nullptr, offsets.data(), 1}, result);
  CHECK(log_likelihood == kNone);
}

TEST(short_sequences_side_by_side_are_as_each_by_itself) {
  for (const bool avx2 : {true, false}) {
    use_avx2(avx2);
    for (std::size_t states = 2; states <= 8; ++states) {
      Example chain = example(states, 90, false);
      chain.offsets = {0, 7, 8, 9, 21, 30, 41, 41, 60, 75, 90};
      const std::size_t sequences = chain.offsets.size() - 1;
      std::vector<double> log_likelihood(sequences), posterior(90 * states), best(sequences);
      std::vector<double> start(states), transition(states * states), emission(chain.terms.size());
      std::vector<std::int32_t> path(90);
      ChainResult result;
      result.log_likelihood = log_likelihood.data();
      result.posterior = posterior.data();
      forward_backward(chain.request(), result);
      best_paths(chain.request(), best.data(), path.data());
      result.posterior = nullptr;
      result.start = start.data(), result.transition = transition.data(), result.emission = emission.data();
      forward_backward(chain.request(), result);
      double started = 0;
      for (const double each : start) started += each;
      CHECK(std::abs(started - static_cast<double>(sequences - 1)) < 1e-9);  // one of them is empty
      for (std::size_t q = 0; q < sequences; ++q) {
        Example alone = chain;
        const auto first = static_cast<std::size_t>(chain.offsets[q]);
        const auto stop = static_cast<std::size_t>(chain.offsets[q + 1]);
        alone.codes.assign(chain.codes.begin() + chain.offsets[q], chain.codes.begin() + chain.offsets[q + 1]);
        alone.codes.push_back(0);  // so that there is a place to point to
        alone.offsets = {0, chain.offsets[q + 1] - chain.offsets[q]};
        double own = 0, own_best = 0;
        std::vector<double> rows((stop - first) * states + 1);
        std::vector<std::int32_t> own_path(stop - first + 1);
        ChainResult one;
        one.log_likelihood = &own;
        one.posterior = rows.data();
        forward_backward(alone.request(), one);
        best_paths(alone.request(), &own_best, own_path.data());
        CHECK(own == log_likelihood[q] && own_best == best[q]);
        for (std::size_t i = 0; i < (stop - first) * states; ++i) CHECK(rows[i] == posterior[first * states + i]);
        for (std::size_t t = first; t < stop; ++t) CHECK(own_path[t - first] == path[t]);
      }
    }
  }
  use_avx2(true);
}
