// Densities of numbers for Python, and where to cut them.
#include <nanobind/nanobind.h>

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "bind/arguments.hpp"
#include "bind/buffer.hpp"
#include "bind/interrupt.hpp"
#include "bind/register.hpp"
#include "bind/result_array.hpp"
#include "core/elementary.hpp"
#include "table/cut_points.hpp"
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

nb::object py_student_below(nb::handle z, nb::handle df) {
  const std::vector<double> places = Buffer(z, "z").need_dimensions(1).doubles();
  const std::vector<double> degrees = Buffer(df, "df").need_dimensions(1).need_length(0, places.size()).doubles();
  std::vector<double> answer(places.size());
  {
    LongCall call;
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (i % 256 == 0) poll(256 * 64);
      answer[i] = student_below(places[i], degrees[i]);
    }
  }
  return to_numpy(std::move(answer));
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
  m.def("kernel_log_density", &py_kernel_log_density, nb::arg("x"), nb::arg("values"), nb::arg("weights"),
        nb::arg("width"));
  m.def("log_normal_cells", &py_log_normal_cells, nb::arg("cells"), nb::arg("mean"), nb::arg("rest"),
        nb::arg("deviation"));
  m.def("logarithms", &py_elementary<natural_logarithms>, nb::arg("values"));
  m.def("exponentials", &py_elementary<exponentials_up_to_one>, nb::arg("values"));
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
