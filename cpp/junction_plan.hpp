// A junction tree, compiled for a set of observed variables: its cliques, where every table goes, and all products and
// messages that no state of the observed variables can change.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "clique_tree.hpp"
#include "elimination.hpp"
#include "factor_model.hpp"
#include "index_map.hpp"
#include "live_cells.hpp"
#include "scaling.hpp"
#include "table_buffer.hpp"

namespace bayesbox {

// A table of the model with the observed variables cut out.
struct CutTable {
  std::size_t factor = 0;
  std::vector<std::pair<std::int32_t, std::int64_t>> observed;  // variable, stride
  IndexMap map;
  Extent extent;

  std::int64_t place(const std::int32_t* states) const {
    std::int64_t place = 0;
    for (const auto& [variable, stride] : observed) place += stride * states[variable];
    return place;
  }
};
struct SoftTable {
  std::int32_t variable;
  IndexMap map;
};
struct Clique {
  Scope variables;  // those shared with the parent first
  std::size_t shared = 0;
  std::int64_t cells = 1, start = 0, separator_cells = 1, separator_start = 0;
  std::ptrdiff_t parent = -1;
  std::vector<std::size_t> children;  // once settled: those whose messages change from run to run
  bool settled = false;               // nothing below it is observed: its message is always the same
  IndexMap from_parent;
  std::vector<CutTable> cuts;
  std::vector<SoftTable> soft;
  Extent extent{1.0, 1.0};  // of the base table
  LiveCells live;           // of a settled one
};
struct Marginal {
  std::int32_t variable;
  std::size_t clique;
  bool of_separator;
  IndexMap map;
};

// The extent of a table after it will have been multiplied; the table is rescaled first where cells could vanish.
inline Extent watched(double* table, std::int64_t cells, const Extent& now, const Extent& factor, LogProduct& scales) {
  const Extent after = now.times(factor);
  if (!after.risky()) return after;
  Extent found = Extent::of(table, cells);
  if (found.most > 0) {
    for (std::int64_t i = 0; i < cells; ++i) table[i] /= found.most;
    scales.multiply(found.most);
    found = {found.least / found.most, 1.0};
  }
  return found.times(factor);
}

// The message of a clique to its parent, which sums to 1; returns what it summed to before.
inline double send(const Clique& clique, const double* table, double* message) {
  const std::int64_t rest = clique.cells / clique.separator_cells;
  double total = 0;
  for (std::int64_t s = 0; s < clique.separator_cells; ++s, table += rest) total += message[s] = total_of(table, rest);
  const double scale = 1 / total;  // at most a rounding away from dividing each
  for (std::int64_t s = 0; s < clique.separator_cells; ++s) message[s] *= scale;
  return total;
}

class JunctionPlan {
 public:
  // soft: variables for which a run brings likelihoods. Nothing large is made where the cells pass the limit.
  JunctionPlan(std::shared_ptr<const FactorModel> given, const std::vector<char>& seen, const std::vector<char>& soft,
               double log2_limit)
      : model(std::move(given)), observed(seen) {
    const std::size_t variables = model->cards.size();
    std::vector<Scope> scopes;
    for (const Scope& scope : model->scopes) scopes.push_back(hidden_part(scope));
    std::vector<std::int32_t> stage(variables);
    for (std::size_t v = 0; v < variables; ++v) stage[v] = observed[v] ? Eliminator::kKept : 0;
    const Elimination found = Eliminator(model->cards, scopes, std::move(stage)).best();
    log2_cells = found.order.empty() ? 0.0 : found.log2_cells;
    if (log2_cells > log2_limit) return;
    make_cliques(found);
    place_tables(soft);
    settle();
    place_marginals();
  }

  JunctionPlan(const JunctionPlan&) = delete;
  JunctionPlan& operator=(const JunctionPlan&) = delete;
  ~JunctionPlan() { model->spare_tables->give(std::move(base)); }

  std::int64_t card(std::int32_t v) const { return model->cards[static_cast<std::size_t>(v)]; }

