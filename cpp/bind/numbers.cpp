// Densities of numbers for Python, and where to cut them.
#include <nanobind/nanobind.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstdint>
#include <utility>
#include <vector>

#include "bind/arguments.hpp"
#include "bind/buffer.hpp"
#include "bind/cell_runs.hpp"
#include "bind/interrupt.hpp"
#include "bind/register.hpp"
#include "bind/result_array.hpp"
#include "bind/row_values.hpp"
#include "core/elementary.hpp"
#include "core/exact_array.hpp"
#include "core/functions.hpp"
#include "core/matrix_product.hpp"
#include "table/cell_tree.hpp"
#include "table/cut_points.hpp"
#include "table/grid_sum.hpp"
#include "table/kernel_density.hpp"
#include "table/level_groups.hpp"
#include "table/normal_cell.hpp"
#include "table/student_below.hpp"

namespace bayesbox {
namespace {

nb::object py_kernel_log_density(nb::handle x, nb::handle values, nb::handle weights, double width) {
  const std::vector<double> points = Buffer(x, "x").need_dimensions(1).doubles();
  const Buffer of_values(values, "values"), of_weights(weights, "weights");
  const std::vector<double> centres = of_values.need_dimensions(1).doubles();
  const std::vector<double> heights = of_weights.need_dimensions(1).need_length(0, centres.size()).doubles();
  if (!(width > 0)) throw nb::value_error("width: not above zero");
  std::vector<double> answer(points.size());
  {
    LongCall call;
    const KernelDensity density(centres.data(), heights.data(), centres.size(), width);
    for (std::size_t i = 0; i < points.size(); ++i) answer[i] = density.log_density(points[i]);
  }
  return to_numpy(std::move(answer));
}

nb::object py_matrix_product(nb::handle one, nb::handle other) {
  const Buffer left(one, "one"), right(other, "other");
  left.need_dimensions(2).need_kind(Kind::float64, "float64");
  const std::size_t rows = left.length(0), inner = left.length(1);
  right.need_dimensions(2).need_kind(Kind::float64, "float64").need_length(0, inner);
  const std::size_t columns = right.length(1);
  const double *a = left.doubles_in_place(), *b = right.doubles_in_place();
  if (a == nullptr || b == nullptr) throw nb::value_error("matrix_product: rows must stand one after another");
  checked_product(rows, columns);
  std::vector<double> out(rows * columns);
  {
    LongCall call;
    matrix_product(a, b, rows, inner, columns, out.data());
  }
  return to_numpy(std::move(out), {rows, columns});
}

// One function of each number.
template <double (*Function)(double)>
void each_number(std::vector<double>& values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i % 4096 == 0) poll(4096 * 32);
    values[i] = Function(values[i]);
  }
}

template <void (*Change)(std::vector<double>&)>
nb::object py_elementary(nb::handle given) {
  std::vector<double> values = Buffer(given, "values").need_dimensions(1).need_kind(Kind::float64, "float64").doubles();
  {
    LongCall call;
    Change(values);
  }
  return to_numpy(std::move(values));
}

nb::object py_log_normal_cells(nb::handle cells, nb::handle mean, nb::handle rest, nb::handle deviation) {
  const std::vector<double> wanted = Buffer(cells, "cells").need_dimensions(1).doubles();
  const std::vector<double> means = Buffer(mean, "mean").need_dimensions(1).doubles();
  const std::size_t classes = means.size();
  const Buffer of_rest(rest, "rest"), of_deviation(deviation, "deviation");
  const std::vector<double> rests = of_rest.need_dimensions(1).need_length(0, classes).doubles();
  const std::vector<double> deviations = of_deviation.need_dimensions(1).need_length(0, classes).doubles();
  for (const double each : deviations) {
    if (!(each > 0)) of_deviation.refuse("not above zero");
  }
  std::vector<double> answer(wanted.size() * classes);
  {
    LongCall call;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      poll(64 * classes);
      for (std::size_t c = 0; c < classes; ++c) {
        answer[i * classes + c] = log_normal_cell(wanted[i], means[c], rests[c], deviations[c]);
      }
    }
  }
  return to_numpy(std::move(answer), {wanted.size(), classes});
}

constexpr std::size_t kTailsAtOnce = 64;

