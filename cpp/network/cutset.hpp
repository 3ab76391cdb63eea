// Variables to condition on, so that the rest of a product of tables can be summed out within a given size.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "core/functions.hpp"
#include "network/elimination.hpp"

namespace bayesbox {

struct Cutset {
  std::vector<std::int32_t> variables;  // in the order in which they were chosen
  Elimination rest;                     // of all others, once these are known
};

// Chosen one after another: the variable whose states, tried one by one, cost the least time for the memory they save.
// With u known, every table that has it is smaller by the number of its states, and there are as many runs as it has
// states; the loss is in the tables that do not have it. The choice ends when no variable makes a difference or the
// tables are small enough.
class CutsetSearch {
 public:
  CutsetSearch(std::vector<std::int64_t> cards, std::vector<Scope> scopes, std::vector<std::int32_t> stage, std::vector<char> allowed)
      : cards_(std::move(cards)), scopes_(std::move(scopes)), stage_(std::move(stage)), allowed_(std::move(allowed)) {}

  // log2_work: of the cells of all cases together; the search stops beyond it.
  Cutset found(double log2_limit, double log2_work) {
    Cutset made{{}, ordered()};
    double log2_cases = 0;
    while (made.rest.log2_cells > log2_limit && log2_cases + made.rest.log2_cells <= log2_work) {
      const std::int32_t next = best_of(made.rest);
      if (next < 0) break;
      made.variables.push_back(next);
      log2_cases += log2_card(next);
      cut(next);
      made.rest = ordered();
    }
    return made;
  }

 private:
  Elimination ordered() const { return Eliminator(cards_, scopes_, stage_).best(); }

  void cut(std::int32_t variable) {
    for (Scope& scope : scopes_) std::erase(scope, variable);
    stage_[static_cast<std::size_t>(variable)] = Eliminator::kKept;
    allowed_[static_cast<std::size_t>(variable)] = 0;
  }

  double log2_card(std::int32_t v) const { return portable::log2(static_cast<double>(cards_[static_cast<std::size_t>(v)])); }

  // The share of all cells that is in tables with each variable; the larger, the less is computed again.
  std::int32_t best_of(const Elimination& now) const {
    std::vector<double> share(cards_.size(), 0.0);
    for (std::size_t i = 0; i < now.order.size(); ++i) {
      double size = log2_card(now.order[i]);
      for (const std::int32_t v : now.neighbours[i]) size += log2_card(v);
      const double part = portable::exp2(size - now.log2_cells);
      share[static_cast<std::size_t>(now.order[i])] += part;
      for (const std::int32_t v : now.neighbours[i]) share[static_cast<std::size_t>(v)] += part;
    }
    std::int32_t best = -1;
    double most = 0.05;  // in bits of memory for each bit of time
    for (std::size_t v = 0; v < cards_.size(); ++v) {
      if (!allowed_[v] || cards_[v] < 2) continue;
      const double left = 1.0 - share[v] * (1.0 - 1.0 / static_cast<double>(cards_[v]));
      const double saved = -portable::log2(std::max(left, 1e-300)) / log2_card(static_cast<std::int32_t>(v));
      if (saved > most) {
        most = saved;
        best = static_cast<std::int32_t>(v);
      }
    }
    return best;
  }

  std::vector<std::int64_t> cards_;
  std::vector<Scope> scopes_;
  std::vector<std::int32_t> stage_;
  std::vector<char> allowed_;
};

}  // namespace bayesbox