  // From a table over `large` to the row-major one over `small`.
  IndexMap map_of(const Scope& large, const Scope& small) const {
    std::vector<std::int64_t> strides(small.size());
    std::int64_t stride = 1;
    for (std::size_t i = small.size(); i-- > 0; stride *= card(small[i])) strides[i] = stride;
    return map_of(large, small, strides);
  }
  IndexMap map_of(const Scope& large, const Scope& small, const std::vector<std::int64_t>& strides,
                  bool sums = true) const {
    std::vector<std::int64_t> sizes, steps;
    for (const std::int32_t v : large) {
      const auto at = std::find(small.begin(), small.end(), v);
      sizes.push_back(card(v));
      steps.push_back(at == small.end() ? 0 : strides[static_cast<std::size_t>(at - small.begin())]);
    }
    return IndexMap(sizes, steps, sums);
  }

  // The smallest clique that holds all of these variables; there is one for every table.
  std::size_t home(const Scope& scope, const std::vector<std::vector<std::size_t>>& having) const {
    std::size_t best = cliques.size();
    for (const std::size_t k : having[static_cast<std::size_t>(scope[0])]) {
      const Scope& variables = cliques[k].variables;
      const bool all = std::all_of(scope.begin(), scope.end(), [&](std::int32_t v) {
        return std::find(variables.begin(), variables.end(), v) != variables.end();
      });
      if (all && (best == cliques.size() || cliques[k].cells < cliques[best].cells)) best = k;
    }
    return best;
  }

  std::shared_ptr<const FactorModel> model;
  std::vector<char> observed;
  double log2_cells = 0;
  std::vector<Clique> cliques;
  std::vector<std::size_t> downward;  // parents before children
  std::vector<std::size_t> upward;    // children before parents, without those that are settled
  std::vector<double> settled;        // the messages of settled cliques
  bool impossible = false;            // whatever the evidence
  std::size_t cells = 0;
  TableBuffer base;  // the tables that no observed variable cuts, multiplied beforehand
  std::size_t separators = 0;
  double log_constant = 0;
  std::vector<CutTable> constants;
  std::vector<std::size_t> soft_observed;
  std::vector<Marginal> marginals;

 private:
  Scope hidden_part(const Scope& scope) const {
    Scope hidden;
    for (const std::int32_t v : scope)
      if (!observed[static_cast<std::size_t>(v)]) hidden.push_back(v);
    return hidden;
  }
  void make_cliques(const Elimination& found) {
    for (CliqueScope& scope : clique_tree(found, observed.size())) {
      Clique clique;
      clique.variables = std::move(scope.variables);
      clique.shared = scope.shared;
      clique.parent = scope.parent;
      clique.children = std::move(scope.children);
      for (std::size_t i = 0; i < clique.variables.size(); ++i) {
        clique.cells *= card(clique.variables[i]);
        if (i < clique.shared) clique.separator_cells *= card(clique.variables[i]);
      }
      clique.start = static_cast<std::int64_t>(cells);
      clique.separator_start = static_cast<std::int64_t>(separators);
      cells += static_cast<std::size_t>(clique.cells);
      separators += static_cast<std::size_t>(clique.separator_cells);
      cliques.push_back(std::move(clique));
    }
    base = model->spare_tables->take();
    base.reserve(cells);
    std::fill_n(base.data(), cells, 1.0);
    for (Clique& clique : cliques)
      if (clique.parent >= 0) {
        const Scope shared(clique.variables.begin(),
                           clique.variables.begin() + static_cast<std::ptrdiff_t>(clique.shared));
        clique.from_parent = map_of(cliques[static_cast<std::size_t>(clique.parent)].variables, shared);
      }
    for (std::size_t k = 0; k < cliques.size(); ++k)
      if (cliques[k].parent < 0) downward.push_back(k);
    for (std::size_t at = 0; at < downward.size(); ++at)
      for (const std::size_t child : cliques[downward[at]].children) downward.push_back(child);
  }

