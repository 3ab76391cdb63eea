// Exact posteriors of all variables of a product of tables: a junction tree, compiled once for a set of observed
// variables (which are cut out of the tables) and run for any states of them.
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
#include "cpu.hpp"
#include "elimination.hpp"
#include "factor_model.hpp"
#include "index_map.hpp"
#include "scaling.hpp"
#include "table_buffer.hpp"

namespace bayesbox {

class ExpectedCounts;

class JunctionTree {
 public:
  // soft: variables for which a run brings likelihoods. Nothing large is made where the cells pass the limit.
  JunctionTree(std::shared_ptr<const FactorModel> model, const std::vector<char>& observed,
               const std::vector<char>& soft, double log2_limit)
      : model_(std::move(model)), observed_(observed) {
    const std::size_t variables = model_->cards.size();
    std::vector<Scope> scopes;
    for (const Scope& scope : model_->scopes) scopes.push_back(hidden_part(scope));
    std::vector<std::int32_t> stage(variables);
    for (std::size_t v = 0; v < variables; ++v) stage[v] = observed_[v] ? Eliminator::kKept : 0;
    const Elimination found = Eliminator(model_->cards, scopes, std::move(stage)).best();
    log2_cells_ = found.order.empty() ? 0.0 : found.log2_cells;
    if (log2_cells_ > log2_limit) return;
    make_cliques(found);
    place_tables(soft);
    settle();
    place_marginals();
  }

  double log2_cells() const { return log2_cells_; }
  std::size_t cliques() const { return cliques_.size(); }

  // The tables a run works on; one for each thread.
  struct Scratch {
    TableBuffer tables;
    std::vector<double> upward, downward;
    std::vector<Extent> messages;
  };
  // Makes room in tables that another tree may have used before.
  void prepare(Scratch& scratch) const {
    scratch.tables.reserve(cells_);
    scratch.upward = settled_;
    if (scratch.downward.size() < separators_) scratch.downward.resize(separators_);
    scratch.messages.resize(cliques_.size());
  }

  // states: one a variable (of unobserved ones it is not read); likelihoods: one a state, read for soft variables;
  // posteriors: one a state. Returns log P(evidence), minus infinity where it is impossible.
  double run(const std::int32_t* states, const double* likelihoods, double* posteriors, Scratch& scratch) const {
#if defined(BAYESBOX_AVX2)
    if (avx2_switch().load(std::memory_order_relaxed)) return run_avx2(states, likelihoods, posteriors, scratch);
#endif
    return run_any(states, likelihoods, posteriors, scratch);
  }

 private:
  friend class ExpectedCounts;  // expected_counts.hpp: reads the tables of a run

#if defined(BAYESBOX_AVX2)
  // The same operations in the same order, more of them at once: the same bits.
  __attribute__((target("avx2"), flatten)) double run_avx2(const std::int32_t* states, const double* likelihoods,
                                                           double* posteriors, Scratch& scratch) const {
    return run_any(states, likelihoods, posteriors, scratch);
  }
#endif
  double run_any(const std::int32_t* states, const double* likelihoods, double* posteriors, Scratch& scratch) const {
    LogProduct product;
    for (const Cut& cut : constants_) product.multiply(model_->table(cut.factor)[cut.place(states)]);
    for (const std::size_t v : soft_observed_) product.multiply(likelihoods[model_->offsets[v] + states[v]]);
    double log_evidence = log_constant_ + product.log();
    if (impossible_ || std::isinf(log_evidence) || !collect(states, likelihoods, scratch, log_evidence))
      return -std::numeric_limits<double>::infinity();
    distribute(scratch);
    for (std::size_t v = 0; v < observed_.size(); ++v)
      if (observed_[v]) {
        std::fill(posteriors + model_->offsets[v], posteriors + model_->offsets[v + 1], 0.0);
        posteriors[model_->offsets[v] + states[v]] = 1;
      }
    for (const Marginal& marginal : marginals_) read(marginal, scratch, posteriors);
    return log_evidence;
  }

