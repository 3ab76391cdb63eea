// The joint log-probability of rows under averaged one-dependence estimators: the log of the mean over the parents i of
//
//   P(c, x_i) * product over j of P(x_j | c, x_i)
//
// Every level of every column has a slot. `prior` holds log P(c, x_i) by slot and class; `table` log P(x_j | c, x_i) by
// the slot of x_i, the slot of x_j and class, zeros where both are of one column. A row without a parent is judged by
// the naive terms: log P(c) plus log P(x_j | c) by slot and class.
//
// Of hundreds of columns most take their commonest level in most rows, as counts of words are 0. The product of a parent
// with the commonest level of every column is then made once, and a row brings only what is different about it.
#pragma once

#include <algorithm>
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
  const std::size_t* common = nullptr;      // columns: the slot of the commonest level; null if rows are summed whole
  const double* base = nullptr;             // slots x classes: the sums of a row that has the commonest level everywhere

  std::size_t slots() const { return first_slot.back(); }
};

inline constexpr std::size_t kManyColumns = 64;
inline constexpr double kMostUncommon = 0.25;  // the mean share of values that are not the commonest

// The row of the commonest levels and its sums for every parent; empty if rows are expected to be too unlike it. It
// follows from the model alone, so that a row has one result, alone and among others.
struct CommonRow {
  std::vector<std::size_t> slot;
  std::vector<double> base;

  explicit CommonRow(const OneDependence& model) {
    if (!make(model)) slot.clear();
  }

  void enter(OneDependence& model) const {
    if (slot.empty()) return;
    model.common = slot.data();
    model.base = base.data();
  }

 private:
  bool make(const OneDependence& model) {
    const std::size_t columns = model.first_slot.size() - 1, classes = model.classes, slots = model.slots();
    if (columns < kManyColumns) return false;
    double uncommon = 0;
    for (std::size_t j = 0; j < columns; ++j) {
      double most = -1;
      for (std::size_t at = model.first_slot[j]; at < model.first_slot[j + 1]; ++at) {
        double share = 0;
        for (std::size_t c = 0; c < classes; ++c) share += portable::exp(model.prior[at * classes + c]);
        if (share > most) {
          most = share;
          if (slot.size() == j) slot.push_back(at);
          slot[j] = at;
        }
      }
      if (slot.size() == j) return false;
      uncommon += 1 - most;
    }
    if (!(uncommon <= kMostUncommon * static_cast<double>(columns))) return false;
    base.assign(slots * classes, 0.0);
    for (std::size_t p = 0; p < slots; ++p) {
      if (model.is_parent[p] == 0) continue;
      poll(columns * classes);
      double* const sums = base.data() + p * classes;
      std::copy_n(model.prior + p * classes, classes, sums);
      const double* const table = model.table + p * slots * classes;
      for (std::size_t j = 0; j < columns; ++j)
        for (std::size_t c = 0; c < classes; ++c) sums[c] += table[slot[j] * classes + c];
      for (std::size_t c = 0; c < classes; ++c)
        if (!std::isfinite(sums[c])) return false;  // what is impossible cannot be taken back
    }
    return true;
  }
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
    if (model_.common != nullptr) compare(columns.size());
  }

  template <std::size_t kClasses>
  void score(double* out) {
    const std::size_t classes = kClasses ? kClasses : model_.classes;
    std::size_t parents = 0;
    for (std::size_t p = 0; p < count_; ++p) {
      if (model_.is_parent[present_[p]] == 0) continue;
      const double* const table = model_.table + present_[p] * model_.slots() * classes;
      double* const sums = &sums_[parents++ * classes];
      if (is_common_)
        change(model_.base + present_[p] * classes, table, sums);
      else
        add<kClasses>(model_.prior + present_[p] * classes, table, sums);
    }
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

  // What the row has and the row of the commonest levels has not, and the reverse; sums are made of it if it is little.
  void compare(std::size_t columns) {
    gained_.clear();
    lost_.clear();
    std::size_t at = 0;
    for (std::size_t j = 0; j < columns; ++j) {
      const bool is_there = at < count_ && present_[at] < model_.first_slot[j + 1];
      if (is_there && present_[at] == model_.common[j]) {
        ++at;
        continue;
      }
      lost_.push_back(model_.common[j]);
      if (is_there) gained_.push_back(present_[at++]);
    }
    is_common_ = gained_.size() + lost_.size() < count_;
  }

  void change(const double* base, const double* table, double* sums) const {
    const std::size_t classes = model_.classes;
    for (std::size_t c = 0; c < classes; ++c) sums[c] = 0;
    for (const std::size_t slot : gained_)
      for (std::size_t c = 0; c < classes; ++c) sums[c] += table[slot * classes + c];
    for (const std::size_t slot : lost_)
      for (std::size_t c = 0; c < classes; ++c) sums[c] -= table[slot * classes + c];
    for (std::size_t c = 0; c < classes; ++c) sums[c] += base[c];
  }

  const OneDependence& model_;
  std::vector<std::size_t> present_, gained_, lost_;
  std::vector<double> sums_;
  std::size_t count_ = 0;
  bool is_common_ = false;
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
inline void score_one_dependence(const OneDependence& given, const std::vector<Column>& columns, std::size_t rows,
                                 double* out) {
  if (rows == 0) return;
  const CommonRow common(given);
  OneDependence model = given;
  common.enter(model);
  switch (model.classes) {
    case 2: return score_rows<2>(model, columns, rows, out);
    case 3: return score_rows<3>(model, columns, rows, out);
    case 4: return score_rows<4>(model, columns, rows, out);
    default: return score_rows<0>(model, columns, rows, out);
  }
}

}  // namespace bayesbox