nb::object py_student_below(nb::handle z, nb::handle df) {
  const std::vector<double> places = Buffer(z, "z").need_dimensions(1).doubles();
  const std::vector<double> degrees = Buffer(df, "df").need_dimensions(1).need_length(0, places.size()).doubles();
  std::vector<double> answer(places.size());
  {
    LongCall call;
    StudentTail tail = student_tail(kManyDegrees + 1);
    std::vector<double> some(kTailsAtOnce), tails(kTailsAtOnce);
    for (std::size_t i = 0; i < places.size();) {
      poll(kTailsAtOnce * 64);
      if (tail.df != degrees[i]) tail = student_tail(degrees[i]);
      std::size_t count = 0;  // of neighbours with the same degrees of freedom
      for (; i + count < places.size() && count < kTailsAtOnce && (count == 0 || degrees[i + count] == degrees[i]); ++count)
        some[count] = std::min(places[i + count], 0.0);
      std::fill(some.begin() + static_cast<std::ptrdiff_t>(count), some.begin() + static_cast<std::ptrdiff_t>(padded(count)), 0.0);
      cell_tree_kernels().student_tails(some.data(), padded(count), tail, tails.data());
      std::copy_n(tails.data(), count, answer.data() + i);
      i += count;
    }
  }
  return to_numpy(std::move(answer));
}

// The tree of the cells of a column, whose counts are entered once.
class PyCellTree {
 public:
  PyCellTree(nb::handle keys, nb::handle labels, nb::handle counts, std::size_t classes) : tree_(few_classes(classes)) {
    const std::vector<std::int64_t> places = Buffer(keys, "keys").need_dimensions(1).integers();
    const std::vector<std::int64_t> own = Buffer(labels, "labels").need_dimensions(1).need_length(0, places.size()).integers();
    const std::vector<double> amounts = Buffer(counts, "counts").need_dimensions(1).need_length(0, places.size()).doubles();
    for (std::size_t k = 0; k < places.size(); ++k) {
      if (own[k] < 0 || static_cast<std::size_t>(own[k]) >= classes) throw nb::value_error("labels: out of range");
      tree_.add(key_of(places[k]), static_cast<std::size_t>(own[k]), amounts[k]);
    }
  }

  // The logs of what each t is multiplied by in the cell of each key, without one value of the class `own`: rows x (classes and
  // that of no rows). Each row has its t, its base and its origin.
  nb::object log_ratios(nb::handle keys, nb::handle shift, nb::handle scale, nb::handle df, nb::handle base, nb::handle origin,
                        nb::handle own, double unit, bool is_log) {
    const std::vector<std::int64_t> places = Buffer(keys, "keys").need_dimensions(1).integers();
    const std::size_t rows = places.size(), width = tree_.classes() + 1;
    const std::vector<StudentLine> lines = lines_of(shift, scale, df, rows);
    const std::vector<double> bases = Buffer(base, "base").need_dimensions(1).need_length(0, rows).doubles();
    const std::vector<double> origins = Buffer(origin, "origin").need_dimensions(1).need_length(0, rows).doubles();
    const std::vector<std::int64_t> classes = Buffer(own, "own").need_dimensions(1).need_length(0, rows).integers();
    for (const std::int64_t each : classes)
      if (each < 0 || static_cast<std::size_t>(each) >= tree_.classes()) throw nb::value_error("own: out of range");
    for (const std::int64_t each : places) key_of(each);
    std::vector<double> answer(rows * width);
    {
      LongCall call;
      for (std::size_t i = 0; i < rows; ++i) {
        if (i % 64 == 0) poll(64 * 16 * width);
        tree_.log_ratios(key_of(places[i]), lines.data() + i * width, {is_log, bases[i], origins[i], unit}, !is_log,
                         static_cast<std::size_t>(classes[i]), answer.data() + i * width);
      }
    }
    return to_numpy(std::move(answer), {rows, width});
  }

 private:
  static std::int32_t key_of(std::int64_t key) {
    if (key < -(1 << CellTree::kTop) || key >= 1 << CellTree::kTop) throw nb::value_error("keys: out of range");
    return static_cast<std::int32_t>(key);
  }
  std::vector<StudentLine> lines_of(nb::handle shift, nb::handle scale, nb::handle df, std::size_t rows) const {
    const std::size_t width = tree_.classes() + 1;
    const auto read = [&](nb::handle given, const char* name) {
      return Buffer(given, name).need_dimensions(2).need_length(0, rows).need_length(1, width).doubles();
    };
    const std::vector<double> shifts = read(shift, "shift"), scales = read(scale, "scale"), degrees = read(df, "df");
    std::vector<StudentLine> lines(rows * width);
    for (std::size_t k = 0; k < lines.size(); ++k) lines[k] = {shifts[k], scales[k], degrees[k]};
    return lines;
  }