  // A table of the model with the observed variables cut out.
  struct Cut {
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
  struct Soft {
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
    std::vector<Cut> cuts;
    std::vector<Soft> soft;
    Extent extent{1.0, 1.0};  // of the base table
  };
  struct Marginal {
    std::int32_t variable;
    std::size_t clique;
    bool of_separator;
    IndexMap map;
  };

  Scope hidden_part(const Scope& scope) const {
    Scope hidden;
    for (const std::int32_t v : scope)
      if (!observed_[static_cast<std::size_t>(v)]) hidden.push_back(v);
    return hidden;
  }
  std::int64_t card(std::int32_t v) const { return model_->cards[static_cast<std::size_t>(v)]; }

  void make_cliques(const Elimination& found) {
    for (CliqueScope& scope : clique_tree(found, observed_.size())) {
      Clique clique;
      clique.variables = std::move(scope.variables);
      clique.shared = scope.shared;
      clique.parent = scope.parent;
      clique.children = std::move(scope.children);
      for (std::size_t i = 0; i < clique.variables.size(); ++i) {
        clique.cells *= card(clique.variables[i]);
        if (i < clique.shared) clique.separator_cells *= card(clique.variables[i]);
      }
      clique.start = static_cast<std::int64_t>(cells_);
      clique.separator_start = static_cast<std::int64_t>(separators_);
      cells_ += static_cast<std::size_t>(clique.cells);
      separators_ += static_cast<std::size_t>(clique.separator_cells);
      cliques_.push_back(std::move(clique));
    }
    base_.reserve(cells_);
    std::fill_n(base_.data(), cells_, 1.0);
    for (Clique& clique : cliques_)
      if (clique.parent >= 0) {
        const Scope shared(clique.variables.begin(),
                           clique.variables.begin() + static_cast<std::ptrdiff_t>(clique.shared));
        clique.from_parent = map_of(cliques_[static_cast<std::size_t>(clique.parent)].variables, shared);
      }
    for (std::size_t k = 0; k < cliques_.size(); ++k)
      if (cliques_[k].parent < 0) downward_.push_back(k);
    for (std::size_t at = 0; at < downward_.size(); ++at)
      for (const std::size_t child : cliques_[downward_[at]].children) downward_.push_back(child);
  }

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
    std::size_t best = cliques_.size();
    for (const std::size_t k : having[static_cast<std::size_t>(scope[0])]) {
      const Scope& variables = cliques_[k].variables;
      const bool all = std::all_of(scope.begin(), scope.end(), [&](std::int32_t v) {
        return std::find(variables.begin(), variables.end(), v) != variables.end();
      });
      if (all && (best == cliques_.size() || cliques_[k].cells < cliques_[best].cells)) best = k;
    }
    return best;
  }

  void place_tables(const std::vector<char>& soft) {
    std::vector<std::vector<std::size_t>> having(observed_.size());
    for (std::size_t k = 0; k < cliques_.size(); ++k)
      for (const std::int32_t v : cliques_[k].variables) having[static_cast<std::size_t>(v)].push_back(k);
    LogProduct scales;
    for (std::size_t f = 0; f < model_->scopes.size(); ++f) {
      const Scope& scope = model_->scopes[f];
      Cut cut;
      cut.factor = f;
      Scope hidden;
      std::vector<std::int64_t> strides;
      std::int64_t stride = 1;
      for (std::size_t i = scope.size(); i-- > 0; stride *= card(scope[i])) {
        if (observed_[static_cast<std::size_t>(scope[i])]) {
          cut.observed.emplace_back(scope[i], stride);
        } else {
          hidden.push_back(scope[i]);
          strides.push_back(stride);
        }
      }
      if (hidden.empty()) {
        constants_.push_back(std::move(cut));
        continue;
      }
      Clique& clique = cliques_[home(hidden, having)];
      cut.map = map_of(clique.variables, hidden, strides, false);
      cut.extent = Extent::of(model_->table(f), model_->starts[f + 1] - model_->starts[f]);
      if (!cut.observed.empty()) {
        clique.cuts.push_back(std::move(cut));
        continue;
      }
      double* table = base_.data() + clique.start;
      clique.extent = watched(table, clique.cells, clique.extent, cut.extent, scales);
      cut.map.multiply(table, model_->table(f));
    }
    log_constant_ = scales.log();
    for (std::size_t v = 0; v < soft.size(); ++v) {
      if (!soft[v]) continue;
      if (observed_[v]) {
        soft_observed_.push_back(v);
        continue;
      }
      const Scope scope{static_cast<std::int32_t>(v)};
      Clique& clique = cliques_[home(scope, having)];
      clique.soft.push_back({scope[0], map_of(clique.variables, scope)});
    }
  }

