// Expected counts of rows with missing values under a network: for learning its tables, and for imputation.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "core/interrupt.hpp"
#include "network/junction.hpp"

namespace bayesbox {

// Works on a tree whose evidence is soft or observed; a negative state is missing.
class ExpectedCounts {
 public:
  explicit ExpectedCounts(const JunctionTree& tree) : tree_(tree), plan_(tree.plan()), model_(*plan_.model) {
    std::vector<std::vector<std::size_t>> having(model_.cards.size());
    for (std::size_t k = 0; k < plan_.cliques.size(); ++k)
      for (const std::int32_t v : plan_.cliques[k].variables) having[static_cast<std::size_t>(v)].push_back(k);
    for (const Scope& scope : model_.scopes) {
      Family family;
      std::int64_t stride = 1;
      std::vector<std::int64_t> strides(scope.size());
      for (std::size_t i = scope.size(); i-- > 0; stride *= plan_.card(scope[i])) strides[i] = stride;
      Scope hidden;
      std::vector<std::int64_t> hidden_strides;
      for (std::size_t i = 0; i < scope.size(); ++i) {
        family.members.emplace_back(scope[i], strides[i]);
        if (plan_.observed[static_cast<std::size_t>(scope[i])]) continue;
        hidden.push_back(scope[i]);
        hidden_strides.push_back(strides[i]);
      }
      family.cells = stride;
      if (!hidden.empty()) {
        family.clique = plan_.home(hidden, having);
        family.map = plan_.map_from(plan_.cliques[family.clique], hidden, hidden_strides);
      }
      families_.push_back(std::move(family));
    }
    likelihoods_.resize(static_cast<std::size_t>(model_.offsets.back()));
    tree_.prepare(scratch_);
  }

  // Adds weight * P(family | row) to `counts`, one cell for each of the model; returns log P(row).
  double add(const std::int32_t* states, double weight, double* counts) {
    const double log_evidence = collect(states);
    if (std::isinf(log_evidence)) return log_evidence;
    bool spread = false;
    poll(16 * families_.size());
    for (std::size_t f = 0; f < families_.size(); ++f) {
      const Family& family = families_[f];
      double* to = counts + model_.starts[f];
      std::int64_t place = 0, seen = 0;
      bool hole = false;
      for (const auto& [variable, stride] : family.members) {
        const std::int32_t state = states[variable];
        if (state < 0)
          hole = true;
        else
          place += stride * state;
        if (plan_.observed[static_cast<std::size_t>(variable)]) seen += stride * state;
      }
      if (!hole) {
        to[place] += weight;
        continue;
      }
      if (!spread) tree_.distribute(scratch_);
      spread = true;
      buffer_.assign(static_cast<std::size_t>(family.cells), 0.0);
      tree_.sum(family.map, family.clique, scratch_, buffer_.data() + seen);
      double total = 0;
      for (const double each : buffer_) total += each;
      for (std::int64_t i = 0; i < family.cells; ++i) to[i] += weight * (buffer_[static_cast<std::size_t>(i)] / total);
    }
    return log_evidence;
  }

  // Imputes the missing values of a row by a draw from P(missing | row); `draw` gives uniform numbers on [0, 1).
  template <class Draw>
  bool fill(const std::int32_t* states, std::int32_t* filled, const Draw& draw) {
    if (std::isinf(collect(states))) return false;
    for (std::size_t v = 0; v < model_.cards.size(); ++v) filled[v] = states[v];
    for (const std::size_t k : plan_.downward) {
      const Clique& clique = plan_.cliques[k];
      std::int64_t separator = 0;
      for (std::size_t i = 0; i < clique.shared; ++i)
        separator = separator * plan_.card(clique.variables[i]) + filled[clique.variables[i]];
      const double* table = (clique.settled ? plan_.base.data() : scratch_.tables.data()) + clique.start;
      const std::int64_t rest = clique.cells / clique.separator_cells;
      const std::int64_t begin = clique.guide < 0 ? separator * rest : 0;
      const std::int64_t end = clique.guide < 0 ? begin + rest : clique.cells;
      const auto in_row = [&](std::int64_t i) {
        return table[i] > 0 && (clique.guide < 0 || clique.to_separator.place(i) == separator);
      };
      poll(static_cast<std::size_t>(end - begin));
      double total = 0;
      for (std::int64_t i = begin; i < end; ++i) total += in_row(i) ? table[i] : 0.0;
      double left = draw() * total;
      std::int64_t chosen = -1;
      for (std::int64_t i = begin; i < end; ++i) {
        if (!in_row(i)) continue;
        chosen = i;
        if (left < table[i]) break;
        left -= table[i];
      }
      plan_.states_in(clique, chosen, filled);
    }
    return true;
  }

 private:
  struct Family {
    std::vector<std::pair<std::int32_t, std::int64_t>> members;  // variable, stride
    std::int64_t cells = 1;
    std::size_t clique = 0;
    IndexMap map;
  };

  double collect(const std::int32_t* states) {
    model_.likelihoods_of(states, likelihoods_.data());
    return tree_.collect(states, likelihoods_.data(), scratch_);
  }

  const JunctionTree& tree_;
  const JunctionPlan& plan_;
  const FactorModel& model_;
  std::vector<Family> families_;
  std::vector<double> likelihoods_, buffer_;
  JunctionTree::Scratch scratch_;
};

}  // namespace bayesbox
