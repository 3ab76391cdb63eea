// The cases of some variables, the weightiest first, with an upper bound of all that were not met yet.
//
// The other variables are summed out of the product of all tables by mini-buckets: where the tables of one cannot be
// multiplied within a limit, they fall into parts, of which one is summed and the others give their greatest cells,
//
//     sum over v of f(v) g(v)  <=  (sum over v of f(v)) (greatest g(v))            (Dechter and Rish, 2003)
//
// Then the variables of the cases themselves, so that any states of the first of them have an upper bound of the sum of
// the product over all others. Parts of the cases wait by their bounds; the largest is followed down to a whole case.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "core/functions.hpp"
#include "core/interrupt.hpp"
#include "network/cut_model.hpp"
#include "network/gibbs_blocks.hpp"
#include "network/scope_table.hpp"

namespace bayesbox {

class CaseSearch {
 public:
  // The variables of the cases are those that must be known so that no table of the others exceeds `table_cells`.
  CaseSearch(const CutModel& cut, std::size_t table_cells, std::size_t bound_cells) : cut_(cut) {
    Scope order = BlockChoice(cut, table_cells).first();
    std::vector<char> inside(cut.observed().size(), 0);
    for (const std::int32_t v : order) inside[static_cast<std::size_t>(v)] = 1;
    for (const std::int32_t v : cut.hidden())
      if (!inside[static_cast<std::size_t>(v)]) variables_.push_back(v);
    std::vector<ScopeTable> tables;
    for (const CutFactor& factor : cut.factors()) {
      if (factor.variables.empty()) log_bound_ += portable::log(factor.cells[0]);
      else tables.push_back({factor.variables, factor.cells});
    }
    for (const std::int32_t v : order) sum_out(v, tables, bound_cells, nullptr);
    levels_.resize(variables_.size());
    for (std::size_t at = variables_.size(); at-- > 0;) sum_out(variables_[at], tables, bound_cells, &levels_[at]);
    if (!std::isinf(log_bound_)) waiting_.push_back({log_bound_, {}});
  }

  const Scope& variables() const { return variables_; }

  // The states of the next case, or nothing where all were met.
  std::vector<std::int32_t> next() {
    while (!waiting_.empty()) {
      std::pop_heap(waiting_.begin(), waiting_.end(), lighter);
      Part part = std::move(waiting_.back());
      waiting_.pop_back();
      while (part.states.size() < variables_.size() && !std::isinf(part.log_bound)) part = heaviest_child(part);
      if (!std::isinf(part.log_bound)) return part.states;  // else a dead end: nothing goes with these states
    }
    return {};
  }
  bool done() const { return waiting_.empty(); }

  // log of an upper bound of the sum over all cases that were not met.
  double log_rest() const {
    double most = -std::numeric_limits<double>::infinity();
    for (const Part& part : waiting_) most = std::max(most, part.log_bound);
    if (std::isinf(most)) return most;
    double sum = 0;
    for (const Part& part : waiting_) sum += portable::exp(part.log_bound - most);
    return most + portable::log(sum);
  }

 private:
  struct MiniBucket {
    std::vector<std::pair<std::int32_t, std::int64_t>> others;  // the place of a variable among those of the cases; stride
    std::vector<double> cells, whole;  // own states fastest; of each row the sum, or the greatest
  };
  struct Part {
    double log_bound;
    std::vector<std::int32_t> states;
  };
  static bool lighter(const Part& a, const Part& b) { return a.log_bound < b.log_bound; }
  void push(Part part) {
    waiting_.push_back(std::move(part));
    std::push_heap(waiting_.begin(), waiting_.end(), lighter);
  }

  // The weightiest of the states that may follow, while the others wait.
  Part heaviest_child(const Part& part) {
    poll(64);
    const std::size_t depth = part.states.size(), card = cut_.card(variables_[depth]);
    Part best{-std::numeric_limits<double>::infinity(), {}};
    for (std::size_t s = 0; s < card; ++s) {
      Part child{part.log_bound + log_share(depth, part.states, s), part.states};
      if (std::isinf(child.log_bound)) continue;
      child.states.push_back(static_cast<std::int32_t>(s));
      if (lighter(best, child)) std::swap(best, child);
      if (!std::isinf(child.log_bound)) push(std::move(child));
    }
    return best;
  }

