#include <cmath>
#include <numeric>

#include "network/cut_model.hpp"
#include "network/gibbs.hpp"
#include "network/likelihood_weighting.hpp"
#include "network/loopy.hpp"
#include "network/mean_field.hpp"
#include "network_models.hpp"
#include "test.hpp"

namespace bayesbox::test {
namespace {

CaseEvidence random_case(const FactorModel& model, std::mt19937_64& random) {
  CaseEvidence evidence;
  for (const std::int64_t card : model.cards) {
    const auto state = static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(card));
    evidence.states.push_back(random() % 3 == 0 ? state : -1);
    evidence.soft.push_back(random() % 4 == 0);
  }
  evidence.likelihoods.resize(static_cast<std::size_t>(model.offsets.back()));
  for (double& each : evidence.likelihoods) each = std::uniform_real_distribution<double>(0.1, 1)(random);
  return evidence;
}

double total_of(const FactorModel& model, const CaseEvidence& evidence, std::vector<double>& sums) {
  std::vector<char> observed;
  for (const std::int32_t state : evidence.states) observed.push_back(state >= 0);
  return enumerate(model, observed, evidence.states, evidence.soft, evidence.likelihoods, sums);
}

TEST(loopy_of_one_table_is_the_sum_over_all_states) {
  std::mt19937_64 random(21);
  for (int round = 0; round < 300; ++round) {
    auto model = random_model(random);
    if (model->scopes.empty()) continue;
    model->scopes.resize(1);
    model->starts.resize(2);
    const CaseEvidence evidence = random_case(*model, random);
    std::vector<double> sums, found(evidence.likelihoods.size());
    const double total = total_of(*model, evidence, sums);
    const CutModel cut(*model, evidence);
    LoopyPropagation loopy(cut);
    const LoopyResult result = loopy.run(10, 1e-14);
    if (!(total > 0)) {
      CHECK(std::isinf(result.log_evidence));
      continue;
    }
    loopy.beliefs(found.data());
    CHECK(std::fabs(result.log_evidence - std::log(total)) < 1e-12);
    for (std::size_t i = 0; i < found.size(); ++i) CHECK(std::fabs(found[i] - sums[i] / total) < 1e-12);
  }
}

TEST(mean_field_is_never_above_the_evidence) {
  std::mt19937_64 random(22);
  for (int round = 0; round < 200; ++round) {
    const auto model = random_model(random);
    const CaseEvidence evidence = random_case(*model, random);
    std::vector<double> sums, beliefs;
    const double total = total_of(*model, evidence, sums);
    const CutModel cut(*model, evidence);
    const MeanFieldResult result = mean_field(cut, {}, 200, 1e-10, 1, beliefs);
    if (!(total > 0)) {
      CHECK(std::isinf(result.bound));
      continue;
    }
    CHECK(std::isfinite(result.bound));
    CHECK(result.bound <= std::log(total) + 1e-9);
  }
}

TEST(gibbs_means_are_distributions_of_possible_states) {
  std::mt19937_64 random(23);
  for (int round = 0; round < 100; ++round) {
    const auto model = random_model(random);
    const CaseEvidence evidence = random_case(*model, random);
    std::vector<double> sums;
    const double total = total_of(*model, evidence, sums);
    const CutModel cut(*model, evidence);
    GibbsRequest request;
    request.chains = 3;
    request.sweeps = 20;
    request.wanted = {0};
    const GibbsResult result = GibbsSampler(cut).run(request);
    CHECK(result.started == (total > 0));
    if (!result.started) continue;
    const std::size_t width = cut.width() + cut.card(0);
    for (std::size_t chain = 0; chain < 3; ++chain) {
      const double* means = result.means.data() + chain * width;
      for (std::size_t v = 0; v < model->cards.size(); ++v) {
        const double* from = means + model->offsets[v];
        CHECK(std::fabs(std::accumulate(from, from + model->cards[v], 0.0) - 1) < 1e-12);
      }
      for (std::size_t i = 0; i < sums.size(); ++i) CHECK(!(means[i] > 0) || sums[i] > 0);
      CHECK(std::fabs(std::accumulate(means + cut.width(), means + width, 0.0) - 1) < 1e-12);
    }
  }
}

TEST(weights_of_a_chain_add_up_to_the_evidence) {
  FactorModel model;  // a -> b -> c, two states each
  model.cards = {2, 2, 2};
  model.offsets = {0, 2, 4, 6};
  model.scopes = {{0}, {0, 1}, {1, 2}};
  model.starts = {0, 2, 6, 10};
  model.cells = {0.3, 0.7, 0.9, 0.1, 0.2, 0.8, 0.6, 0.4, 0.05, 0.95};
  CaseEvidence evidence{{-1, -1, 0}, {1, 0, 0}, {0.5, 1, 1, 1, 1, 1}};
  std::vector<double> sums;
  const double total = total_of(model, evidence, sums);
  const CutModel cut(model, evidence);
  const WeightedSums found = weigh_samples(cut, {0, 1, 2}, {0, 1}, 60000, 5);
  CHECK(std::fabs(std::exp(found.log_scale) * found.total / 60000 / total - 1) < 0.02);
  for (std::size_t i = 0; i < 4; ++i) CHECK(std::fabs(found.weights[i] / found.total - sums[i] / total) < 0.02);
  CHECK(std::fabs(found.weights[6] + found.weights[7] - found.weights[0]) < 1e-9 * found.total);
}

}  // namespace
}  // namespace bayesbox::test
