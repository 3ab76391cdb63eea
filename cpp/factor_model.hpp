// A product of tables over discrete variables.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "elimination.hpp"
#include "table_buffer.hpp"

namespace bayesbox {

// Variables with so many states each, and tables over some of them, row-major in the order of their scope.
struct FactorModel {
  std::vector<std::int64_t> cards;
  std::vector<std::int64_t> offsets;  // of each variable's states in a row of all states; one more for the end
  std::vector<Scope> scopes;
  std::vector<std::int64_t> starts;  // of each table in `cells`; one more for the end
  std::vector<double> cells;
  std::shared_ptr<SpareBuffer> spare_tables = std::make_shared<SpareBuffer>();  // of plans that are gone

  const double* table(std::size_t factor) const { return cells.data() + starts[factor]; }

  // The states of a row as likelihoods, one for each state of all variables: of one state, or of all where it is below 0.
  void likelihoods_of(const std::int32_t* states, double* likelihoods) const {
    for (std::size_t v = 0; v < cards.size(); ++v) {
      std::fill(likelihoods + offsets[v], likelihoods + offsets[v + 1], states[v] < 0 ? 1.0 : 0.0);
      if (states[v] >= 0) likelihoods[offsets[v] + states[v]] = 1.0;
    }
  }
};

}  // namespace bayesbox
