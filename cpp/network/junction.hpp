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

#include "core/cpu.hpp"
#include "core/interrupt.hpp"
#include "network/junction_plan.hpp"
#include "network/junction_scratch.hpp"
#include "network/scaling.hpp"

namespace bayesbox {

class JunctionTree {
 public:
  // soft: variables for which a run brings likelihoods. Nothing large is made where the cells pass the limit.
  JunctionTree(std::shared_ptr<const FactorModel> model, const std::vector<char>& observed,
               const std::vector<char>& soft, double log2_limit)
      : plan_(std::move(model), observed, soft, log2_limit), model_(*plan_.model) {}

  double log2_cells() const { return plan_.log2_cells; }
  std::size_t cliques() const { return plan_.cliques.size(); }
  const JunctionPlan& plan() const { return plan_; }

  using Factor = JunctionScratch::Factor;
  using Scratch = JunctionScratch;  // one for each thread

  // Makes room in tables that another tree may have used before.
  void prepare(Scratch& scratch) const {
    scratch.tables.reserve(plan_.cells);
    for (std::vector<double>* each : {&scratch.upward, &scratch.downward, &scratch.ratios})
      if (each->size() < plan_.separators) each->resize(plan_.separators);
    scratch.messages.resize(plan_.cliques.size());
  }

  // states: one per variable (not read for unobserved ones); likelihoods: one per state, read for soft variables;
  // posteriors: one per state. Returns log P(evidence), minus infinity if it is impossible.
  double run(const std::int32_t* states, const double* likelihoods, double* posteriors, Scratch& scratch) const {
#if defined(BAYESBOX_AVX2)
    if (avx2_is_on()) return run_avx2(states, likelihoods, posteriors, scratch);
#endif
    return run_any(states, likelihoods, posteriors, scratch);
  }

  // The upward pass; returns log P(evidence), minus infinity if it is impossible.
  double collect(const std::int32_t* states, const double* likelihoods, Scratch& scratch) const {
    LogProduct product;
    for (const CutTable& cut : plan_.constants) product.multiply(model_.table(cut.factor)[cut.place(states)]);
    for (const std::size_t v : plan_.soft_observed) product.multiply(likelihoods[model_.offsets[v] + states[v]]);
    const double log_constant = plan_.log_constant + product.log();
    if (plan_.impossible || std::isinf(log_constant)) return kImpossible;
    LogProduct totals;
    for (const std::size_t k : plan_.upward) {
      const double total = collect_clique(k, states, likelihoods, scratch, totals);
      if (!(total > 0)) return kImpossible;
      totals.multiply(total);
    }
    return log_constant + totals.log();
  }

  // The downward pass: each clique adopts the marginal of the separator from its parent.
  void distribute(Scratch& scratch) const {
    std::fill_n(scratch.downward.data(), plan_.separators, 0.0);
    for (const std::size_t k : plan_.downward) {
      const Clique& clique = plan_.cliques[k];
      if (clique.parent >= 0) find_ratios(clique, scratch);
      for (std::int64_t first = 0; first < clique.cells; first += clique.part) {
        poll(static_cast<std::size_t>(clique.part) * (1 + clique.heirs.size()));
        const double* table = take_marginal(clique, first, scratch);
        for (const std::size_t heir : clique.heirs) {
          const Clique& child = plan_.cliques[heir];
          if (child.host >= 0) continue;
          child.from_parent.sum(scratch.downward.data() + child.separator_start, table, first, clique.part);
        }
      }
      for (const std::size_t heir : clique.heirs)
        for (const std::size_t g : plan_.cliques[heir].guests) {
          const Clique& guest = plan_.cliques[g];
          guest.from_parent.sum(scratch.downward.data() + guest.separator_start,
                                scratch.downward.data() + plan_.cliques[heir].separator_start);
        }
    }
  }

  // Sums a clique's table after the downward pass, by a map of its cells.
  void sum(const IndexMap& map, std::size_t k, const Scratch& scratch, double* sums) const {
    map.sum(sums, table_of(k, scratch));
  }

 private:
  static constexpr double kImpossible = -std::numeric_limits<double>::infinity();

#if defined(BAYESBOX_AVX2)
  // The same operations in the same order, more of them at once: the same bits.
  __attribute__((target("avx2"), flatten)) double run_avx2(const std::int32_t* states, const double* likelihoods,
                                                           double* posteriors, Scratch& scratch) const {
    return run_any(states, likelihoods, posteriors, scratch);
  }
#endif
  double run_any(const std::int32_t* states, const double* likelihoods, double* posteriors, Scratch& scratch) const {
    const double log_evidence = collect(states, likelihoods, scratch);
    if (std::isinf(log_evidence)) return log_evidence;
    distribute(scratch);
    for (std::size_t v = 0; v < plan_.observed.size(); ++v)
      if (plan_.observed[v]) {
        std::fill(posteriors + model_.offsets[v], posteriors + model_.offsets[v + 1], 0.0);
        posteriors[model_.offsets[v] + states[v]] = 1;
      }
    for (const Marginal& marginal : plan_.marginals) read(marginal, scratch, posteriors);
    return log_evidence;
  }

