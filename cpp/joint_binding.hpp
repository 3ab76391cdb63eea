// The Python face of several columns together: included by bind.cpp alone.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "buffer.hpp"
#include "comoments.hpp"
#include "quadratic.hpp"
#include "result_array.hpp"

namespace bayesbox {

// Columns of numbers held open for the length of a call.
struct JointColumns {
  JointColumns(nb::list given, std::size_t rows) {
    for (nb::handle object : given) {
      Buffer& buffer = buffers.emplace_back(object, "columns");
      buffer.need_dimensions(1).need_length(0, rows);
      columns.push_back(buffer.column());
    }
  }
  std::vector<Buffer> buffers;
  std::vector<Column> columns;
};

inline nb::tuple py_comoments(nb::list columns, nb::handle target, std::int64_t groups, nb::handle weights) {
  const Buffer labels(target, "target");
  labels.need_dimensions(1).need_kind(Kind::int32, "int32");
  const std::size_t rows = labels.length(0);
  const JointColumns given(columns, rows);
  if (groups < 0) throw nb::value_error("groups: negative");
  const std::size_t cells = std::max<std::size_t>(pair_count(given.columns.size()), 1);
  if (cells > ExactArray::kMostLimbs / std::max<std::size_t>(static_cast<std::size_t>(groups), 1))
    throw nb::value_error("the result does not fit in memory");
  std::optional<Buffer> held;
  Column weight;
  if (!weights.is_none()) {
    held.emplace(weights, "weights");
    held->need_dimensions(1).need_kind(Kind::float64, "float64").need_length(0, rows);
    weight = held->column();
    for (std::size_t row = 0; row < rows; ++row)
      if (!std::isfinite(load<double>(weight.at(row)))) held->refuse("not finite");
  }
  std::optional<CoMoments> sums;
  std::optional<InfiniteValue> infinite;
  {
    nb::gil_scoped_release release;
    try {
      sums = comoments(given.columns, labels.column(), static_cast<std::size_t>(groups), held ? &weight : nullptr);
    } catch (const InfiniteValue& found) {
      infinite = found;
    }
  }
  if (infinite) {
    const nb::tuple where = nb::make_tuple("infinite", infinite->column, infinite->row);
    PyErr_SetObject(PyExc_ValueError, where.ptr());
    throw nb::python_error();
  }
  return nb::make_tuple(nb::cast(std::move(sums->totals)), nb::cast(std::move(sums->products)));
}

inline nb::object py_joint_normals(nb::list columns, std::int64_t rows, nb::handle means, nb::handle rests,
                                   nb::handle factors, nb::handle constants) {
  if (rows < 0) throw nb::value_error("rows: negative");
  const JointColumns given(columns, static_cast<std::size_t>(rows));
  const std::size_t width = given.columns.size(), size = static_cast<std::size_t>(rows);
  const Buffer constant_buffer(constants, "constants"), mean_buffer(means, "means"), rest_buffer(rests, "rests");
  const Buffer factor_buffer(factors, "factors");
  constant_buffer.need_dimensions(1).need_kind(Kind::float64, "float64");
  const std::size_t classes = constant_buffer.length(0);
  for (const Buffer* buffer : {&mean_buffer, &rest_buffer})
    buffer->need_dimensions(2).need_kind(Kind::float64, "float64").need_length(0, classes).need_length(1, width);
  factor_buffer.need_dimensions(2).need_kind(Kind::float64, "float64");
  factor_buffer.need_length(0, classes * width).need_length(1, width);
  const std::vector<double> mean = mean_buffer.doubles(), rest = rest_buffer.doubles();
  const std::vector<double> factor = factor_buffer.doubles(), constant = constant_buffer.doubles();
  if (classes != 0 && size > ExactArray::kMostLimbs / classes) throw nb::value_error("the result does not fit in memory");
  std::vector<JointNormal> normals;
  for (std::size_t c = 0; c < classes; ++c)
    normals.push_back({mean.data() + c * width, rest.data() + c * width, factor.data() + c * width * width, constant[c]});
  ResultArray<double> out(size * classes);
  bool complete = false;
  {
    nb::gil_scoped_release release;
    complete = QuadraticForms(given.columns, normals).run(size, out.data());
  }
  if (!complete) return nb::none();
  return std::move(out).to_numpy({size, classes});
}

inline void bind_joint(nb::module_& m) {
  using namespace nb::literals;
  m.def("comoments", &py_comoments, "columns"_a, "target"_a, "groups"_a, "weights"_a = nb::none());
  m.def("joint_normals", &py_joint_normals, "columns"_a, "rows"_a, "means"_a, "rests"_a, "factors"_a, "constants"_a);
}

}  // namespace bayesbox
