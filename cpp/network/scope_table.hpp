// A table over some hidden variables, and the product of such tables, which mini-buckets are made of.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/interrupt.hpp"
#include "network/cut_model.hpp"

namespace bayesbox {

struct ScopeTable {
  Scope variables;
  std::vector<double> cells;  // row-major
};

// cells, over `scope`, times a table over some of its variables.
inline void multiply(const CutModel& cut, const Scope& scope, std::vector<double>& cells, const ScopeTable& table) {
  std::vector<std::int64_t> strides(scope.size(), 0), at(scope.size(), 0);
  std::int64_t stride = 1, place = 0;
  for (std::size_t i = table.variables.size(); i-- > 0;) {
    const auto axis = std::find(scope.begin(), scope.end(), table.variables[i]) - scope.begin();
    strides[static_cast<std::size_t>(axis)] = stride;
    stride *= static_cast<std::int64_t>(cut.card(table.variables[i]));
  }
  poll(8 * cells.size());
  for (double& cell : cells) {
    cell *= table.cells[static_cast<std::size_t>(place)];
    for (std::size_t axis = scope.size(); axis-- > 0;) {
      place += strides[axis];
      if (++at[axis] < static_cast<std::int64_t>(cut.card(scope[axis]))) break;
      place -= strides[axis] * at[axis];
      at[axis] = 0;
    }
  }
}

}  // namespace bayesbox
