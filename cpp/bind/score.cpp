// Python bindings of scores of rows, and of leave-one-out terms.
#include <nanobind/nanobind.h>

#include <cmath>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "bind/arguments.hpp"
#include "bind/buffer.hpp"
#include "bind/cell_runs.hpp"
#include "bind/interrupt.hpp"
#include "bind/register.hpp"
#include "bind/result_array.hpp"
#include "table/leave_one_out.hpp"
#include "table/one_dependence.hpp"
#include "table/score.hpp"

namespace bayesbox {
namespace {

// The terms of a score and what they point into.
class ScoreArguments {
 public:
  ScoreArguments(std::int64_t rows, nb::handle prior, nb::list gaussians, nb::list tables, nb::list integers,
                 nb::handle extra, nb::handle target, nb::list by_class, nb::list cells) {
    request.rows = as_size(rows, "rows");
    const Buffer prior_buffer(prior, "prior");
    prior_buffer.need_dimensions(1).need_kind(Kind::float64, "float64");
    request.classes = prior_buffer.length(0);
    checked_product(request.rows, request.classes);
    request.prior = keep(prior_buffer.doubles());
    for (nb::handle item : gaussians) {
      const nb::tuple term = fields(item, 2, "gaussians");
      Buffer parameters(term[1], "parameters");
      parameters.need_dimensions(2).need_kind(Kind::float64, "float64");
      parameters.need_length(0, request.classes).need_length(1, 4);
      columns_.push(term[0], "values", request.rows);
      request.gaussians.push_back({columns_.list().back(), keep(parameters.doubles())});
    }
    for (nb::handle item : tables) {
      const nb::tuple term = fields(item, 2, "tables");
      push_table(term[0], 0, term[1], Rows::codes);
    }
    for (nb::handle item : integers) {
      const nb::tuple term = fields(item, 3, "integers");
      push_table(term[0], lowest_of(term[1]), term[2], Rows::values);
    }
    for (nb::handle item : by_class) {
      const nb::tuple term = fields(item, 3, "by_class");
      push_table(term[0], lowest_of(term[1]), term[2], Rows::values_by_class);
    }
    for (nb::handle item : cells) {
      const nb::tuple term = fields(item, 3, "cells");
      columns_.push(term[0], "values", request.rows);
      const double weight = nb::cast<double>(term[2]);
      if (!std::isfinite(weight)) throw nb::value_error("cells: a weight is not finite");
      request.cells.push_back({columns_.list().back(), density_of(term[1]), weight});
    }
    if (!target.is_none()) {
      columns_.push(target, "target", request.rows);
      columns_.last().need_kind(Kind::int32, "int32");
      request.target = columns_.list().back();
    } else if (by_class.size() != 0) {
      throw nb::value_error("target: needed for tables by class");
    }
    if (!extra.is_none()) {
      const Buffer& buffer = extra_.emplace(extra, "extra");
      buffer.need_dimensions(2).need_kind(Kind::float64, "float64");
      buffer.need_length(0, request.rows).need_length(1, request.classes);
      for (std::size_t c = 0; c < request.classes; ++c) request.extra.push_back(buffer.column(c));
    }
  }
  ScoreRequest request;

 private:
  static nb::tuple fields(nb::handle item, std::size_t count, const char* what) {
    nb::tuple fields = nb::tuple(nb::borrow(item));
    if (fields.size() != count) throw nb::value_error((std::string(what) + ": wrong number of fields").c_str());
    return fields;
  }
  static int128 lowest_of(nb::handle value) {
    int overflow = 0;
    const long long lowest = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
    if (overflow == 0) {
      if (lowest == -1 && PyErr_Occurred()) throw nb::python_error();
      return lowest;
    }
    const unsigned long long large = PyLong_AsUnsignedLongLong(value.ptr());
    if (PyErr_Occurred()) {
      PyErr_Clear();
      throw nb::value_error("lowest: does not fit in 64 bits");
    }
    return large;
  }
  enum class Rows { codes, values, values_by_class };

