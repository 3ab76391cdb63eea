// A model made ready for rows that come one at a time, or a few: all that does not depend on the row is worked out once.
//
// A row is read into buffers, a number or the code of a level for each column, and the terms are added up by the loops of
// score.hpp, so that the answers have the bits of those for a whole table. The model never changes: what changes is in
// workspaces, of which each thread that asks has its own for as long as it asks.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "core/functions.hpp"
#include "table/calibrate.hpp"
#include "table/joint_scorer.hpp"
#include "table/level_index.hpp"
#include "table/number_density.hpp"
#include "table/one_dependence.hpp"
#include "table/quadratic.hpp"
#include "table/score.hpp"
#include "table/scorer_parts.hpp"

namespace bayesbox {

class Scorer;

// The buffers that rows are read into, and the sums.
class ScorerWorkspace {
 public:
  explicit ScorerWorkspace(const Scorer& scorer);
  ScorerWorkspace(const ScorerWorkspace&) = delete;
  ScorerWorkspace& operator=(const ScorerWorkspace&) = delete;

  static constexpr std::size_t kRows = BlockScorer::kBlock;

  // One value of a row, `row` from 0 up to kRows; a column that is not read stays what it was.
  void set_number(std::size_t input, std::size_t row, double value);
  void set_code(std::size_t input, std::size_t row, std::int32_t code) { codes_[input][row] = code; }
  void set_missing(std::size_t input, std::size_t row);
  // Some numbers of a column without a table, from row 0 on; false where one is infinite.
  bool set_numbers(std::size_t input, const Column& column, std::size_t first, std::size_t count) {
    double* to = numbers_[input].data();
    read_doubles(column, first, count, to);
    bool finite = true;
    for (std::size_t i = 0; i < count; ++i) finite = finite && !std::isinf(to[i]);
    return finite;
  }
  // Some flags of a column with a table, likewise; false where one is neither 0 nor 1 nor missing.
  bool set_flags(std::size_t input, const Column& column, std::size_t first, std::size_t count);
  void set_extra(std::size_t row, std::size_t label, double term) { extra_[label * kRows + row] = term; }

  // Makes the buffers of numbers, which are not needed for rows that are read where they stand; see Aim.
  void make_buffers();

  // Reads the rows of a matrix of doubles where they stand, for as long as it is held; see Scorer::is_numbers. Column place[j] is
  // that of input j. An infinite value leaves its row without an answer.
  class Aim {
   public:
    Aim(ScorerWorkspace& space, const std::vector<std::int64_t>& place, const Column& first, std::size_t rows) : space_(space) {
      const auto column = [&](std::size_t input) {
        Column found = first;
        found.data += place[input] * static_cast<std::int64_t>(sizeof(double));
        return found;
      };
      space_.request_.rows = rows;
      space_.point(column);
    }
    ~Aim() {
      space_.request_.rows = kRows;
      space_.point([&](std::size_t input) { return space_.own_numbers(input); });
    }
    Aim(const Aim&) = delete;
    Aim& operator=(const Aim&) = delete;

   private:
    ScorerWorkspace& space_;
  };

  // The answers for the first rows: rows x classes of posteriors or their logs. False where a row has none.
  bool answer(std::size_t rows, bool logs, double* out);

  // The most probable class of each of the first rows, of equal ones the first. False where a row has none.
  bool best(std::size_t rows, std::int32_t* out);

 private:
  // Works out what the loops of score.hpp do not add up themselves. False where a row must be asked in another way.
  bool combine(std::size_t rows);
  void combine_families(std::size_t rows);
  void average(std::size_t rows);
  void add_density(std::size_t input, std::size_t rows);
  bool add_joint(std::size_t rows);

  Column own_numbers(std::size_t input) const {
    return {reinterpret_cast<const char*>(numbers_[input].data()), sizeof(double), kRows, Kind::float64};
  }
  // Where the terms of numbers read their columns.
  template <class ColumnOf>
  void point(const ColumnOf& column_of);

