// Samples of hidden variables by bucket elimination: one variable after another is summed out of the product of all
// tables, and then they are drawn in the opposite order, each given those that were summed out after it.
//
// If the tables of every bucket can be multiplied within a limit, samples come from the posterior itself. If not, a
// bucket is split (mini-buckets; Dechter and Rish, 2003), and samples come from an approximation of it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "core/interrupt.hpp"
#include "core/random.hpp"
#include "network/cut_model.hpp"
#include "network/elimination.hpp"
#include "network/scaling.hpp"
#include "network/scope_table.hpp"

namespace bayesbox {

class BucketDraws {
 public:
  BucketDraws(const CutModel& cut, std::size_t most_cells) : cut_(cut) {
    std::vector<Scope> scopes;
    std::vector<ScopeTable> tables;
    for (const CutFactor& factor : cut.factors()) {
      if (factor.variables.empty()) continue;
      scopes.push_back(factor.variables);
      tables.push_back({factor.variables, factor.cells});
    }
    std::vector<std::int32_t> stage(cut.observed().size(), Eliminator::kKept);
    for (const std::int32_t v : cut.hidden()) stage[static_cast<std::size_t>(v)] = 0;
    for (const std::int32_t v : Eliminator(cut.model().cards, scopes, std::move(stage)).best().order)
      sum_out(v, tables, most_cells);
    std::reverse(buckets_.begin(), buckets_.end());
    std::size_t widest = 1;
    for (const Bucket& bucket : buckets_) widest = std::max(widest, cut.card(bucket.variable));
    row_.resize(widest);
  }

  // Whether samples come from the posterior itself.
  bool exact() const { return exact_; }

  // Fills in the hidden states; returns the log of their sampling probability, minus infinity at a dead end.
  double draw(Random& random, std::int32_t* states) {
    return walk(states, [&](const double* row, std::size_t card, double total) {
      return random.choose(row, card, total);
    });
  }
  // The same for states that were drawn in another way.
  double log_probability(std::int32_t* states) {
    const auto* bucket = buckets_.data();
    return walk(states, [&](const double*, std::size_t, double) {
      return static_cast<std::size_t>(states[(bucket++)->variable]);
    });
  }

 private:
  struct Part {
    std::vector<std::pair<std::int32_t, std::int64_t>> others;  // variable, stride
    std::vector<double> cells;                                  // the own states fastest
  };
  struct Bucket {
    std::int32_t variable;
    std::vector<Part> parts;
  };

  template <class Choose>
  double walk(std::int32_t* states, Choose choose) {
    LogProduct product;
    for (const Bucket& bucket : buckets_) {
      const std::size_t card = cut_.card(bucket.variable);
      const double* row = place(bucket.parts[0], states);
      if (bucket.parts.size() > 1) {
        std::copy_n(row, card, row_.data());
        for (std::size_t part = 1; part < bucket.parts.size(); ++part) {
          const double* other = place(bucket.parts[part], states);
          for (std::size_t s = 0; s < card; ++s) row_[s] *= other[s];
        }
        row = row_.data();
      }
      double total = 0;
      for (std::size_t s = 0; s < card; ++s) total += row[s];
      if (!(total > 0)) return -std::numeric_limits<double>::infinity();
      const std::size_t state = choose(row, card, total);
      states[bucket.variable] = static_cast<std::int32_t>(state);
      product.multiply(row[state] / total);
    }
    return product.log();
  }
  static const double* place(const Part& part, const std::int32_t* states) {
    std::int64_t at = 0;
    for (const auto& [variable, stride] : part.others) at += stride * states[variable];
    return part.cells.data() + at;
  }

  std::size_t cells_of(const Scope& scope) const {
    std::size_t cells = 1;
    for (const std::int32_t v : scope) cells *= cut_.card(v);
    return cells;
  }

  // Multiplies the tables that have the variable, as far as the limit allows, and replaces them with their
  // sums.
  void sum_out(std::int32_t v, std::vector<ScopeTable>& tables, std::size_t most_cells) {
    poll(tables.size());
    const auto has = [&](const ScopeTable& table) {
      return std::find(table.variables.begin(), table.variables.end(), v) != table.variables.end();
    };
    const auto own = std::stable_partition(tables.begin(), tables.end(), [&](const ScopeTable& each) { return !has(each); });
    std::vector<ScopeTable> mine(std::make_move_iterator(own), std::make_move_iterator(tables.end()));
    tables.erase(own, tables.end());
    std::stable_sort(mine.begin(), mine.end(),
                     [](const ScopeTable& a, const ScopeTable& b) { return a.cells.size() > b.cells.size(); });
    std::vector<Scope> scopes;
    std::vector<std::vector<const ScopeTable*>> members;
    for (const ScopeTable& table : mine) {
      std::size_t at = 0;
      for (; at < scopes.size(); ++at) {
        Scope both = joined(scopes[at], table.variables);
        if (both.size() > scopes[at].size() && cells_of(both) > most_cells) continue;
        scopes[at] = std::move(both);
        break;
      }
      if (at == scopes.size()) {
        scopes.push_back(joined({v}, table.variables));
        members.emplace_back();
      }
      members[at].push_back(&table);
    }
    if (scopes.empty()) scopes.push_back({v}), members.emplace_back();  // no table has it
    Bucket bucket{v, {}};
    const std::size_t card = cut_.card(v);
    for (std::size_t at = 0; at < scopes.size(); ++at) {
      std::rotate(scopes[at].begin(), scopes[at].begin() + 1, scopes[at].end());  // the variable itself is the last
      Part part;
      part.cells.assign(cells_of(scopes[at]), 1.0);
      for (const ScopeTable* table : members[at]) multiply(cut_, scopes[at], part.cells, *table);
      Scope rest(scopes[at].begin(), scopes[at].end() - 1);
      auto stride = static_cast<std::int64_t>(card);
      for (std::size_t i = rest.size(); i-- > 0; stride *= static_cast<std::int64_t>(cut_.card(rest[i])))
        part.others.emplace_back(rest[i], stride);
      if (!rest.empty()) {
        ScopeTable sums{rest, std::vector<double>(part.cells.size() / card)};
        double most = 0;
        for (std::size_t row = 0; row < sums.cells.size(); ++row) {
          for (std::size_t s = 0; s < card; ++s) sums.cells[row] += part.cells[row * card + s];
          most = std::max(most, sums.cells[row]);
        }
        if (most > 0)
          for (double& each : sums.cells) each /= most;
        tables.push_back(std::move(sums));
      }
      bucket.parts.push_back(std::move(part));
    }
    exact_ = exact_ && bucket.parts.size() == 1;
    buckets_.push_back(std::move(bucket));
  }

  // The variables of the first, then the additional ones of the second.
  static Scope joined(const Scope& first, const Scope& second) {
    Scope both = first;
    for (const std::int32_t v : second)
      if (std::find(both.begin(), both.end(), v) == both.end()) both.push_back(v);
    return both;
  }

  const CutModel& cut_;
  std::vector<Bucket> buckets_;  // in the order of drawing
  std::vector<double> row_;
  bool exact_ = true;
};

}  // namespace bayesbox