  CellTree tree_;
};

CellCounts cell_counts_of(const ExactGrid& grid, std::size_t classes, bool with_zeros) {
  CellCounts found;
  found.reserve(grid.size());
  Magnitude scratch;
  for (std::size_t k = 0; k < grid.size(); ++k) {
    const std::int32_t label = grid.labels[k], cell = grid.cells[k];
    if (label < 0 || static_cast<std::size_t>(label) >= classes) throw nb::value_error("labels: out of range");
    if (std::abs(static_cast<std::int64_t>(cell)) > CellTree::kLastKey) throw nb::value_error("cells: out of range");
    if (cell != 0 || with_zeros) found.push(cell > 0 ? cell - 1 : cell, label, grid.counts.rounded(k, scratch));
  }
  return found;
}

// The robust densities of some columns: see cell_runs.hpp. Zeros of a grid count where with_zeros is set; else they are apart, and
// have the log-probabilities `zeros`, columns x classes. shift, scale, df and two of what is added are columns x (classes and that
// of no rows), the third is one row of that.
nb::list py_cell_runs(nb::list grids, nb::handle with_zeros, nb::handle shift, nb::handle scale, nb::handle df, nb::handle base,
                      nb::handle is_log, nb::handle log_rest, nb::handle at_loc, nb::handle own, nb::handle zeros) {
  const std::size_t columns = grids.size(), width = Buffer(own, "own").need_dimensions(1).length(0);
  const std::size_t classes = few_classes(width - std::min<std::size_t>(width, 1));
  const auto table = [&](nb::handle given, const char* name, std::size_t row) {
    return Buffer(given, name).need_dimensions(2).need_length(0, columns).need_length(1, row).doubles();
  };
  const auto numbers = [&](nb::handle given, const char* name) {
    return Buffer(given, name).need_dimensions(1).need_length(0, columns).doubles();
  };
  const std::vector<double> line[3] = {table(shift, "shift", width), table(scale, "scale", width), table(df, "df", width)};
  const std::vector<double> rest = table(log_rest, "log_rest", width), loc = table(at_loc, "at_loc", width);
  const std::vector<double> third = Buffer(own, "own").doubles(), apart = table(zeros, "zeros", classes);
  const std::vector<double> bases = numbers(base, "base"), counted = numbers(with_zeros, "with_zeros"), logs = numbers(is_log, "is_log");
  std::vector<CellCounts> cells;
  cells.reserve(columns);
  for (std::size_t j = 0; j < columns; ++j) cells.push_back(cell_counts_of(nb::cast<const ExactGrid&>(grids[j]), classes, counted[j] != 0));
  std::vector<std::shared_ptr<CellRuns>> found;
  {
    LongCall call;
    CellParts parts(classes);
    for (std::size_t j = 0; j < columns; ++j) {
      poll(64 * width * cells[j].keys.size());
      auto made = std::make_shared<CellRuns>();
      made->classes = classes, made->is_log = logs[j] != 0, made->base = bases[j];
      made->parameters.reserve(3 * width);
      made->added.reserve(3 * width);
      for (std::size_t c = j * width; c < (j + 1) * width; ++c)
        for (const std::vector<double>& each : line) made->parameters.push_back(each[c]);
      for (const double* each : {rest.data() + j * width, loc.data() + j * width, third.data()})
        made->added.insert(made->added.end(), each, each + width);
      if (counted[j] == 0) made->zeros.assign(apart.data() + j * classes, apart.data() + (j + 1) * classes);
      find_parts(parts, cells[j], *made);
      found.push_back(std::move(made));
    }
  }
  nb::list result;
  for (std::shared_ptr<CellRuns>& each : found) result.append(nb::cast(PyCellRuns{std::move(each)}));
  return result;
}

template <class T>
nb::object copied(const std::vector<T>& values, std::size_t rows) {
  return to_numpy(std::vector<T>(values), {rows, rows == 0 ? 0 : values.size() / rows});
}

// The log of the height at its middle of a t with a scale of 1.
void log_student_heights(std::vector<double>& values) {
  for (double& df : values) df = log_student_height(df);
}

// Counts of values x classes: finite, none below zero.
std::vector<double> counts_of(const Buffer& buffer) {
  buffer.need_dimensions(2);
  std::vector<double> counts = buffer.doubles();
  for (const double count : counts)
    if (!(count >= 0) || std::isinf(count)) buffer.refuse("a count is a finite number, 0 or more");
  return counts;
}

