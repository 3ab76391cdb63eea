// What a scorer is made of: how each column is read, with its table or density, and the tables of columns together.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "table/cell_runs.hpp"
#include "table/joint_scorer.hpp"
#include "table/level_index.hpp"
#include "table/number_density.hpp"
#include "table/one_dependence.hpp"
#include "table/score.hpp"

namespace bayesbox {

// What a column is read as.
enum class InputKind : std::uint8_t { number, levels, flag, bins };

struct ScorerInput {
  InputKind kind = InputKind::number;
  std::vector<double> gaussian;  // classes x (mean, rest, deviation, constant)
  CellDensity cells;             // of a number whose `has_cells` is set
  bool has_cells = false;
  std::vector<std::uint16_t> run_of;
  std::vector<double> heights, ratios, parameters, zeros;  // what the cells point into, but for those of
  std::shared_ptr<const CellRuns> fitted;                  // a column as it was fitted
  double weight = 1;                                       // of the cells, or of the density
  std::shared_ptr<const NumberDensity> density;  // of a number; then observed and missing have a term a class
  std::vector<double> observed, missing;
  LevelIndex levels;
  std::vector<double> cuts;   // of bins: a number on a cut is in the bin below it
  std::vector<double> table;  // rows x classes: of the levels or bins; of unseen ones, but for bins; of a missing value
  std::size_t table_rows = 0;
  bool last = false;            // whether its table is added behind those of the others, as numbers are
  bool refuses_unseen = false;  // whether a level that was never seen is an error
  bool is_code = false;         // whether it has no table, and its codes are those of families

  std::int32_t missing_code() const { return static_cast<std::int32_t>(table_rows) - 1; }
  std::int32_t unseen_code() const { return static_cast<std::int32_t>(table_rows) - 2; }

  // The levels of a column of codes.
  std::size_t code_levels() const { return table_rows - 2; }

  // The code of a number in the table of bins.
  std::int32_t bin_of(double value) const {
    if (std::isnan(value)) return missing_code();
    return static_cast<std::int32_t>(std::lower_bound(cuts.begin(), cuts.end(), value) - cuts.begin());
  }
};

// A table of a column that depends on others: (parents' codes) x (levels and one that was never seen) x classes.
struct ScorerFamily {
  std::vector<std::size_t> inputs;  // its column, and its parents
  std::vector<double> table;        // the last row is that of a missing value
  std::size_t rows = 0;
  bool unseen_is_missing = false;
};

// What is made of columns of codes.
struct CodedModel {
  std::vector<ScorerFamily> families;
  bool averages = false;  // whether it averages over parents, as AODE does
  std::vector<std::size_t> places, first_slot;
  std::vector<double> log_class, slot_prior, naive, slot_table;
  std::vector<std::uint8_t> is_parent, ignores_unseen;
  std::optional<CommonRow> common;
  JointModel joint;

  OneDependence one_dependence(std::size_t classes) const {
    OneDependence model = {classes, first_slot, log_class.data(), slot_prior.data(), naive.data(), slot_table.data(),
                           is_parent.data()};
    if (common) common->enter(model);
    return model;
  }
};

}  // namespace bayesbox
