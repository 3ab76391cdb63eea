// Products of tables made at random, and the sum over all their states.
#pragma once

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

#include "network/factor_model.hpp"

namespace bayesbox::test {

// A product of random tables over a few variables, some of which no table may name; about this many tenths of its cells
// are zero.
inline std::shared_ptr<FactorModel> random_model(std::mt19937_64& random, std::uint64_t zeros = 1) {
  auto model = std::make_shared<FactorModel>();
  const std::size_t variables = 1 + random() % 6;
  model->offsets.push_back(0);
  for (std::size_t v = 0; v < variables; ++v) {
    model->cards.push_back(1 + static_cast<std::int64_t>(random() % 3));
    model->offsets.push_back(model->offsets.back() + model->cards.back());
  }
  model->starts.push_back(0);
  for (std::size_t f = random() % 8; f > 0; --f) {
    Scope scope;
    for (std::size_t v = 0; v < variables; ++v)
      if (random() % 3 == 0) scope.push_back(static_cast<std::int32_t>(v));
    std::shuffle(scope.begin(), scope.end(), random);
    std::int64_t cells = 1;
    for (const std::int32_t v : scope) cells *= model->cards[static_cast<std::size_t>(v)];
    for (std::int64_t i = 0; i < cells; ++i)
      model->cells.push_back(random() % 10 < zeros ? 0.0 : std::uniform_real_distribution<double>(0.01, 2)(random));
    model->scopes.push_back(scope);
    model->starts.push_back(static_cast<std::int64_t>(model->cells.size()));
  }
  model->least_listed = model->least_hosted = 1;
  model->most_at_once = 1 + static_cast<std::int64_t>(random() % 30);
  model->prepare();
  return model;
}

// The sum over all states that fit the evidence, and the same for each state of each variable.
inline double enumerate(const FactorModel& model, const std::vector<char>& observed, const std::vector<std::int32_t>& states,
                        const std::vector<char>& soft, const std::vector<double>& likelihoods, std::vector<double>& sums) {
  const std::size_t variables = model.cards.size();
  std::vector<std::int32_t> at(variables, 0);
  sums.assign(static_cast<std::size_t>(model.offsets.back()), 0.0);
  double total = 0;
  while (true) {
    double product = 1;
    for (std::size_t v = 0; v < variables; ++v) {
      if (observed[v] && at[v] != states[v]) product = 0;
      if (soft[v]) product *= likelihoods[static_cast<std::size_t>(model.offsets[v] + at[v])];
    }
    for (std::size_t f = 0; f < model.scopes.size(); ++f) {
      std::int64_t place = 0;
      for (const std::int32_t v : model.scopes[f])
        place = place * model.cards[static_cast<std::size_t>(v)] + at[static_cast<std::size_t>(v)];
      product *= model.table(f)[place];
    }
    total += product;
    for (std::size_t v = 0; v < variables; ++v) sums[static_cast<std::size_t>(model.offsets[v] + at[v])] += product;
    std::size_t v = 0;
    while (v < variables && ++at[v] == model.cards[v]) at[v++] = 0;
    if (v == variables) return total;
  }
}

}  // namespace bayesbox::test
