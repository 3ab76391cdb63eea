// A product of tables over discrete variables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "elimination.hpp"

namespace bayesbox {

// Variables with so many states each, and tables over some of them, row-major in the order of their scope.
struct FactorModel {
  std::vector<std::int64_t> cards;
  std::vector<std::int64_t> offsets;  // of each variable's states in a row of all states; one more for the end
  std::vector<Scope> scopes;
  std::vector<std::int64_t> starts;  // of each table in `cells`; one more for the end
  std::vector<double> cells;

  const double* table(std::size_t factor) const { return cells.data() + starts[factor]; }
};

}  // namespace bayesbox
