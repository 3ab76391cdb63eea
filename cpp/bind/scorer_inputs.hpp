// What a scorer is made of, as Python gives it: columns, families of columns, calibration.
#pragma once

#include <nanobind/nanobind.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "bind/buffer.hpp"
#include "bind/cell_runs.hpp"
#include "bind/row_values.hpp"
#include "bind/scorer_densities.hpp"
#include "table/scorer.hpp"

namespace bayesbox {

// The fields of an input, which Python gives as a tuple that begins with the kind and the name of the column.
class InputReader {
 public:
  InputReader(nb::handle given, std::size_t classes) : fields_(tuple_of(given)), classes_(classes) {}

  // Reads the input, or the several that were fitted together.
  void read_into(std::vector<ScorerInput>& inputs) {
    const std::string kind = text_at(0).c_str();
    if (kind == "normals")
      normals(inputs);
    else if (kind == "cells")
      cells(inputs);
    else
      inputs.push_back(read(kind));
  }

  // The names of what was read.
  nb::tuple names() const { return PyTuple_Check(at(1).ptr()) ? tuple_of(at(1)) : nb::make_tuple(at(1)); }

 private:
  ScorerInput read(const std::string& kind) {
    if (kind == "number") return number();
    if (kind == "levels") return levels();
    if (kind == "flag") return flag();
    if (kind == "bins") return bins();
    if (kind == "codes") return codes();
    if (kind == "density") return density();
    throw nb::value_error("columns: unknown kind");
  }

  nb::handle at(std::size_t field) const {
    if (field >= fields_.size()) throw nb::value_error("columns: too few fields");
    return fields_[field];
  }
  nb::str text_at(std::size_t field) const { return nb::str(at(field)); }

  // (number, name, gaussian or None, cells or None, weight, presence or None)
  ScorerInput number() {
    ScorerInput input;
    if (!at(2).is_none()) {
      const Buffer buffer(at(2), "gaussian");
      buffer.need_dimensions(2).need_kind(Kind::float64, "float64").need_length(0, classes_).need_length(1, 4);
      input.gaussian = buffer.doubles();
    }
    input.weight = nb::cast<double>(at(4));
    if (!std::isfinite(input.weight)) throw nb::value_error("columns: a weight is not finite");
    if (nb::isinstance<PyCellRuns>(at(3)))
      take_cells(nb::cast<const PyCellRuns&>(at(3)), input);
    else if (!at(3).is_none())
      read_cells(tuple_of(at(3)), input);
    if (!at(5).is_none()) read_table(5, 2, input);
    return input;
  }

  // (normals, names, gaussian of each name): columns of numbers with nothing else
  void normals(std::vector<ScorerInput>& inputs) {
    const std::size_t columns = tuple_of(at(1)).size();
    const Buffer buffer(at(2), "normals");
    buffer.need_dimensions(3).need_kind(Kind::float64, "float64");
    buffer.need_length(0, columns).need_length(1, classes_).need_length(2, 4);
    const double* from = buffer.doubles_in_place();
    if (from == nullptr) buffer.refuse("not contiguous");
    for (std::size_t i = 0; i < columns; ++i, from += 4 * classes_) {
      ScorerInput& input = inputs.emplace_back();
      input.gaussian.assign(from, from + 4 * classes_);
    }
  }

  // (cells, names, CellRuns of each name): likewise
  void cells(std::vector<ScorerInput>& inputs) {
    const nb::tuple given = tuple_of(at(2));
    if (given.size() != tuple_of(at(1)).size()) throw nb::value_error("cells: one a name");
    for (nb::handle each : given) {
      if (!nb::isinstance<PyCellRuns>(each)) throw nb::type_error("cells: must be CellRuns");
      take_cells(nb::cast<const PyCellRuns&>(each), inputs.emplace_back());
    }
  }

  // (density, name, what density_of takes, weight, terms of being observed, terms of being missing)
  ScorerInput density() {
    ScorerInput input;
    input.density = density_of(at(2), classes_);
    input.weight = nb::cast<double>(at(3));
    if (!std::isfinite(input.weight)) throw nb::value_error("columns: a weight is not finite");
    input.observed = doubles_of(at(4), "observed", classes_);
    input.missing = doubles_of(at(5), "missing", classes_);
    return input;
  }

  // (levels, name, texts, table, last, refuses_unseen)
  ScorerInput levels() {
    ScorerInput input;
    input.kind = InputKind::levels;
    for (nb::handle text : tuple_of(at(2))) {
      Py_ssize_t size = 0;
      const char* bytes = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
      if (bytes == nullptr) throw nb::python_error();
      input.levels.add({bytes, static_cast<std::size_t>(size)});
    }
    read_table(3, input.levels.size() + 2, input);
    read_flags(4, input);
    return input;
  }

  // (flag, name, table, last, refuses_unseen)
  ScorerInput flag() {
    ScorerInput input;
    input.kind = InputKind::flag;
    read_table(2, 4, input);
    read_flags(3, input);
    return input;
  }

