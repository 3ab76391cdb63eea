// A product of tables under evidence: each table sliced at the observed states, likelihoods as separate tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "network/factor_model.hpp"

namespace bayesbox {

// The evidence of a case: the state of each variable, negative if hidden, and for some a likelihood of each state.
struct CaseEvidence {
  std::vector<std::int32_t> states;
  std::vector<char> soft;
  std::vector<double> likelihoods;  // one for each state of all variables; empty where no variable is soft
};

// A table over hidden variables, row-major; a number where there are none.
struct CutFactor {
  Scope variables;
  std::vector<std::int64_t> sizes, strides;
  std::vector<double> cells;
  bool has_zero = false;
};

// The tables of the model come first and in their order, then those of the likelihoods.
class CutModel {
 public:
  struct Use {
    std::size_t factor, axis;
  };

  CutModel(const FactorModel& model, const CaseEvidence& evidence)
      : model_(model), uses_(model.cards.size()), observed_(evidence.states) {
    for (std::size_t v = 0; v < model.cards.size(); ++v)
      if (observed_[v] < 0) hidden_.push_back(static_cast<std::int32_t>(v));
    for (std::size_t f = 0; f < model.scopes.size(); ++f) add(model.scopes[f], model.table(f));
    for (std::size_t v = 0; v < evidence.soft.size(); ++v)
      if (evidence.soft[v]) add(Scope{static_cast<std::int32_t>(v)}, evidence.likelihoods.data() + model.offsets[v]);
  }

  const FactorModel& model() const { return model_; }
  const std::vector<std::int32_t>& observed() const { return observed_; }
  const Scope& hidden() const { return hidden_; }
  const std::vector<CutFactor>& factors() const { return factors_; }
  const std::vector<Use>& uses(std::int32_t v) const { return uses_[static_cast<std::size_t>(v)]; }
  std::size_t card(std::int32_t v) const { return static_cast<std::size_t>(model_.cards[static_cast<std::size_t>(v)]); }
  std::size_t offset(std::int32_t v) const {
    return static_cast<std::size_t>(model_.offsets[static_cast<std::size_t>(v)]);
  }
  std::size_t width() const { return static_cast<std::size_t>(model_.offsets.back()); }

  // 1 for the observed state of each observed variable, 0 for its others.
  void fill_observed(double* posteriors) const {
    for (std::size_t v = 0; v < observed_.size(); ++v) {
      if (observed_[v] < 0) continue;
      for (std::int64_t s = 0; s < model_.cards[v]; ++s) posteriors[model_.offsets[v] + s] = s == observed_[v];
    }
  }

 private:
  void add(const Scope& scope, const double* table) {
    CutFactor made;
    std::vector<std::int64_t> from;  // the strides of the hidden variables in the whole table
    std::int64_t stride = 1, place = 0, cells = 1;
    for (std::size_t i = scope.size(); i-- > 0;) {
      const auto v = static_cast<std::size_t>(scope[i]);
      if (observed_[v] >= 0) {
        place += stride * observed_[v];
      } else {
        made.variables.insert(made.variables.begin(), scope[i]);
        made.sizes.insert(made.sizes.begin(), model_.cards[v]);
        made.strides.insert(made.strides.begin(), cells);
        from.insert(from.begin(), stride);
        cells *= model_.cards[v];
      }
      stride *= model_.cards[v];
    }
    made.cells.resize(static_cast<std::size_t>(cells));
    std::vector<std::int64_t> at(from.size(), 0);
    for (double& cell : made.cells) {
      cell = table[place];
      made.has_zero = made.has_zero || !(cell > 0);
      for (std::size_t axis = from.size(); axis-- > 0;) {
        place += from[axis];
        if (++at[axis] < made.sizes[axis]) break;
        place -= from[axis] * made.sizes[axis];
        at[axis] = 0;
      }
    }
    for (std::size_t axis = 0; axis < made.variables.size(); ++axis)
      uses_[static_cast<std::size_t>(made.variables[axis])].push_back({factors_.size(), axis});
    factors_.push_back(std::move(made));
  }

  const FactorModel& model_;
  std::vector<std::vector<Use>> uses_;
  std::vector<std::int32_t> observed_;
  Scope hidden_;
  std::vector<CutFactor> factors_;
};

}  // namespace bayesbox