  void place_tables(const std::vector<char>& soft) {
    std::vector<std::vector<std::size_t>> having(observed.size());
    for (std::size_t k = 0; k < cliques.size(); ++k)
      for (const std::int32_t v : cliques[k].variables) having[static_cast<std::size_t>(v)].push_back(k);
    LogProduct scales;
    for (std::size_t f = 0; f < model->scopes.size(); ++f) {
      const Scope& scope = model->scopes[f];
      CutTable cut;
      cut.factor = f;
      Scope hidden;
      std::vector<std::int64_t> strides;
      std::int64_t stride = 1;
      for (std::size_t i = scope.size(); i-- > 0; stride *= card(scope[i])) {
        if (observed[static_cast<std::size_t>(scope[i])]) {
          cut.observed.emplace_back(scope[i], stride);
        } else {
          hidden.push_back(scope[i]);
          strides.push_back(stride);
        }
      }
      if (hidden.empty()) {
        constants.push_back(std::move(cut));
        continue;
      }
      Clique& clique = cliques[home(hidden, having)];
      cut.map = map_of(clique.variables, hidden, strides, false);
      cut.extent = Extent::of(model->table(f), model->starts[f + 1] - model->starts[f]);
      if (!cut.observed.empty()) {
        clique.cuts.push_back(std::move(cut));
        continue;
      }
      double* table = base.data() + clique.start;
      clique.extent = watched(table, clique.cells, clique.extent, cut.extent, scales);
      cut.map.multiply(table, model->table(f));
    }
    log_constant = scales.log();
    for (std::size_t v = 0; v < soft.size(); ++v) {
      if (!soft[v]) continue;
      if (observed[v]) {
        soft_observed.push_back(v);
        continue;
      }
      const Scope scope{static_cast<std::int32_t>(v)};
      Clique& clique = cliques[home(scope, having)];
      clique.soft.push_back({scope[0], map_of(clique.variables, scope)});
    }
  }

  void place_marginals() {
    std::vector<std::int64_t> least(observed.size(), std::numeric_limits<std::int64_t>::max());
    std::vector<std::pair<std::size_t, bool>> from(observed.size());
    for (std::size_t k = 0; k < cliques.size(); ++k)
      for (std::size_t i = 0; i < cliques[k].variables.size(); ++i) {
        const auto v = static_cast<std::size_t>(cliques[k].variables[i]);
        const bool shared = i < cliques[k].shared;
        const std::int64_t cells = shared ? cliques[k].separator_cells : cliques[k].cells;
        if (cells < least[v]) {
          least[v] = cells;
          from[v] = {k, shared};
        }
      }
    for (std::size_t v = 0; v < observed.size(); ++v) {
      if (observed[v]) continue;
      const auto [k, shared] = from[v];
      Scope variables = cliques[k].variables;
      if (shared) variables.resize(cliques[k].shared);
      const auto variable = static_cast<std::int32_t>(v);
      marginals.push_back({variable, k, shared, map_of(variables, Scope{variable})});
    }
  }

  // Send the messages that no evidence can change, and multiply them in beforehand.
  void settle() {
    settled.assign(separators, 0.0);
    LogProduct scales;
    for (std::size_t at = downward.size(); at-- > 0;) {
      Clique& clique = cliques[downward[at]];
      std::vector<std::size_t> changing;
      double* table = base.data() + clique.start;
      for (const std::size_t child : clique.children) {
        if (!cliques[child].settled) {
          changing.push_back(child);
          continue;
        }
        const double* message = settled.data() + cliques[child].separator_start;
        const Extent extent = Extent::of(message, cliques[child].separator_cells);
        clique.extent = watched(table, clique.cells, clique.extent, extent, scales);
        cliques[child].from_parent.multiply(table, message);
      }
      clique.children = std::move(changing);
      clique.settled = clique.children.empty() && clique.cuts.empty() && clique.soft.empty();
      if (!clique.settled) {
        upward.push_back(downward[at]);
        continue;
      }
      double* message = settled.data() + clique.separator_start;
      const double total = send(clique, table, message);
      clique.live.find(table, clique.separator_cells, clique.cells / clique.separator_cells, message);
      impossible = impossible || !(total > 0);
      scales.multiply(total);
    }
    log_constant += scales.log();
  }
};

}  // namespace bayesbox