  void place_marginals() {
    std::vector<std::int64_t> least(observed_.size(), std::numeric_limits<std::int64_t>::max());
    std::vector<std::pair<std::size_t, bool>> from(observed_.size());
    for (std::size_t k = 0; k < cliques_.size(); ++k)
      for (std::size_t i = 0; i < cliques_[k].variables.size(); ++i) {
        const auto v = static_cast<std::size_t>(cliques_[k].variables[i]);
        const bool shared = i < cliques_[k].shared;
        const std::int64_t cells = shared ? cliques_[k].separator_cells : cliques_[k].cells;
        if (cells < least[v]) {
          least[v] = cells;
          from[v] = {k, shared};
        }
      }
    for (std::size_t v = 0; v < observed_.size(); ++v) {
      if (observed_[v]) continue;
      const auto [k, shared] = from[v];
      Scope variables = cliques_[k].variables;
      if (shared) variables.resize(cliques_[k].shared);
      const auto variable = static_cast<std::int32_t>(v);
      marginals_.push_back({variable, k, shared, map_of(variables, Scope{variable})});
    }
  }

  // The extent of a table after it will have been multiplied; the table is rescaled first where cells could vanish.
  static Extent watched(double* table, std::int64_t cells, const Extent& now, const Extent& factor, LogProduct& scales) {
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

  // Send the messages that no evidence can change, and multiply them in beforehand.
  void settle() {
    settled_.assign(separators_, 0.0);
    LogProduct scales;
    for (std::size_t at = downward_.size(); at-- > 0;) {
      Clique& clique = cliques_[downward_[at]];
      std::vector<std::size_t> changing;
      double* table = base_.data() + clique.start;
      for (const std::size_t child : clique.children) {
        if (!cliques_[child].settled) {
          changing.push_back(child);
          continue;
        }
        const double* message = settled_.data() + cliques_[child].separator_start;
        const Extent extent = Extent::of(message, cliques_[child].separator_cells);
        clique.extent = watched(table, clique.cells, clique.extent, extent, scales);
        cliques_[child].from_parent.multiply(table, message);
      }
      clique.children = std::move(changing);
      clique.settled = clique.children.empty() && clique.cuts.empty() && clique.soft.empty();
      if (!clique.settled) {
        upward_.push_back(downward_[at]);
        continue;
      }
      const double total = send(clique, table, settled_.data() + clique.separator_start);
      impossible_ = impossible_ || !(total > 0);
      scales.multiply(total);
    }
    log_constant_ += scales.log();
  }

  // The message of a clique to its parent, which sums to 1; returns what it summed to before.
  static double send(const Clique& clique, const double* table, double* message) {
    const std::int64_t rest = clique.cells / clique.separator_cells;
    double total = 0;
    for (std::int64_t s = 0; s < clique.separator_cells; ++s, table += rest) total += message[s] = total_of(table, rest);
    const double scale = 1 / total;  // at most a rounding away from dividing each
    for (std::int64_t s = 0; s < clique.separator_cells; ++s) message[s] *= scale;
    return total;
  }

  // From the leaves to the roots; false where the evidence is impossible.
  bool collect(const std::int32_t* states, const double* likelihoods, Scratch& scratch, double& log_evidence) const {
    LogProduct product;
    for (const std::size_t k : upward_) {
      const Clique& clique = cliques_[k];
      double* table = scratch.tables.data() + clique.start;
      const double* from = base_.data() + clique.start;  // until the first product
      Extent extent = clique.extent;
      const auto multiply = [&](const IndexMap& map, const double* small, const Extent& other) {
        if (from == nullptr) {
          extent = watched(table, clique.cells, extent, other, product);
          map.multiply(table, small);
        } else if (extent.times(other).risky()) {
          std::copy_n(from, clique.cells, table);
          extent = watched(table, clique.cells, extent, other, product);
          map.multiply(table, small);
        } else {
          extent = extent.times(other);
          map.multiply(table, from, small);
        }
        from = nullptr;
      };
      for (const Cut& cut : clique.cuts)
        multiply(cut.map, model_->table(cut.factor) + cut.place(states), cut.extent);
      for (const Soft& soft : clique.soft) {
        const double* likelihood = likelihoods + model_->offsets[static_cast<std::size_t>(soft.variable)];
        multiply(soft.map, likelihood, Extent::of(likelihood, card(soft.variable)));
      }
      for (const std::size_t child : clique.children)
        multiply(cliques_[child].from_parent, scratch.upward.data() + cliques_[child].separator_start,
                 scratch.messages[child]);
      double* message = scratch.upward.data() + clique.separator_start;
      const double total = send(clique, table, message);
      if (!(total > 0)) return false;
      product.multiply(total);
      scratch.messages[k] = Extent::of(message, clique.separator_cells);
    }
    log_evidence += product.log();
    return true;
  }

  // From the roots to the leaves: each clique takes the separator's marginal of its parent for its own.
  void distribute(Scratch& scratch) const {
    for (const std::size_t k : downward_) {
      const Clique& clique = cliques_[k];
      if (clique.parent < 0) continue;
      const double* above = table_of(static_cast<std::size_t>(clique.parent), scratch);
      double* marginal = scratch.downward.data() + clique.separator_start;
      const double* message = scratch.upward.data() + clique.separator_start;
      std::fill_n(marginal, clique.separator_cells, 0.0);
      clique.from_parent.sum(marginal, above);
      const double scale = 1 / total_of(marginal, clique.separator_cells);
      double* table = scratch.tables.data() + clique.start;
      const double* before = clique.settled ? base_.data() + clique.start : table;
      const std::int64_t rest = clique.cells / clique.separator_cells;
      for (std::int64_t s = 0; s < clique.separator_cells; ++s, table += rest, before += rest) {
        marginal[s] *= scale;
        const double ratio = message[s] > 0 ? marginal[s] / message[s] : 0.0;
        for (std::int64_t i = 0; i < rest; ++i) table[i] = before[i] * ratio;
      }
    }
  }

  // A clique's table as it stands after the way down; a settled root never changes.
  const double* table_of(std::size_t k, const Scratch& scratch) const {
    const Clique& clique = cliques_[k];
    return (clique.settled && clique.parent < 0 ? base_.data() : scratch.tables.data()) + clique.start;
  }

  void read(const Marginal& marginal, const Scratch& scratch, double* posteriors) const {
    const Clique& clique = cliques_[marginal.clique];
    const auto v = static_cast<std::size_t>(marginal.variable);
    double* to = posteriors + model_->offsets[v];
    std::fill_n(to, model_->cards[v], 0.0);
    marginal.map.sum(to, marginal.of_separator ? scratch.downward.data() + clique.separator_start
                                               : table_of(marginal.clique, scratch));
    double total = 0;
    for (std::int64_t s = 0; s < model_->cards[v]; ++s) total += to[s];
    for (std::int64_t s = 0; s < model_->cards[v]; ++s) to[s] /= total;
  }

  std::shared_ptr<const FactorModel> model_;
  std::vector<char> observed_;
  double log2_cells_ = 0;
  std::vector<Clique> cliques_;
  std::vector<std::size_t> downward_;  // parents before children
  std::vector<std::size_t> upward_;    // children before parents, without those that are settled
  std::vector<double> settled_;        // the messages of settled cliques
  bool impossible_ = false;            // whatever the evidence
  std::size_t cells_ = 0;
  TableBuffer base_;  // the tables that no observed variable cuts, multiplied beforehand
  std::size_t separators_ = 0;
  double log_constant_ = 0;
  std::vector<Cut> constants_;
  std::vector<std::size_t> soft_observed_;
  std::vector<Marginal> marginals_;
};

}  // namespace bayesbox
