// The densities and joint models of a scorer, as Python gives them.
#pragma once

#include <nanobind/nanobind.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bind/buffer.hpp"
#include "bind/row_values.hpp"
#include "table/scorer.hpp"

namespace bayesbox {

inline std::vector<double> doubles_of(nb::handle object, const char* what, std::size_t length) {
  const Buffer buffer(object, what);
  return buffer.need_dimensions(1).need_kind(Kind::float64, "float64").need_length(0, length).doubles();
}

inline std::vector<double> any_doubles(nb::handle object, const char* what) {
  return Buffer(object, what).need_dimensions(1).need_kind(Kind::float64, "float64").doubles();
}

// (values, weights, width, start, step, log-densities of the grid, which may be empty)
inline KernelClass kernel_class(nb::handle given) {
  const nb::tuple fields = tuple_of(given);
  if (fields.size() != 6) throw nb::value_error("kernel: wrong number of fields");
  KernelClass found;
  found.values = any_doubles(fields[0], "values");
  found.weights = doubles_of(fields[1], "weights", found.values.size());
  found.width = nb::cast<double>(fields[2]);
  found.start = nb::cast<double>(fields[3]);
  found.step = nb::cast<double>(fields[4]);
  found.grid = any_doubles(fields[5], "grid");
  return found;
}

// (normal, mean, mean_low, std, constant), (student, base, shift, scale, df, constant), (lognormal, mean, std, log_positive,
// terms of 0 and below, constant), (kernel, a tuple a class) or (mixed, a density, another, the logs of their shares)
inline std::unique_ptr<NumberDensity> density_of(nb::handle given, std::size_t classes, int depth = 0) {
  const nb::tuple fields = tuple_of(given);
  if (fields.size() == 0) throw nb::value_error("density: no fields");
  const std::string kind = nb::str(fields[0]).c_str();
  const auto need = [&](std::size_t count) {
    if (fields.size() != count) throw nb::value_error("density: wrong number of fields");
  };
  const auto numbers = [&](std::size_t field) { return doubles_of(fields[field], "density", classes); };
  if (kind == "normal") {
    need(5);
    return std::make_unique<NormalDensity>(numbers(1), numbers(2), numbers(3), numbers(4));
  }
  if (kind == "student") {
    need(6);
    return std::make_unique<StudentDensity>(nb::cast<double>(fields[1]), numbers(2), numbers(3), numbers(4), numbers(5));
  }
  if (kind == "lognormal") {
    need(6);
    return std::make_unique<LogNormalDensity>(numbers(1), numbers(2), numbers(3), numbers(4), nb::cast<double>(fields[5]));
  }
  if (kind == "kernel") {
    need(2);
    const nb::tuple each = tuple_of(fields[1]);
    if (each.size() != classes) throw nb::value_error("kernel: one a class");
    std::vector<KernelClass> found;
    for (nb::handle own : each) found.push_back(kernel_class(own));
    return std::make_unique<KernelClasses>(std::move(found));
  }
  if (kind != "mixed" || depth > 3) throw nb::value_error("density: unknown kind");
  need(5);
  return std::make_unique<MixedDensity>(density_of(fields[1], classes, depth + 1), density_of(fields[2], classes, depth + 1),
                                        nb::cast<double>(fields[3]), nb::cast<double>(fields[4]), classes);
}

// (axes: (place, whether missing is a level) each, table of cells and of what was never seen, whether that is ignored, places
// of the numbers, mean, mean_low, factor, constant of the normals, (cell, the normal of each class) each)
inline JointModel joint_of(const nb::tuple& given, const std::vector<ScorerInput>& inputs, std::size_t classes) {
  if (given.size() != 9) throw nb::value_error("joint: wrong number of fields");
  JointModel model;
  std::size_t cells = 1;
  for (nb::handle each : tuple_of(given[0])) {
    const nb::tuple axis = tuple_of(each);
    if (axis.size() != 2) throw nb::value_error("joint: an axis has a place, and whether missing is a level");
    const auto place = nb::cast<std::size_t>(axis[0]);
    if (place >= inputs.size() || !inputs[place].is_code) throw nb::value_error("joint: not a column of codes");
    model.axes.push_back({place, nb::cast<bool>(axis[1])});
    cells *= inputs[place].code_levels() + model.axes.back().missing_is_level;
    if (cells >= INT32_MAX) throw nb::value_error("joint: too many cells");
  }
  const Buffer table(given[1], "table");
  table.need_dimensions(2).need_kind(Kind::float64, "float64").need_length(0, cells + 1).need_length(1, classes);
  model.table = table.doubles();
  model.ignores_unseen = nb::cast<bool>(given[2]);
  for (nb::handle each : tuple_of(given[3])) {
    const auto place = nb::cast<std::size_t>(each);
    if (place >= inputs.size() || inputs[place].kind != InputKind::number) throw nb::value_error("joint: not a column of numbers");
    model.numbers.push_back(place);
  }
  const std::size_t width = model.numbers.size();
  model.constant = any_doubles(given[7], "constant");
  const std::size_t normals = model.constant.size();
  if (width != 0 && normals < classes) throw nb::value_error("joint: fewer normals than classes");
  model.mean = doubles_of(given[4], "mean", normals * width);
  model.mean_low = doubles_of(given[5], "mean_low", normals * width);
  model.factor = doubles_of(given[6], "factor", normals * width * width);
  for (nb::handle each : tuple_of(given[8])) {
    const nb::tuple pair = tuple_of(each);
    if (pair.size() != 2) throw nb::value_error("joint: a cell has a place and its normals");
    std::vector<std::int32_t>& own = model.own[nb::cast<std::size_t>(pair[0])];
    for (const std::int64_t normal : Buffer(pair[1], "own").need_dimensions(1).need_length(0, classes).integers()) {
      if (normal < 0 || static_cast<std::size_t>(normal) >= normals) throw nb::value_error("joint: no such normal");
      own.push_back(static_cast<std::int32_t>(normal));
    }
  }
  return model;
}

}  // namespace bayesbox