  void push_table(nb::handle codes, int128 lowest, nb::handle table, Rows rows) {
    const Buffer buffer(table, "table");
    buffer.need_dimensions(2).need_kind(Kind::float64, "float64").need_length(1, request.classes);
    if (buffer.length(0) > UINT32_MAX) buffer.refuse("too many levels");
    columns_.push(codes, "codes", request.rows);
    if (rows != Rows::values) columns_.last().need_integer();
    TableTerm term{columns_.list().back(), lowest, 0, nullptr, rows == Rows::values_by_class, rows == Rows::values};
    const std::size_t beyond = 1 + term.nan_row, groups = term.by_class ? request.classes : 1;
    if (buffer.length(0) < beyond) buffer.refuse("needs its last rows");
    term.levels = groups == 0 ? 0 : (buffer.length(0) - beyond) / groups;
    if (term.table_rows(request.classes) != buffer.length(0)) buffer.refuse("is not as many rows for each class");
    term.table = keep(buffer.doubles());
    request.tables.push_back(term);
  }
  // Without a copy, since a density has thousands of cells and may be evaluated for one row.
  CellDensity density_of(nb::handle object) {
    if (nb::isinstance<PyCellRuns>(object)) {
      const auto& fitted = nb::cast<const PyCellRuns&>(object);
      if (fitted.found->classes != request.classes) throw nb::value_error("density: of other classes");
      fitted_.push_back(fitted.found);
      return fitted.density();
    }
    const nb::tuple given = fields(object, 8, "density");
    CellDensity density;
    density.classes = request.classes;
    const auto least = nb::cast<std::int64_t>(given[0]);
    const Buffer& run_of = hold(given[1], "run_of").need_dimensions(1).need_kind(Kind::uint16, "uint16");
    if (run_of.length(0) < 2 || run_of.length(0) % 2 != 0) run_of.refuse("is not a run for each sign of some cells");
    density.sizes = run_of.length(0) / 2;
    if (least < 0 || density.sizes > kCellSizes || least > kCellSizes - static_cast<std::int64_t>(density.sizes))
      throw nb::value_error("least_size: out of range");
    density.least_size = static_cast<std::int32_t>(least);
    const Column keys = run_of.column();
    if (keys.stride != 2 || reinterpret_cast<std::uintptr_t>(keys.data) % 2 != 0)
      run_of.refuse("not contiguous");
    density.run_of = reinterpret_cast<const std::uint16_t*>(keys.data);
    const Buffer& heights = hold(given[2], "heights").need_dimensions(2).need_kind(Kind::float64, "float64");
    heights.need_length(0, request.classes + 1);
    density.runs = heights.length(1);
    if (density.runs < 1) heights.refuse("empty");
    density.heights = in_place(heights);
    const Buffer& ratios = hold(given[3], "ratios").need_dimensions(2).need_kind(Kind::float64, "float64");
    ratios.need_length(0, request.classes).need_length(1, density.runs);
    density.ratios = in_place(ratios);
    const Buffer parameters(given[4], "parameters");
    parameters.need_dimensions(2).need_kind(Kind::float64, "float64");
    parameters.need_length(0, request.classes + 1).need_length(1, 3);
    density.parameters = keep(parameters.doubles());
    density.base = nb::cast<double>(given[5]);
    density.is_log = nb::cast<bool>(given[6]);
    if (!nb::handle(given[7]).is_none()) {
      const Buffer zeros(given[7], "zeros");
      zeros.need_dimensions(1).need_kind(Kind::float64, "float64").need_length(0, request.classes);
      density.zeros = keep(zeros.doubles());
    }
    return density;
  }
  static const double* in_place(const Buffer& buffer) {
    const double* found = buffer.doubles_in_place();
    if (found == nullptr) buffer.refuse("not contiguous");
    return found;
  }
  const Buffer& hold(nb::handle object, const char* what) { return buffers_.emplace_back(object, what); }
  const double* keep(std::vector<double>&& values) {
    held_.push_back(std::move(values));
    return held_.back().data();
  }

