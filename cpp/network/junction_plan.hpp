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

#include "core/table_buffer.hpp"
#include "network/clique.hpp"
#include "network/clique_tree.hpp"
#include "network/elimination.hpp"
#include "network/factor_model.hpp"
#include "network/index_map.hpp"
#include "network/scaling.hpp"

namespace bayesbox {

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
    find_settled();
    choose_hosts();
    choose_guides();
    multiply_tables();
    settle();
    place_marginals();
  }

  JunctionPlan(const JunctionPlan&) = delete;
  JunctionPlan& operator=(const JunctionPlan&) = delete;
  ~JunctionPlan() { model->spare_tables->give(std::move(base)); }

  std::int64_t card(std::int32_t v) const { return model->cards[static_cast<std::size_t>(v)]; }

  // From a table over `large` to the row-major one over `small`.
  IndexMap map_of(const Scope& large, const Scope& small) const {
    return map_of(large, small, row_major(small));
  }
  IndexMap map_of(const Scope& large, const Scope& small, const std::vector<std::int64_t>& strides,
                  bool sums = true) const {
    const auto [sizes, steps] = walk(large, small, strides);
    return IndexMap(sizes, steps, sums);
  }

  // From the table of a clique, with all its cells or those of its guide.
  IndexMap map_from(const Clique& clique, const Scope& small, const std::vector<std::int64_t>& strides,
                    bool sums = true) const {
    if (clique.guide < 0) return map_of(clique.variables, small, strides, sums);
    const auto guide = static_cast<std::size_t>(clique.guide);
    const LiveCells& live = model->live[guide];
    std::vector<std::int32_t> first(live.cells.size(), 0);
    for (std::size_t axis = 0; axis < live.states.size(); ++axis) {
      const auto at = std::find(small.begin(), small.end(), model->scopes[guide][axis]);
      if (at == small.end()) continue;
      const auto stride = static_cast<std::int32_t>(strides[static_cast<std::size_t>(at - small.begin())]);
      const std::int32_t* states = live.states[axis].data();
      for (std::size_t i = 0; i < first.size(); ++i) first[i] += states[i] * stride;
    }
    const auto [sizes, steps] = walk(clique.lacking, small, strides);
    return IndexMap(std::move(first), sizes, steps, sums);
  }
  IndexMap map_from(const Clique& clique, const Scope& small) const {
    return map_from(clique, small, row_major(small));
  }

  // The states of a clique's variables in one of its cells.
  void states_in(const Clique& clique, std::int64_t cell, std::int32_t* states) const {
    const Scope& rest = clique.guide < 0 ? clique.variables : clique.lacking;
    for (std::size_t i = rest.size(); i-- > 0; cell /= card(rest[i]))
      states[rest[i]] = static_cast<std::int32_t>(cell % card(rest[i]));
    if (clique.guide < 0) return;
    const auto guide = static_cast<std::size_t>(clique.guide);
    for (std::size_t axis = 0; axis < model->scopes[guide].size(); ++axis)
      states[model->scopes[guide][axis]] = model->live[guide].states[axis][static_cast<std::size_t>(cell)];
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
  std::vector<std::int64_t> row_major(const Scope& scope) const {
    std::vector<std::int64_t> strides(scope.size());
    std::int64_t stride = 1;
    for (std::size_t i = scope.size(); i-- > 0; stride *= card(scope[i])) strides[i] = stride;
    return strides;
  }
  // The sizes of the axes of a table, and the strides of a smaller one along them.
  std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>> walk(const Scope& large, const Scope& small,
                                                                       const std::vector<std::int64_t>& strides) const {
    std::vector<std::int64_t> sizes, steps;
    for (const std::int32_t v : large) {
      const auto at = std::find(small.begin(), small.end(), v);
      sizes.push_back(card(v));
      steps.push_back(at == small.end() ? 0 : strides[static_cast<std::size_t>(at - small.begin())]);
    }
    return {std::move(sizes), std::move(steps)};
  }

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
      clique.heirs = std::move(scope.children);
      for (std::size_t i = 0; i < clique.variables.size(); ++i) {
        clique.cells *= card(clique.variables[i]);
        if (i < clique.shared) clique.separator_cells *= card(clique.variables[i]);
      }
      clique.separator_start = static_cast<std::int64_t>(separators);
      separators += static_cast<std::size_t>(clique.separator_cells);
      cliques.push_back(std::move(clique));
    }
    for (std::size_t k = 0; k < cliques.size(); ++k)
      if (cliques[k].parent < 0) downward.push_back(k);
    for (std::size_t at = 0; at < downward.size(); ++at)
      for (const std::size_t child : cliques[downward[at]].heirs) downward.push_back(child);
  }

  void place_tables(const std::vector<char>& soft) {
    std::vector<std::vector<std::size_t>> having(observed.size());
    for (std::size_t k = 0; k < cliques.size(); ++k)
      for (const std::int32_t v : cliques[k].variables) having[static_cast<std::size_t>(v)].push_back(k);
    uncut_.resize(cliques.size());
    for (std::size_t f = 0; f < model->scopes.size(); ++f) {
      const Scope& scope = model->scopes[f];
      CutTable cut;
      cut.factor = f;
      cut.extent = model->extents[f];
      const std::vector<std::int64_t> strides = row_major(scope);
      for (std::size_t i = 0; i < scope.size(); ++i)
        if (observed[static_cast<std::size_t>(scope[i])]) cut.observed.emplace_back(scope[i], strides[i]);
      if (cut.observed.size() == scope.size()) {
        constants.push_back(std::move(cut));
        continue;
      }
      const std::size_t k = home(hidden_part(scope), having);
      if (cut.observed.empty())
        uncut_[k].push_back(f);
      else
        cliques[k].cuts.push_back(std::move(cut));
    }
    for (std::size_t v = 0; v < soft.size(); ++v) {
      if (!soft[v]) continue;
      const auto variable = static_cast<std::int32_t>(v);
      if (observed[v])
        soft_observed.push_back(v);
      else
        cliques[home(Scope{variable}, having)].soft.push_back({variable, IndexMap()});
    }
  }

  static Scope separator_of(const Clique& clique) {
    return {clique.variables.begin(), clique.variables.begin() + static_cast<std::ptrdiff_t>(clique.shared)};
  }

  void find_settled() {
    for (std::size_t at = downward.size(); at-- > 0;) {
      Clique& clique = cliques[downward[at]];
      clique.settled = clique.cuts.empty() && clique.soft.empty() &&
                       std::all_of(clique.heirs.begin(), clique.heirs.end(),
                                   [&](std::size_t child) { return cliques[child].settled; });
    }
  }

  void choose_hosts() {
    for (const Clique& clique : cliques) {
      if (clique.heirs.size() < 2 || clique.cells < model->least_hosted) continue;
      std::vector<std::size_t> larger_first = clique.heirs;
      std::stable_sort(larger_first.begin(), larger_first.end(), [&](std::size_t a, std::size_t b) {
        return cliques[a].separator_cells > cliques[b].separator_cells;
      });
      std::vector<std::size_t> hosts;
      for (const std::size_t k : larger_first) {
        const auto found = std::find_if(hosts.rbegin(), hosts.rend(), [&](std::size_t h) {
          return cliques[h].separator_cells > cliques[k].separator_cells && shares(cliques[h], cliques[k]);
        });
        if (found != hosts.rend()) {
          cliques[k].host = static_cast<std::ptrdiff_t>(*found);
          cliques[*found].guests.push_back(k);
        } else if (!cliques[k].settled && cliques[k].separator_cells * 2 <= clique.cells) {
          hosts.push_back(k);
        }
      }
    }
  }
  // Whether the separator of one holds that of the other.
  static bool shares(const Clique& one, const Clique& other) {
    const auto end = one.variables.begin() + static_cast<std::ptrdiff_t>(one.shared);
    return std::all_of(other.variables.begin(), other.variables.begin() + static_cast<std::ptrdiff_t>(other.shared),
                       [&](std::int32_t v) { return std::find(one.variables.begin(), end, v) != end; });
  }

  void choose_guides() {
    for (std::size_t k = 0; k < cliques.size(); ++k) {
      Clique& clique = cliques[k];
      std::int64_t cells_held = clique.cells;
      for (const std::size_t f : uncut_[k]) {
        const LiveCells& live = model->live[f];
        if (live.cells.empty() || clique.cells < model->least_listed) continue;
        const std::int64_t held =
            clique.cells / (model->starts[f + 1] - model->starts[f]) * static_cast<std::int64_t>(live.cells.size());
        if (held >= cells_held) continue;
        cells_held = held;
        clique.guide = static_cast<std::ptrdiff_t>(f);
      }
      clique.cells = cells_held;
      clique.part = clique.guide < 0 ? part_of(clique.variables) : cells_held;
      clique.start = static_cast<std::int64_t>(cells);
      cells += static_cast<std::size_t>(cells_held);
      if (clique.guide < 0) continue;
      const Scope& guide = model->scopes[static_cast<std::size_t>(clique.guide)];
      for (const std::int32_t v : clique.variables)
        if (std::find(guide.begin(), guide.end(), v) == guide.end()) clique.lacking.push_back(v);
    }
    for (Clique& clique : cliques) {
      const Scope shared = separator_of(clique);
      if (clique.host >= 0)
        clique.from_parent = map_of(separator_of(cliques[static_cast<std::size_t>(clique.host)]), shared);
      else if (clique.parent >= 0)
        clique.from_parent = map_from(cliques[static_cast<std::size_t>(clique.parent)], shared);
      if (clique.guide >= 0) clique.to_separator = map_from(clique, shared);
      for (SoftTable& soft : clique.soft) soft.map = map_from(clique, Scope{soft.variable});
      for (CutTable& cut : clique.cuts) cut.map = map_from_hidden(clique, cut.factor);
    }
  }
  std::int64_t part_of(const Scope& variables) const {
    std::int64_t part = 1;
    for (std::size_t i = variables.size(); i-- > 0;) {
      if (part > 1 && part * card(variables[i]) > model->most_at_once) break;
      part *= card(variables[i]);
    }
    return part;
  }
  IndexMap map_from_hidden(const Clique& clique, std::size_t factor) const {
    const Scope& scope = model->scopes[factor];
    return map_from(clique, scope, row_major(scope), false);  // the clique has no axis for what is observed
  }

  void multiply_tables() {
    base = model->spare_tables->take();
    base.reserve(cells);
    LogProduct scales;
    for (std::size_t k = 0; k < cliques.size(); ++k) {
      Clique& clique = cliques[k];
      double* table = base.data() + clique.start;
      fill(clique, table);
      for (const std::size_t f : uncut_[k]) {
        if (static_cast<std::ptrdiff_t>(f) == clique.guide) continue;
        clique.extent = watched(table, clique.cells, clique.extent, model->extents[f], scales);
        map_from_hidden(clique, f).multiply(table, model->table(f));
      }
    }
    log_constant = scales.log();
  }
  void fill(Clique& clique, double* table) const {
    if (clique.guide < 0) {
      std::fill_n(table, clique.cells, 1.0);
      return;
    }
    const auto guide = static_cast<std::size_t>(clique.guide);
    clique.extent = model->extents[guide];
    const std::vector<double>& live = model->live[guide].cells;
    const std::int64_t each = clique.cells / static_cast<std::int64_t>(live.size());
    for (const double cell : live) table = std::fill_n(table, each, cell);
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
      const auto variable = static_cast<std::int32_t>(v);
      if (shared) {
        marginals.push_back({variable, k, shared, map_of(separator_of(cliques[k]), Scope{variable})});
      } else {
        marginals.push_back({variable, k, shared, map_from(cliques[k], Scope{variable})});
      }
    }
  }

  // Send the messages that no evidence can change, and multiply them in beforehand.
  void settle() {
    settled.assign(separators, 0.0);
    LogProduct scales;
    for (std::size_t at = downward.size(); at-- > 0;) {
      Clique& clique = cliques[downward[at]];
      double* table = base.data() + clique.start;
      for (const std::size_t child : clique.heirs) {
        if (cliques[child].host >= 0) continue;
        if (!cliques[child].settled) {
          clique.children.push_back(child);
          continue;
        }
        const double* message = settled.data() + cliques[child].separator_start;
        const Extent extent = Extent::of(message, cliques[child].separator_cells);
        clique.extent = watched(table, clique.cells, clique.extent, extent, scales);
        cliques[child].from_parent.multiply(table, message);
      }
      if (!clique.settled) {
        upward.push_back(downward[at]);
        continue;
      }
      double* message = settled.data() + clique.separator_start;
      const double total = send(clique, table, message);
      impossible = impossible || !(total > 0);
      scales.multiply(total);
    }
    log_constant += scales.log();
  }

  std::vector<std::vector<std::size_t>> uncut_;  // the tables of each clique that no observed variable cuts
};

}  // namespace bayesbox
