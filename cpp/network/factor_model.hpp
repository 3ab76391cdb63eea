// A product of tables over discrete variables.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/table_buffer.hpp"
#include "network/elimination.hpp"
#include "network/scaling.hpp"

namespace bayesbox {

// The cells of a table that are not zero, and the states of its variables in each of them.
struct LiveCells {
  std::vector<double> cells;
  std::vector<std::vector<std::int32_t>> states;  // one list a variable of the scope
};

// Variables with their numbers of states, and tables over some of them, row-major in the order of their scope.
struct FactorModel {
  std::vector<std::int64_t> cards;
  std::vector<std::int64_t> offsets;  // of each variable's states in a row of all states; one more for the end
  std::vector<Scope> scopes;
  std::vector<std::int64_t> starts;  // of each table in `cells`; one more for the end
  std::vector<double> cells;
  std::shared_ptr<SpareBuffer> spare_tables = std::make_shared<SpareBuffer>();  // of plans that are gone

  // What plans ask of every table, once the cells are there.
  std::vector<Extent> extents;
  std::vector<LiveCells> live;       // of tables that are mostly zero; empty for others
  std::int64_t least_listed = 1024;  // cells of a product of tables, from which on it leaves such zeros out
  std::int64_t least_hosted = 1024;  // cells of one, from which on small messages to it go by way of larger ones
  std::int64_t most_at_once = 4096;  // cells of one that are worked on at once, so that they stay near

  void prepare() {
    for (std::size_t f = 0; f < scopes.size(); ++f) {
      const std::int64_t count = starts[f + 1] - starts[f];
      extents.push_back(Extent::of(table(f), count));
      live.emplace_back();
      if (!scopes[f].empty() && zeros(f) * kFewer >= count * (kFewer - 1)) list(f, live.back());
    }
  }

  const double* table(std::size_t factor) const { return cells.data() + starts[factor]; }

  // The states of a row as likelihoods, one for each state of all variables: of one state, or of all where it is below 0.
  void likelihoods_of(const std::int32_t* states, double* likelihoods) const {
    for (std::size_t v = 0; v < cards.size(); ++v) {
      std::fill(likelihoods + offsets[v], likelihoods + offsets[v + 1], states[v] < 0 ? 1.0 : 0.0);
      if (states[v] >= 0) likelihoods[offsets[v] + states[v]] = 1.0;
    }
  }

 private:
  static constexpr std::int64_t kFewer = 4;  // cells are listed if at most one in this many is not zero

  std::int64_t zeros(std::size_t factor) const {
    return std::count_if(table(factor), table(factor) + (starts[factor + 1] - starts[factor]),
                         [](double cell) { return !(cell > 0); });
  }
  void list(std::size_t factor, LiveCells& found) const {
    const Scope& scope = scopes[factor];
    found.states.resize(scope.size());
    std::vector<std::int32_t> at(scope.size(), 0);
    for (std::int64_t cell = 0; cell < starts[factor + 1] - starts[factor]; ++cell) {
      if (table(factor)[cell] > 0) {
        found.cells.push_back(table(factor)[cell]);
        for (std::size_t axis = 0; axis < scope.size(); ++axis) found.states[axis].push_back(at[axis]);
      }
      for (std::size_t axis = scope.size(); axis-- > 0;) {
        if (++at[axis] < cards[static_cast<std::size_t>(scope[axis])]) break;
        at[axis] = 0;
      }
    }
  }
};

}  // namespace bayesbox