  const Scorer& scorer_;
  std::vector<std::vector<std::int32_t>> family_codes_;
  std::vector<std::int32_t> one_row_;
  std::vector<Column> one_columns_;
  OneDependence one_dependence_;
  std::vector<std::vector<double>> numbers_;       // by input
  bool has_buffers_ = false;
  std::vector<std::vector<std::int32_t>> codes_;  // by input
  std::vector<double> extra_, scratch_, number_row_, densities_;
  std::vector<Column> number_columns_;
  std::vector<JointNormal> normals_;
  std::unique_ptr<QuadraticForms> forms_;  // for many rows
  std::vector<std::int32_t> best_;
  ScoreRequest request_;
  std::unique_ptr<BlockScorer> plain_, logs_, argmax_;
};

class Scorer {
 public:
  Scorer(std::vector<double> prior, std::vector<ScorerInput> inputs, bool has_extra, Calibration calibration, CodedModel coded = {})
      : prior_(std::move(prior)),
        inputs_(std::move(inputs)),
        has_extra_(has_extra),
        calibration_(std::move(calibration)),
        coded_(std::move(coded)),
        adds_terms_(coded_.joint.is_used()) {
    for (ScorerInput& input : inputs_) {
      adds_terms_ = adds_terms_ || input.density != nullptr;
      if (input.fitted != nullptr) continue;
      input.cells.run_of = input.run_of.data();
      input.cells.heights = input.heights.data();
      input.cells.ratios = input.ratios.data();
      input.cells.parameters = input.parameters.data();
      input.cells.zeros = input.zeros.empty() ? nullptr : input.zeros.data();
    }
  }
  Scorer(const Scorer&) = delete;
  Scorer& operator=(const Scorer&) = delete;

  std::size_t classes() const { return prior_.size(); }
  const std::vector<double>& prior() const { return prior_; }
  // Whether terms are worked out here that the loops of score.hpp take as they are.
  bool adds_terms() const { return adds_terms_; }
  const std::vector<ScorerInput>& inputs() const { return inputs_; }
  bool has_extra() const { return has_extra_; }
  const Calibration& calibration() const { return calibration_; }
  const CodedModel& coded() const { return coded_; }

  // Whether all that it adds up are terms of numbers, of which none may be missing from a row that is read where it stands.
  bool is_numbers() const {
    const auto is_number = [](const ScorerInput& input) { return input.kind == InputKind::number && input.table_rows == 0; };
    return !has_extra_ && !adds_terms_ && !coded_.averages && coded_.families.empty() &&
           std::all_of(inputs_.begin(), inputs_.end(), is_number);
  }

  // A workspace that is no one else's as long as it is held; with `in_place` set its rows are to be read by an Aim alone.
  class Lease {
   public:
    explicit Lease(const Scorer& scorer, bool in_place = false) : scorer_(scorer) {
      {
        const std::lock_guard guard(scorer.guard_);
        if (!scorer.free_.empty()) {
          space_ = std::move(scorer.free_.back());
          scorer.free_.pop_back();
        }
      }
      if (!space_) space_ = std::make_unique<ScorerWorkspace>(scorer);
      if (!in_place) space_->make_buffers();
    }
    ~Lease() {
      const std::lock_guard guard(scorer_.guard_);
      scorer_.free_.push_back(std::move(space_));
    }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    ScorerWorkspace* operator->() const { return space_.get(); }

   private:
    const Scorer& scorer_;
    std::unique_ptr<ScorerWorkspace> space_;
  };