  // (bins, name, cuts, table)
  ScorerInput bins() {
    ScorerInput input;
    input.kind = InputKind::bins;
    const Buffer cuts(at(2), "cuts");
    input.cuts = cuts.need_dimensions(1).need_kind(Kind::float64, "float64").doubles();
    read_table(3, input.cuts.size() + 2, input);
    return input;
  }

  // (codes, name, (texts, a number, or cuts), refuses_unseen): a column whose codes tables of several columns share. A number is
  // that of the levels of a flag.
  ScorerInput codes() {
    ScorerInput input;
    input.is_code = true;
    if (PyTuple_Check(at(2).ptr())) {
      input.kind = InputKind::levels;
      for (nb::handle text : tuple_of(at(2))) {
        Py_ssize_t size = 0;
        const char* bytes = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
        if (bytes == nullptr) throw nb::python_error();
        input.levels.add({bytes, static_cast<std::size_t>(size)});
      }
      input.table_rows = input.levels.size() + 2;
    } else if (PyLong_Check(at(2).ptr())) {
      input.kind = InputKind::flag;
      input.table_rows = 4;
    } else {
      input.kind = InputKind::bins;
      input.cuts = Buffer(at(2), "cuts").need_dimensions(1).need_kind(Kind::float64, "float64").doubles();
      input.table_rows = input.cuts.size() + 3;
    }
    input.refuses_unseen = nb::cast<bool>(at(3));
    return input;
  }

  void read_flags(std::size_t first, ScorerInput& input) {
    input.last = nb::cast<bool>(at(first));
    input.refuses_unseen = nb::cast<bool>(at(first + 1));
  }

  void read_table(std::size_t field, std::size_t rows, ScorerInput& input) {
    const Buffer buffer(at(field), "table");
    buffer.need_dimensions(2).need_kind(Kind::float64, "float64").need_length(0, rows).need_length(1, classes_);
    if (rows > INT32_MAX) buffer.refuse("too many levels");
    input.table = buffer.doubles();
    input.table_rows = rows;
  }

  void take_cells(const PyCellRuns& given, ScorerInput& input) {
    if (given.found->classes != classes_) throw nb::value_error("cells: of other classes");
    input.has_cells = true;
    input.fitted = given.found;
    input.cells = given.density();
  }

  void read_cells(const nb::tuple& given, ScorerInput& input) {
    if (given.size() != 8) throw nb::value_error("cells: wrong number of fields");
    CellDensity& density = input.cells;
    input.has_cells = true;
    density.classes = classes_;
    const auto least = nb::cast<std::int64_t>(given[0]);
    const Buffer run_of(given[1], "run_of");
    run_of.need_dimensions(1).need_kind(Kind::uint16, "uint16");
    if (run_of.length(0) < 2 || run_of.length(0) % 2 != 0) run_of.refuse("is not a run for each sign of some cells");
    density.sizes = run_of.length(0) / 2;
    if (least < 0 || density.sizes > kCellSizes || least > kCellSizes - static_cast<std::int64_t>(density.sizes))
      throw nb::value_error("least_size: out of range");
    density.least_size = static_cast<std::int32_t>(least);
    input.run_of.reserve(2 * density.sizes);
    for (std::size_t k = 0; k < 2 * density.sizes; ++k) input.run_of.push_back(load<std::uint16_t>(run_of.column().at(k)));
    const Buffer heights(given[2], "heights");
    heights.need_dimensions(2).need_kind(Kind::float64, "float64").need_length(0, classes_ + 1);
    density.runs = heights.length(1);
    if (density.runs < 1) heights.refuse("empty");
    input.heights = heights.doubles();
    const Buffer ratios(given[3], "ratios");
    input.ratios = ratios.need_dimensions(2).need_kind(Kind::float64, "float64").need_length(0, classes_).need_length(1, density.runs).doubles();
    const Buffer parameters(given[4], "parameters");
    input.parameters = parameters.need_dimensions(2).need_kind(Kind::float64, "float64").need_length(0, classes_ + 1).need_length(1, 3).doubles();
    density.base = nb::cast<double>(given[5]);
    density.is_log = nb::cast<bool>(given[6]);
    if (!nb::handle(given[7]).is_none()) {
      const Buffer zeros(given[7], "zeros");
      input.zeros = zeros.need_dimensions(1).need_kind(Kind::float64, "float64").need_length(0, classes_).doubles();
    }
  }