  // A clique's table times all that comes to it, and its message; returns what the message summed to.
  double collect_clique(std::size_t k, const std::int32_t* states, const double* likelihoods, Scratch& scratch,
                        LogProduct& scales) const {
    const Clique& clique = plan_.cliques[k];
    std::vector<Factor>& factors = scratch.factors;
    factors.clear();
    for (const CutTable& cut : clique.cuts)
      factors.push_back({&cut.map, model_.table(cut.factor) + cut.place(states), cut.extent});
    for (const SoftTable& soft : clique.soft) {
      const double* likelihood = likelihoods + model_.offsets[static_cast<std::size_t>(soft.variable)];
      factors.push_back({&soft.map, likelihood, Extent::of(likelihood, plan_.card(soft.variable))});
    }
    for (const std::size_t child : clique.children)
      factors.push_back(message_of(child, scratch, scales));
    double* message = scratch.upward.data() + clique.separator_start;
    const double total = multiply(clique, scratch, message, scales);
    scratch.messages[k] = Extent::of(message, clique.separator_cells);
    return total;
  }

  // The message of a clique, times those of its guests. These products lie where the way down will put marginals.
  Factor message_of(std::size_t k, Scratch& scratch, LogProduct& scales) const {
    const Clique& clique = plan_.cliques[k];
    const double* message = scratch.upward.data() + clique.separator_start;
    if (clique.guests.empty()) return {&clique.from_parent, message, scratch.messages[k]};
    double* product = scratch.downward.data() + clique.separator_start;
    std::copy_n(message, clique.separator_cells, product);
    Extent extent = scratch.messages[k];
    for (const std::size_t g : clique.guests) {
      const Clique& guest = plan_.cliques[g];
      const double* other = (guest.settled ? plan_.settled : scratch.upward).data() + guest.separator_start;
      extent = watched(product, clique.separator_cells, extent, Extent::of(other, guest.separator_cells), scales);
      guest.from_parent.multiply(product, other);
    }
    return {&clique.from_parent, product, extent};
  }

  // Part by part, so that what was just multiplied is still at hand when it is multiplied again and added up.
  double multiply(const Clique& clique, Scratch& scratch, double* message, LogProduct& scales) const {
    double* table = scratch.tables.data() + clique.start;
    const double* base = plan_.base.data() + clique.start;
    Extent extent = clique.extent;
    bool risky = false;
    for (const Factor& factor : scratch.factors) {
      extent = extent.times(factor.extent);
      risky = risky || extent.risky();
    }
    if (risky) {
      std::copy_n(base, clique.cells, table);
      extent = clique.extent;
      for (const Factor& factor : scratch.factors) {
        extent = watched(table, clique.cells, extent, factor.extent, scales);
        factor.map->multiply(table, factor.table);
      }
      return send(clique, table, message);
    }
    for (std::int64_t first = 0; first < clique.cells; first += clique.part) {
      poll(static_cast<std::size_t>(clique.part) * (1 + scratch.factors.size()));
      const double* before = base + first;
      for (const Factor& factor : scratch.factors) {
        factor.map->multiply(table + first, before, factor.table, first, clique.part);
        before = table + first;
      }
      send_part(clique, table + first, first, message);
    }
    return scale_to_one(message, clique.separator_cells);
  }

  // By what the rows of a clique's table are multiplied on the way down. One whose message was zero holds only zeros.
  void find_ratios(const Clique& clique, Scratch& scratch) const {
    double* marginal = scratch.downward.data() + clique.separator_start;
    const double* message = (clique.settled ? plan_.settled : scratch.upward).data() + clique.separator_start;
    scale_to_one(marginal, clique.separator_cells);
    divide(scratch.ratios.data(), marginal, message, clique.separator_cells);
  }

  // A part of a clique's table, with the marginal of its separator.
  const double* take_marginal(const Clique& clique, std::int64_t first, Scratch& scratch) const {
    const double* before = (clique.settled ? plan_.base.data() : scratch.tables.data()) + clique.start + first;
    if (clique.parent < 0) return before;
    double* table = scratch.tables.data() + clique.start + first;
    if (clique.guide >= 0) {
      clique.to_separator.multiply(table, before, scratch.ratios.data(), first, clique.part);
      return table;
    }
    const std::int64_t rest = clique.cells / clique.separator_cells;
    const double* ratio = scratch.ratios.data() + first / rest;
    for_length(std::min(rest, clique.part), [=, rows = std::max<std::int64_t>(clique.part / rest, 1)](auto length) {
      for (std::int64_t s = 0; s < rows; ++s) scale(table + s * length(), before + s * length(), ratio[s], length());
    });
    return table;
  }

  // Of a settled root nothing ever changes.
  const double* table_of(std::size_t k, const Scratch& scratch) const {
    const Clique& clique = plan_.cliques[k];
    return (clique.settled && clique.parent < 0 ? plan_.base.data() : scratch.tables.data()) + clique.start;
  }

  void read(const Marginal& marginal, const Scratch& scratch, double* posteriors) const {
    const auto v = static_cast<std::size_t>(marginal.variable);
    double* to = posteriors + model_.offsets[v];
    std::fill_n(to, model_.cards[v], 0.0);
    if (marginal.of_separator)
      marginal.map.sum(to, scratch.downward.data() + plan_.cliques[marginal.clique].separator_start);
    else
      sum(marginal.map, marginal.clique, scratch, to);
    double total = 0;
    for (std::int64_t s = 0; s < model_.cards[v]; ++s) total += to[s];
    for (std::int64_t s = 0; s < model_.cards[v]; ++s) to[s] /= total;
  }

  JunctionPlan plan_;
  const FactorModel& model_;
};

}  // namespace bayesbox
