// The states of variables that a product of tables does not rule out.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "core/interrupt.hpp"
#include "network/factor_model.hpp"

namespace bayesbox {

// Goes from table to table: a state is impossible where all cells of it in some table are zero, or belong to impossible
// states of other variables. What it calls possible need not be, what it calls impossible is.
class PossibleStates {
 public:
  explicit PossibleStates(const FactorModel& model)
      : model_(model), possible_(static_cast<std::size_t>(model.offsets.back()), 1), having_(model.cards.size()),
        waiting_(model.scopes.size(), 0) {
    for (std::size_t f = 0; f < model.scopes.size(); ++f) {
      const double* cells = model.table(f);
      const std::int64_t count = model.starts[f + 1] - model.starts[f];
      if (std::all_of(cells, cells + count, [](double cell) { return cell > 0; })) continue;
      for (const std::int32_t v : model.scopes[f]) having_[static_cast<std::size_t>(v)].push_back(f);
      wait(f);
    }
    for (std::size_t visited = 0; !queue_.empty() && visited < kMostVisits * model.cells.size();) {
      const std::size_t f = queue_.front();
      queue_.pop_front();
      waiting_[f] = 0;
      visited += static_cast<std::size_t>(model.starts[f + 1] - model.starts[f]);
      visit(f);
    }
  }

  // A flag for each state of all variables; all set if nothing is possible.
  std::vector<std::uint8_t> found() && {
    for (std::size_t v = 0; v < model_.cards.size(); ++v) {
      const auto first = possible_.begin() + model_.offsets[v], end = possible_.begin() + model_.offsets[v + 1];
      if (std::find(first, end, 1) == end) std::fill(possible_.begin(), possible_.end(), std::uint8_t{1});
    }
    return std::move(possible_);
  }

 private:
  static constexpr std::size_t kMostVisits = 8;  // of all tables: what is not found by then is not worth more

  void wait(std::size_t f) {
    if (waiting_[f]) return;
    waiting_[f] = 1;
    queue_.push_back(f);
  }

  void visit(std::size_t f) {
    const Scope& scope = model_.scopes[f];
    std::vector<std::vector<std::uint8_t>> seen;
    for (const std::int32_t v : scope) seen.emplace_back(model_.cards[static_cast<std::size_t>(v)], 0);
    std::vector<std::size_t> at(scope.size(), 0);
    for (std::int64_t cell = model_.starts[f]; cell < model_.starts[f + 1]; ++cell) {
      poll_at(static_cast<std::size_t>(cell - model_.starts[f]), 4);
      if (model_.cells[static_cast<std::size_t>(cell)] > 0) {
        bool alive = true;
        for (std::size_t axis = 0; axis < scope.size() && alive; ++axis) alive = of(scope[axis], at[axis]);
        for (std::size_t axis = 0; axis < scope.size() && alive; ++axis) seen[axis][at[axis]] = 1;
      }
      for (std::size_t axis = scope.size(); axis-- > 0;) {
        if (++at[axis] < seen[axis].size()) break;
        at[axis] = 0;
      }
    }
    for (std::size_t axis = 0; axis < scope.size(); ++axis) {
      bool fewer = false;
      for (std::size_t s = 0; s < seen[axis].size(); ++s) {
        std::uint8_t& possible = of(scope[axis], s);
        fewer = fewer || (possible && !seen[axis][s]);
        possible = possible && seen[axis][s];
      }
      if (!fewer) continue;
      for (const std::size_t other : having_[static_cast<std::size_t>(scope[axis])])
        if (other != f) wait(other);
    }
  }

  std::uint8_t& of(std::int32_t v, std::size_t state) {
    return possible_[static_cast<std::size_t>(model_.offsets[static_cast<std::size_t>(v)]) + state];
  }

  const FactorModel& model_;
  std::vector<std::uint8_t> possible_;
  std::vector<std::vector<std::size_t>> having_;  // the tables with zeros of each variable
  std::vector<char> waiting_;
  std::deque<std::size_t> queue_;
};

}  // namespace bayesbox