  nb::tuple fields_;
  std::size_t classes_;
};

// None, or (kind, numbers ..., shift or None), the kinds as stat/calibrate.py has them.
inline Calibration calibration_of(nb::handle given, std::size_t classes) {
  Calibration found;
  if (given.is_none()) return found;
  const nb::tuple fields = tuple_of(given);
  if (fields.size() != 4) throw nb::value_error("calibration: wrong number of fields");
  const std::string kind = nb::str(fields[0]).c_str();
  if (kind == "temperature") {
    found.kind = CalibrationKind::temperature;
    found.power = nb::cast<double>(fields[1]);
  } else if (kind == "isotonic") {
    found.kind = CalibrationKind::isotonic;
    for (nb::handle each : tuple_of(fields[1])) found.at.push_back(Buffer(each, "log_odds").need_dimensions(1).need_kind(Kind::float64, "float64").doubles());
    for (nb::handle each : tuple_of(fields[2])) found.curve.push_back(Buffer(each, "probability").need_dimensions(1).need_kind(Kind::float64, "float64").doubles());
    if (found.at.size() != classes || found.curve.size() != classes) throw nb::value_error("isotonic: one curve a class");
    for (std::size_t c = 0; c < classes; ++c)
      if (found.at[c].empty() || found.at[c].size() != found.curve[c].size()) throw nb::value_error("isotonic: a curve without points");
  } else if (kind == "dirichlet") {
    found.kind = CalibrationKind::dirichlet;
    const Buffer slopes(fields[1], "slopes");
    found.slopes = slopes.need_dimensions(2).need_kind(Kind::float64, "float64").need_length(0, classes).need_length(1, classes).doubles();
    found.offsets = doubles_of(fields[2], "offsets", classes);
  } else if (kind == "shares") {
    found.kind = CalibrationKind::shares;
    found.share = nb::cast<double>(fields[1]);
    found.log_shares = doubles_of(fields[2], "log_shares", classes);
  } else if (kind != "none") {
    throw nb::value_error("calibration: unknown kind");
  }
  if (!nb::handle(fields[3]).is_none()) found.shift = doubles_of(fields[3], "shift", classes);
  return found;
}

inline std::size_t code_input(std::int64_t place, const std::vector<ScorerInput>& inputs) {
  if (place < 0 || static_cast<std::size_t>(place) >= inputs.size() || !inputs[static_cast<std::size_t>(place)].is_code)
    throw nb::value_error("families: not a column of codes");
  return static_cast<std::size_t>(place);
}

// (places of the column and of its parents, table, whether a level never seen is taken as missing): the table has a row for each
// combination of the parents' codes, of which each has one more, and of the column's, which has one more for unseen levels.
inline ScorerFamily family_of(nb::handle given, const std::vector<ScorerInput>& inputs, std::size_t classes) {
  const nb::tuple fields = tuple_of(given);
  if (fields.size() != 3) throw nb::value_error("families: wrong number of fields");
  ScorerFamily family;
  std::size_t rows = 1;
  for (const std::int64_t each : Buffer(fields[0], "places").need_dimensions(1).integers()) {
    family.inputs.push_back(code_input(each, inputs));
    rows *= inputs[family.inputs.back()].code_levels() + 1;
    if (rows >= INT32_MAX) throw nb::value_error("families: too many combinations");
  }
  if (family.inputs.empty()) throw nb::value_error("families: no column");
  const Buffer table(fields[1], "table");
  family.table = table.need_dimensions(2).need_kind(Kind::float64, "float64").need_length(0, rows).need_length(1, classes).doubles();
  family.table.resize((rows + 1) * classes);  // nothing is said where the value is missing
  family.rows = rows + 1;
  family.unseen_is_missing = nb::cast<bool>(fields[2]);
  return family;
}

// (places, first slots, log prior, prior and naive of slots x classes, table of slots x slots x classes, is_parent, whether
// levels never seen are taken as missing for each place)
inline void read_one_dependence(const nb::tuple& given, const std::vector<ScorerInput>& inputs, std::size_t classes, CodedModel& model) {
  if (given.size() != 8) throw nb::value_error("one_dependence: wrong number of fields");
  for (const std::int64_t each : Buffer(given[0], "places").need_dimensions(1).integers()) model.places.push_back(code_input(each, inputs));
  const std::size_t columns = model.places.size();
  for (const std::int64_t each : Buffer(given[1], "first_slot").need_dimensions(1).need_length(0, columns + 1).integers())
    model.first_slot.push_back(static_cast<std::size_t>(each));
  for (std::size_t j = 0; j < columns; ++j)
    if (model.first_slot[0] != 0 || model.first_slot[j + 1] - model.first_slot[j] != inputs[model.places[j]].code_levels() + 1)
      throw nb::value_error("first_slot: not as many as levels");
  const std::size_t slots = model.first_slot.back();
  const auto numbers = [&](std::size_t field, std::size_t count) {
    return Buffer(given[field], "slots").need_dimensions(1).need_kind(Kind::float64, "float64").need_length(0, count).doubles();
  };
  if (slots > std::size_t{1} << 24) throw nb::value_error("one_dependence: too many slots");
  model.log_class = numbers(2, classes);
  model.slot_prior = numbers(3, slots * classes);
  model.naive = numbers(4, slots * classes);
  model.slot_table = numbers(5, slots * slots * classes);
  for (const std::int64_t each : Buffer(given[6], "is_parent").need_dimensions(1).need_length(0, slots).integers())
    model.is_parent.push_back(each != 0);
  for (const std::int64_t each : Buffer(given[7], "ignores_unseen").need_dimensions(1).need_length(0, columns).integers())
    model.ignores_unseen.push_back(each != 0);
  model.averages = true;
  model.common.emplace(model.one_dependence(classes));
}

}  // namespace bayesbox