 private:
  std::vector<double> prior_;
  std::vector<ScorerInput> inputs_;
  bool has_extra_;
  Calibration calibration_;
  CodedModel coded_;
  bool adds_terms_;
  mutable std::mutex guard_;
  mutable std::vector<std::unique_ptr<ScorerWorkspace>> free_;
};

inline ScorerWorkspace::ScorerWorkspace(const Scorer& scorer)
    : scorer_(scorer), numbers_(scorer.inputs().size()), codes_(scorer.inputs().size()), scratch_(scorer.classes()), best_(kRows) {
  const auto column = [](const auto& values, Kind kind) {
    return Column{reinterpret_cast<const char*>(values.data()), static_cast<std::int64_t>(sizeof values[0]), kRows, kind};
  };
  request_.rows = kRows;
  request_.classes = scorer.classes();
  request_.prior = scorer.prior().data();
  const std::vector<ScorerInput>& inputs = scorer.inputs();
  for (std::size_t j = 0; j < inputs.size(); ++j) {
    const ScorerInput& input = inputs[j];
    if (input.kind == InputKind::number) {
      if (!input.gaussian.empty()) request_.gaussians.push_back({own_numbers(j), input.gaussian.data()});
      if (input.has_cells) request_.cells.push_back({own_numbers(j), input.cells, input.weight});
    }
    if (input.table_rows != 0) codes_[j].assign(kRows, input.missing_code());
  }
  for (const bool last : {false, true})
    for (std::size_t j = 0; j < inputs.size(); ++j)
      if (inputs[j].table_rows != 0 && !inputs[j].is_code && inputs[j].last == last)
        request_.tables.push_back({column(codes_[j], Kind::int32), 0, inputs[j].table_rows - 1, inputs[j].table.data()});
  const CodedModel& coded = scorer.coded();
  for (const ScorerFamily& family : coded.families) {
    family_codes_.emplace_back(kRows, static_cast<std::int32_t>(family.rows) - 1);
    request_.tables.push_back({column(family_codes_.back(), Kind::int32), 0, family.rows - 1, family.table.data()});
  }
  if (coded.averages) {
    one_dependence_ = coded.one_dependence(scorer.classes());
    one_row_.resize(coded.places.size());
    for (std::int32_t& code : one_row_) one_columns_.push_back({reinterpret_cast<const char*>(&code), sizeof code, 1, Kind::int32});
  }
  if (!scorer.is_numbers()) make_buffers();
  const std::size_t width = coded.joint.numbers.size();
  number_row_.resize(2 * width);
  for (const std::size_t place : coded.joint.numbers) number_columns_.push_back(own_numbers(place));
  for (std::size_t c = 0; width != 0 && c < scorer.classes(); ++c) normals_.push_back(coded.joint.normal(c));
  if (scorer.has_extra() || coded.averages || scorer.adds_terms()) {
    extra_.assign(scorer.classes() * kRows, 0.0);
    for (std::size_t c = 0; c < scorer.classes(); ++c)
      request_.extra.push_back({reinterpret_cast<const char*>(extra_.data() + c * kRows), sizeof(double), kRows, Kind::float64});
  }
}

template <class ColumnOf>
void ScorerWorkspace::point(const ColumnOf& column_of) {
  std::size_t gaussian = 0, cells = 0;  // in the order of the inputs
  const std::vector<ScorerInput>& inputs = scorer_.inputs();
  for (std::size_t j = 0; j < inputs.size(); ++j) {
    if (!inputs[j].gaussian.empty()) request_.gaussians[gaussian++].values = column_of(j);
    if (inputs[j].has_cells) request_.cells[cells++].values = column_of(j);
  }
}

inline void ScorerWorkspace::make_buffers() {
  if (has_buffers_) return;
  has_buffers_ = true;
  for (std::size_t j = 0; j < numbers_.size(); ++j)
    if (scorer_.inputs()[j].kind == InputKind::number) numbers_[j].assign(kRows, std::nan(""));
  point([&](std::size_t input) { return own_numbers(input); });
}

inline void ScorerWorkspace::set_number(std::size_t j, std::size_t row, double value) {
  const ScorerInput& input = scorer_.inputs()[j];
  if (input.kind == InputKind::bins) {
    codes_[j][row] = input.bin_of(value);
    return;
  }
  numbers_[j][row] = value;
  if (input.table_rows != 0) codes_[j][row] = std::isnan(value) ? input.missing_code() : 0;  // observed or missing
}

inline bool ScorerWorkspace::set_flags(std::size_t input, const Column& column, std::size_t first, std::size_t count) {
  double values[kRows];
  read_doubles(column, first, count, values);
  std::int32_t* const to = codes_[input].data();
  const std::int32_t missing = scorer_.inputs()[input].missing_code();
  std::size_t known = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const bool one = values[i] == 1, gone = values[i] != values[i];
    known += one | (values[i] == 0) | gone ? 1 : 0;
    to[i] = gone ? missing : one;
  }
  return known == count;
}

