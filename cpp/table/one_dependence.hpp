// The joint log-probability of rows under averaged one-dependence estimators: the log of the mean over the parents i of
//
//   P(c, x_i) * product over j of P(x_j | c, x_i)
//
// Every level of every column has a slot. `prior` holds log P(c, x_i) by slot and class; `table` log P(x_j | c, x_i) by
// the slot of x_i, the slot of x_j and class, zeros where both are of one column. A row without a parent is judged by
// the naive terms: log P(c) plus log P(x_j | c) by slot and class.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/column.hpp"
#include "core/functions.hpp"
#include "core/interrupt.hpp"

namespace bayesbox {

struct OneDependence {
  std::size_t classes = 0;
  std::vector<std::size_t> first_slot;  // of each column, and the number of slots at the end
  const double* log_class = nullptr;    // classes
  const double* prior = nullptr;        // slots x classes
  const double* naive = nullptr;        // slots x classes
  const double* table = nullptr;        // slots x slots x classes
  const std::uint8_t* is_parent = nullptr;  // slots: whether a row with this level may take it for a parent

  std::size_t slots() const { return first_slot.back(); }
};

class OneDependenceScorer {
 public:
  explicit OneDependenceScorer(const OneDependence& model)
      : model_(model), present_(model.first_slot.size()), sums_(model.first_slot.size() * model.classes) {}

  // The slots of the values that are there.
  void read(const std::vector<Column>& columns, std::size_t row) {
    count_ = 0;
    for (std::size_t j = 0; j < columns.size(); ++j) {
      const std::size_t size = model_.first_slot[j + 1] - model_.first_slot[j];
      const auto code = static_cast<std::size_t>(static_cast<std::uint32_t>(load<std::int32_t>(columns[j].at(row))));
      if (code < size) present_[count_++] = model_.first_slot[j] + code;
    }
  }

  template <std::size_t kClasses>
  void score(double* out) {
    const std::size_t classes = kClasses ? kClasses : model_.classes;
    std::size_t parents = 0;
    for (std::size_t p = 0; p < count_; ++p)
      if (model_.is_parent[present_[p]]) add<kClasses>(model_.prior + present_[p] * classes,
                                                       model_.table + present_[p] * model_.slots() * classes,
                                                       &sums_[parents++ * classes]);
    if (parents == 0) {
      add<kClasses>(model_.log_class, model_.naive, out);
      return;
    }
    const double share = portable::log(static_cast<double>(parents));
    for (std::size_t c = 0; c < classes; ++c) {
      double best = sums_[c];
      for (std::size_t p = 1; p < parents; ++p) best = std::max(best, sums_[p * classes + c]);
      double total = 0;
      if (best > -std::numeric_limits<double>::infinity())
        for (std::size_t p = 0; p < parents; ++p) total += portable::exp(sums_[p * classes + c] - best);
      out[c] = total > 0 ? best + portable::log(total) - share : -std::numeric_limits<double>::infinity();
    }
  }

 private:
  template <std::size_t kClasses>
  void add(const double* start, const double* table, double* sums) const {
    if constexpr (kClasses != 0) {
      double held[kClasses];
      for (std::size_t c = 0; c < kClasses; ++c) held[c] = start[c];
      for (std::size_t q = 0; q < count_; ++q) {
        const double* terms = table + present_[q] * kClasses;
        for (std::size_t c = 0; c < kClasses; ++c) held[c] += terms[c];
      }
      for (std::size_t c = 0; c < kClasses; ++c) sums[c] = held[c];
    } else {
      const std::size_t classes = model_.classes;
      for (std::size_t c = 0; c < classes; ++c) sums[c] = start[c];
      for (std::size_t q = 0; q < count_; ++q) {
        const double* terms = table + present_[q] * classes;
        for (std::size_t c = 0; c < classes; ++c) sums[c] += terms[c];
      }
    }
  }

  const OneDependence& model_;
  std::vector<std::size_t> present_;
  std::vector<double> sums_;
  std::size_t count_ = 0;
};

template <std::size_t kClasses>
void score_rows(const OneDependence& model, const std::vector<Column>& columns, std::size_t rows, double* out) {
  OneDependenceScorer scorer(model);
  for (std::size_t row = 0; row < rows; ++row) {
    poll(columns.size() * columns.size());
    scorer.read(columns, row);
    scorer.score<kClasses>(out + row * model.classes);
  }
}

// Rows x classes; columns of int32 codes, a code outside a column's slots is missing.
inline void score_one_dependence(const OneDependence& model, const std::vector<Column>& columns, std::size_t rows,
                                 double* out) {
  switch (model.classes) {
    case 2: return score_rows<2>(model, columns, rows, out);
    case 3: return score_rows<3>(model, columns, rows, out);
    case 4: return score_rows<4>(model, columns, rows, out);
    default: return score_rows<0>(model, columns, rows, out);
  }
}

}  // namespace bayesbox