  std::vector<std::shared_ptr<const CellRuns>> fitted_;
  Columns columns_;
  std::optional<Buffer> extra_;
  std::deque<Buffer> buffers_;
  std::vector<std::vector<double>> held_;
};

nb::tuple py_score(std::int64_t rows, nb::handle prior, nb::list gaussians, nb::list tables, nb::list integers,
                   nb::handle extra, int output, nb::handle target, nb::list by_class, nb::list cells) {
  if (output < 0 || output > 4) throw nb::value_error("output: unknown");
  const ScoreArguments given(rows, prior, gaussians, tables, integers, extra, target, by_class, cells);
  const ScoreRequest& request = given.request;
  const Output form = static_cast<Output>(output);
  const std::size_t width = form == Output::argmax ? 0 : form == Output::log_sum ? 1 : request.classes;
  ResultArray<double> out(request.rows * width);
  ResultArray<std::int32_t> best(form == Output::argmax ? request.rows : 0);
  bool impossible = false;
  {
    LongCall call;
    impossible = score(request, form, out.data(), best.data());
  }
  if (form == Output::argmax) return nb::make_tuple(std::move(best).to_numpy({request.rows}), false);
  if (form == Output::log_sum) return nb::make_tuple(std::move(out).to_numpy({request.rows}), false);
  return nb::make_tuple(std::move(out).to_numpy({request.rows, width}), impossible);
}

nb::object py_leave_one_out(nb::list gaussians, nb::handle target, std::int64_t classes) {
  const std::size_t count = as_size(classes, "classes");
  const Buffer labels = target_of(target, count);
  const std::size_t rows = labels.length(0);
  checked_product(rows, count);
  Columns columns;
  std::vector<LeaveOneOutTerm> terms;
  for (nb::handle item : gaussians) {
    const nb::tuple fields = nb::tuple(nb::borrow(item));
    if (fields.size() != 4) throw nb::value_error("gaussians: wrong number of fields");
    const Buffer moments(fields[1], "moments");
    moments.need_dimensions(2).need_kind(Kind::float64, "float64").need_length(0, count + 1).need_length(1, 4);
    columns.push(fields[0], "values", rows);
    const std::vector<double> held = moments.doubles();
    const double floor = nb::cast<double>(fields[2]), scale = nb::cast<double>(fields[3]);
    terms.push_back({columns.list().back(), LeaveOneOutGaussian(held.data(), count, floor, scale)});
  }
  ResultArray<double> sums(rows * count);
  ResultArray<std::uint8_t> doubtful(rows);
  {
    LongCall call;
    leave_one_out(terms, labels.column(), count, sums.data(), doubtful.data());
  }
  return nb::make_tuple(std::move(sums).to_numpy({rows, count}), std::move(doubtful).to_numpy({rows}));
}

nb::object py_score_one_dependence(nb::list columns, std::int64_t rows, nb::handle first_slot,
                                   nb::handle log_class, nb::handle prior, nb::handle naive, nb::handle table,
                                   nb::handle is_parent) {
  const std::size_t row_count = as_size(rows, "rows");
  OneDependence model;
  model.first_slot = sizes_from(first_slot, "first_slot");
  Columns codes;
  for (nb::handle object : columns) {
    codes.push(object, "columns", row_count);
    codes.last().need_kind(Kind::int32, "int32");
  }
  if (model.first_slot.size() != codes.list().size() + 1) throw nb::value_error("first_slot: one a column and one more");
  for (std::size_t j = 0; j < codes.list().size(); ++j)
    if (model.first_slot[j] > model.first_slot[j + 1]) throw nb::value_error("first_slot: not ascending");
  const auto doubles = [](nb::handle object, const char* what, std::size_t length) {
    const Buffer buffer(object, what);
    const Column column = buffer.need_dimensions(1).need_kind(Kind::float64, "float64").need_length(0, length).column();
    if (length > 1 && column.stride != sizeof(double)) buffer.refuse("not contiguous");
    return reinterpret_cast<const double*>(column.data);
  };
  model.classes = Buffer(log_class, "log_class").need_dimensions(1).length(0);
  const std::size_t slots = model.slots();
  model.log_class = doubles(log_class, "log_class", model.classes);
  model.prior = doubles(prior, "prior", slots * model.classes);
  model.naive = doubles(naive, "naive", slots * model.classes);
  model.table = doubles(table, "table", slots * slots * model.classes);
  const Buffer parents(is_parent, "is_parent");
  const Column flags = parents.need_kind(Kind::uint8, "uint8").need_length(0, slots).column();
  if (slots > 1 && flags.stride != 1) parents.refuse("not contiguous");
  model.is_parent = reinterpret_cast<const std::uint8_t*>(flags.data);
  std::vector<double> out(row_count * model.classes);
  {
    LongCall call;
    score_one_dependence(model, codes.list(), row_count, out.data());
  }
  return to_numpy(std::move(out), {row_count, model.classes});
}

}  // namespace

void register_score(nb::module_& m) {
  using namespace nb::literals;
  m.attr("JOINT") = static_cast<int>(Output::joint);
  m.attr("LOG_POSTERIOR") = static_cast<int>(Output::log_posterior);
  m.attr("POSTERIOR") = static_cast<int>(Output::posterior);
  m.attr("ARGMAX") = static_cast<int>(Output::argmax);
  m.attr("LOG_SUM") = static_cast<int>(Output::log_sum);
  m.def("leave_one_out_gaussians", &py_leave_one_out, "gaussians"_a, "target"_a, "classes"_a);
  m.def("score", &py_score, "rows"_a, "prior"_a, "gaussians"_a, "tables"_a, "integers"_a, "extra"_a.none(), "output"_a,
        "target"_a = nb::none(), "by_class"_a = nb::list(), "cells"_a = nb::list());
  m.def("score_one_dependence", &py_score_one_dependence, "columns"_a, "rows"_a, "first_slot"_a, "log_class"_a,
        "prior"_a, "naive"_a, "table"_a, "is_parent"_a);
}

}  // namespace bayesbox