inline void ScorerWorkspace::set_missing(std::size_t j, std::size_t row) {
  const ScorerInput& input = scorer_.inputs()[j];
  if (input.kind == InputKind::number) numbers_[j][row] = std::nan("");
  if (input.table_rows != 0) codes_[j][row] = input.missing_code();
}

inline bool ScorerWorkspace::combine(std::size_t rows) {
  const CodedModel& coded = scorer_.coded();
  combine_families(rows);
  if (coded.averages) average(rows);
  if (!scorer_.adds_terms()) return true;
  const std::size_t classes = scorer_.classes();
  if (!scorer_.has_extra() && !coded.averages)
    for (std::size_t c = 0; c < classes; ++c) std::fill_n(extra_.begin() + static_cast<std::ptrdiff_t>(c * kRows), rows, 0.0);
  for (std::size_t j = 0; j < scorer_.inputs().size(); ++j)
    if (scorer_.inputs()[j].density) add_density(j, rows);
  return !coded.joint.is_used() || add_joint(rows);
}

inline void ScorerWorkspace::combine_families(std::size_t rows) {
  const CodedModel& coded = scorer_.coded();
  const std::vector<ScorerInput>& inputs = scorer_.inputs();
  for (std::size_t f = 0; f < coded.families.size(); ++f) {
    const ScorerFamily& family = coded.families[f];
    const ScorerInput& own = inputs[family.inputs[0]];
    for (std::size_t i = 0; i < rows; ++i) {
      const std::int32_t code = codes_[family.inputs[0]][i], levels = static_cast<std::int32_t>(own.code_levels());
      std::int32_t& into = family_codes_[f][i];
      into = static_cast<std::int32_t>(family.rows) - 1;
      if (code == own.missing_code() || (code == own.unseen_code() && family.unseen_is_missing)) continue;
      std::int32_t context = 0;
      for (std::size_t k = 1; k < family.inputs.size(); ++k) {
        const auto size = static_cast<std::int32_t>(inputs[family.inputs[k]].code_levels());
        context = context * (size + 1) + std::min(codes_[family.inputs[k]][i], size);  // missing ones are as those never seen
      }
      into = context * (levels + 1) + std::min(code, levels);
    }
  }
}

inline void ScorerWorkspace::average(std::size_t rows) {
  const CodedModel& coded = scorer_.coded();
  const std::vector<ScorerInput>& inputs = scorer_.inputs();
  OneDependenceScorer averaged(one_dependence_);
  const std::size_t classes = scorer_.classes();
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < coded.places.size(); ++j) {
      const ScorerInput& input = inputs[coded.places[j]];
      const std::int32_t code = codes_[coded.places[j]][i];
      const bool nothing = code == input.missing_code() || (code == input.unseen_code() && coded.ignores_unseen[j] != 0);
      one_row_[j] = nothing ? -1 : code;
    }
    averaged.read(one_columns_, 0);
    averaged.score<0>(scratch_.data());
    for (std::size_t c = 0; c < classes; ++c) extra_[c * kRows + i] = scratch_[c];
  }
}

inline void ScorerWorkspace::add_density(std::size_t j, std::size_t rows) {
  const ScorerInput& input = scorer_.inputs()[j];
  const std::size_t classes = scorer_.classes();
  for (std::size_t i = 0; i < rows; ++i) {
    const double x = numbers_[j][i];
    const bool missing = std::isnan(x);
    if (!missing) input.density->log_densities(x, scratch_.data());
    for (std::size_t c = 0; c < classes; ++c)
      extra_[c * kRows + i] += input.weight * (missing ? input.missing[c] : scratch_[c] + input.observed[c]);
  }
}