  // log of the share that a state has of the bound of the states before it.
  double log_share(std::size_t depth, const std::vector<std::int32_t>& states, std::size_t state) const {
    double sum = 0;
    const std::size_t card = cut_.card(variables_[depth]);
    for (const MiniBucket& bucket : levels_[depth]) {
      std::size_t row = 0;
      for (const auto& [place, stride] : bucket.others)
        row += static_cast<std::size_t>(stride * states[static_cast<std::size_t>(place)]);
      const double cell = bucket.cells[row * card + state];
      if (!(cell > 0)) return -std::numeric_limits<double>::infinity();
      sum += portable::log(cell / bucket.whole[row]);
    }
    return sum;
  }

  std::size_t cells_of(const Scope& scope) const {
    std::size_t cells = 1;
    for (const std::int32_t v : scope) cells *= cut_.card(v);
    return cells;
  }
  static void join(Scope& scope, const Scope& more) {
    for (const std::int32_t v : more)
      if (std::find(scope.begin(), scope.end(), v) == scope.end()) scope.push_back(v);
  }

  void sum_out(std::int32_t v, std::vector<ScopeTable>& tables, std::size_t most_cells, std::vector<MiniBucket>* kept) {
    const auto own = std::stable_partition(tables.begin(), tables.end(), [&](const ScopeTable& each) {
      return std::find(each.variables.begin(), each.variables.end(), v) == each.variables.end();
    });
    std::vector<ScopeTable> mine(std::make_move_iterator(own), std::make_move_iterator(tables.end()));
    tables.erase(own, tables.end());
    if (mine.empty()) mine.push_back({{v}, std::vector<double>(cut_.card(v), 1.0)});
    std::stable_sort(mine.begin(), mine.end(),
                     [](const ScopeTable& a, const ScopeTable& b) { return a.cells.size() > b.cells.size(); });
    std::vector<Scope> scopes;  // the variable itself is the first
    std::vector<std::vector<const ScopeTable*>> members;
    for (const ScopeTable& table : mine) {
      std::size_t at = 0;
      for (; at < scopes.size(); ++at) {
        Scope both = scopes[at];
        join(both, table.variables);
        if (both.size() > scopes[at].size() && cells_of(both) > most_cells) continue;
        scopes[at] = std::move(both);
        break;
      }
      if (at == scopes.size()) {
        scopes.push_back({v});
        join(scopes.back(), table.variables);
        members.emplace_back();
      }
      members[at].push_back(&table);
    }
    const std::size_t card = cut_.card(v);
    for (std::size_t at = 0; at < scopes.size(); ++at) {
      std::rotate(scopes[at].begin(), scopes[at].begin() + 1, scopes[at].end());  // now the last, and fastest
      std::vector<double> cells(cells_of(scopes[at]), 1.0);
      for (const ScopeTable* table : members[at]) multiply(cut_, scopes[at], cells, *table);
      Scope rest(scopes[at].begin(), scopes[at].end() - 1);
      std::vector<double> whole(cells.size() / card);
      double most = 0;
      for (std::size_t row = 0; row < whole.size(); ++row) {
        for (std::size_t s = 0; s < card; ++s) {
          const double cell = cells[row * card + s];
          whole[row] = at == 0 ? whole[row] + cell : std::max(whole[row], cell);
        }
        most = std::max(most, whole[row]);
      }
      log_bound_ += portable::log(most);  // minus infinity where nothing is possible
      ScopeTable sent{rest, whole};
      if (most > 0)
        for (double& each : sent.cells) each /= most;
      if (kept != nullptr) {
        MiniBucket bucket{{}, std::move(cells), std::move(whole)};
        std::int64_t stride = 1;
        for (std::size_t i = rest.size(); i-- > 0; stride *= static_cast<std::int64_t>(cut_.card(rest[i]))) {
          const auto place = std::find(variables_.begin(), variables_.end(), rest[i]) - variables_.begin();
          bucket.others.emplace_back(static_cast<std::int32_t>(place), stride);
        }
        kept->push_back(std::move(bucket));
      }
      if (!rest.empty()) tables.push_back(std::move(sent));
    }
  }

  const CutModel& cut_;
  Scope variables_;
  std::vector<std::vector<MiniBucket>> levels_;
  std::vector<Part> waiting_;  // a heap
  double log_bound_ = 0;
};

}  // namespace bayesbox
