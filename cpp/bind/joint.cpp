// The Python face of several columns together.
#include <nanobind/nanobind.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "bind/arguments.hpp"
#include "bind/buffer.hpp"
#include "bind/register.hpp"
#include "bind/result_array.hpp"
#include "table/comoments.hpp"
#include "table/quadratic.hpp"

namespace bayesbox {
namespace {

Columns columns_of(nb::list given, std::size_t rows) {
  Columns columns;
  for (nb::handle object : given) columns.push(object, "columns", rows);
  return columns;
}

nb::tuple py_comoments(nb::list columns, nb::handle target, std::int64_t groups, nb::handle weights) {
  const std::size_t group_count = as_size(groups, "groups");
  const Buffer labels = target_of(target, group_count);
  const Columns given = columns_of(columns, labels.length(0));
  checked_product(std::max<std::size_t>(pair_count(given.list().size()), 1), group_count);
  const std::optional<Buffer> weight_buffer = weights_of(weights, labels.length(0));
  const Column weight = weight_buffer ? weight_buffer->column() : Column{};
  std::optional<CoMoments> sums;
  std::optional<InfiniteValue> infinite;
  {
    nb::gil_scoped_release release;
    try {
      sums = comoments(given.list(), labels.column(), group_count, weight_buffer ? &weight : nullptr);
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

nb::object py_joint_normals(nb::list columns, std::int64_t rows, nb::handle means, nb::handle rests,
                            nb::handle factors, nb::handle constants) {
  const std::size_t size = as_size(rows, "rows");
  const Columns given = columns_of(columns, size);
  const std::size_t width = given.list().size();
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
  checked_product(classes, size);
  std::vector<JointNormal> normals;
  for (std::size_t c = 0; c < classes; ++c)
    normals.push_back({mean.data() + c * width, rest.data() + c * width, factor.data() + c * width * width, constant[c]});
  ResultArray<double> out(size * classes);
  bool complete = false;
  {
    nb::gil_scoped_release release;
    complete = QuadraticForms(given.list(), normals).run(size, out.data());
  }
  if (!complete) return nb::none();
  return std::move(out).to_numpy({size, classes});
}

}  // namespace

void register_joint(nb::module_& m) {
  using namespace nb::literals;
  m.def("comoments", &py_comoments, "columns"_a, "target"_a, "groups"_a, "weights"_a = nb::none());
  m.def("joint_normals", &py_joint_normals, "columns"_a, "rows"_a, "means"_a, "rests"_a, "factors"_a, "constants"_a);
}

}  // namespace bayesbox