// A row that lacks a number, or a level that is then summed over, is left to others.
inline bool ScorerWorkspace::add_joint(std::size_t rows) {
  const JointModel& joint = scorer_.coded().joint;
  const std::vector<ScorerInput>& inputs = scorer_.inputs();
  const std::size_t classes = scorer_.classes(), width = joint.numbers.size();
  const bool together = rows >= kPad && width != 0 && joint.own.empty();
  if (together) {
    if (!forms_) forms_ = std::make_unique<QuadraticForms>(number_columns_, normals_);
    densities_.resize(kRows * classes);
    if (!forms_->run(rows, densities_.data())) return false;
  }
  for (std::size_t i = 0; i < rows; ++i) {
    std::size_t cell = 0;
    bool unseen = false;
    for (const JointAxis& axis : joint.axes) {
      const ScorerInput& input = inputs[axis.input];
      const std::int32_t code = codes_[axis.input][i];
      const std::size_t levels = input.code_levels();
      if (code == input.missing_code() && !axis.missing_is_level) return false;
      if (code == input.unseen_code()) {
        if (joint.ignores_unseen) return false;
        unseen = true;
      }
      cell = cell * (levels + axis.missing_is_level) + (code == input.missing_code() ? levels : static_cast<std::size_t>(code));
    }
    const double* row = nullptr;
    if (!joint.axes.empty()) row = joint.table.data() + (unseen ? joint.table.size() - classes : cell * classes);
    const std::vector<std::int32_t>* own = nullptr;
    if (!unseen)
      if (const auto found = joint.own.find(cell); found != joint.own.end()) own = &found->second;
    double* x = number_row_.data();
    for (std::size_t j = 0; j < width && !together; ++j) {
      x[j] = numbers_[joint.numbers[j]][i];
      if (std::isnan(x[j])) return false;
    }
    for (std::size_t c = 0; c < classes; ++c) {
      const std::size_t normal = own == nullptr ? c : static_cast<std::size_t>((*own)[c]);
      const double density = width == 0 ? 0.0 : together ? densities_[i * classes + c] : joint.log_density(normal, x, x + width);
      extra_[c * kRows + i] += row == nullptr ? density : row[c] + density;
    }
  }
  return true;
}

inline bool ScorerWorkspace::answer(std::size_t rows, bool logs, double* out) {
  const std::size_t classes = scorer_.classes();
  const Calibration& calibration = scorer_.calibration();
  if (!combine(rows)) return false;
  if (!logs && calibration.is_plain()) {
    if (!plain_) plain_ = std::make_unique<BlockScorer>(request_, Output::posterior);
    return !plain_->run(rows, out, best_.data());
  }
  if (!logs_) logs_ = std::make_unique<BlockScorer>(request_, Output::log_posterior);
  if (logs_->run(rows, out, best_.data())) return false;
  if (calibration.is_plain()) return true;
  for (std::size_t i = 0; i < rows; ++i) {
    double* own = out + i * classes;
    calibration.apply(own, classes, scratch_.data());
    if (!logs)
      for (std::size_t c = 0; c < classes; ++c) own[c] = portable::exp(own[c]);
  }
  return true;
}

inline bool ScorerWorkspace::best(std::size_t rows, std::int32_t* out) {
  if (scorer_.calibration().is_plain()) {
    if (!combine(rows)) return false;
    if (!argmax_) argmax_ = std::make_unique<BlockScorer>(request_, Output::argmax);
    argmax_->run(rows, nullptr, out);
    return std::all_of(out, out + rows, [](std::int32_t label) { return label >= 0; });
  }
  const std::size_t classes = scorer_.classes();
  std::vector<double> shares(rows * classes);
  if (!answer(rows, false, shares.data())) return false;
  for (std::size_t i = 0; i < rows; ++i) {
    const auto own = shares.begin() + static_cast<std::ptrdiff_t>(i * classes);
    out[i] = static_cast<std::int32_t>(std::max_element(own, own + static_cast<std::ptrdiff_t>(classes)) - own);
  }
  return true;
}

}  // namespace bayesbox