template <class Find>
nb::object py_cuts(nb::handle counts, Find&& find) {
  const Buffer buffer(counts, "counts");
  const std::vector<double> cells = counts_of(buffer);
  std::vector<std::int64_t> cuts;
  {
    LongCall call;
    cuts = find(RunningCounts(cells.data(), buffer.length(0), buffer.length(1)));
  }
  return to_numpy(std::move(cuts));
}

nb::object py_modl_groups(nb::handle counts) {
  const Buffer buffer(counts, "counts");
  const std::vector<double> cells = counts_of(buffer);
  std::vector<std::int32_t> groups;
  {
    LongCall call;
    groups = ModlGroups(cells, buffer.length(0), buffer.length(1)).groups();
  }
  return to_numpy(std::move(groups));
}

}  // namespace

void register_numbers(nb::module_& m) {
  using namespace nb::literals;
  m.def("matrix_product", &py_matrix_product, "one"_a, "other"_a);
  m.def("kernel_log_density", &py_kernel_log_density, nb::arg("x"), nb::arg("values"), nb::arg("weights"),
        nb::arg("width"));
  m.def("log_normal_cells", &py_log_normal_cells, nb::arg("cells"), nb::arg("mean"), nb::arg("rest"),
        nb::arg("deviation"));
  m.def("logarithms", &py_elementary<natural_logarithms>, nb::arg("values"));
  m.def("exponentials", &py_elementary<exponentials_up_to_one>, nb::arg("values"));
  m.def("exp", &py_elementary<natural_exponentials>, nb::arg("values"));
  m.def("log1p", &py_elementary<each_number<portable::log1p>>, nb::arg("values"));
  m.def("log2", &py_elementary<each_number<portable::log2>>, nb::arg("values"));
  m.def("exp2", &py_elementary<each_number<portable::exp2>>, nb::arg("values"));
  m.def("cosh", &py_elementary<each_number<portable::cosh>>, nb::arg("values"));
  m.def("erf", &py_elementary<each_number<portable::erf>>, nb::arg("values"));
  m.def("erfc", &py_elementary<each_number<portable::erfc>>, nb::arg("values"));
  m.def("lgamma", &py_elementary<each_number<portable::lgamma>>, nb::arg("values"));
  m.def("log_gamma_step", &py_elementary<each_number<portable::log_gamma_step>>, nb::arg("values"));
  m.def("log_student_heights", &py_elementary<log_student_heights>, nb::arg("df"));
  nb::class_<PyCellTree>(m, "CellTree")
      .def(nb::init<nb::handle, nb::handle, nb::handle, std::size_t>(), "keys"_a, "labels"_a, "counts"_a, "classes"_a)
      .def("log_ratios", &PyCellTree::log_ratios, "keys"_a, "shift"_a, "scale"_a, "df"_a, "base"_a, "origin"_a, "own"_a, "unit"_a,
           "is_log"_a);
  nb::class_<PyCellRuns>(m, "CellRuns")
      .def_prop_ro("starts", [](const PyCellRuns& self) { return to_numpy(std::vector<std::int64_t>(self.found->starts)); })
      .def_prop_ro("log_ratios", [](const PyCellRuns& self) { return copied(self.found->log_ratios, self.found->classes + 1); })
      .def_prop_ro("size", [](const PyCellRuns& self) { return self.found->starts.size(); })
      .def("without_zeros", [](const PyCellRuns& self) { return PyCellRuns{self.found, false}; });
  m.def("cell_runs", &py_cell_runs, "grids"_a, "with_zeros"_a, "shift"_a, "scale"_a, "df"_a, "base"_a, "is_log"_a, "log_rest"_a,
        "at_loc"_a, "own"_a, "zeros"_a);
  m.def("student_below", &py_student_below, nb::arg("z"), nb::arg("df"));
  m.def(
      "mdl_cuts", [](nb::handle counts) { return py_cuts(counts, [](const RunningCounts& c) { return mdl_cuts(c); }); },
      nb::arg("counts"));
  m.def(
      "modl_cuts",
      [](nb::handle counts) { return py_cuts(counts, [](const RunningCounts& c) { return Modl(c).cuts(); }); },
      nb::arg("counts"));
  m.def("modl_groups", &py_modl_groups, nb::arg("counts"));
}

}  // namespace bayesbox
