// Moments of columns by class for Python.
#include <nanobind/nanobind.h>

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "bind/arguments.hpp"
#include "bind/register.hpp"
#include "table/moments.hpp"

namespace bayesbox {
namespace {

nb::list py_moments(nb::list columns, nb::handle target, std::int64_t classes, nb::handle weights) {
  const std::size_t class_count = as_size(classes, "classes");
  const Buffer labels = target_of(target, class_count);
  const Column label_column = labels.column();
  Columns values;
  for (nb::handle object : columns) values.push(object, "columns", label_column.rows);
  checked_product(class_count, values.list().size());
  const std::optional<Buffer> weight_buffer = weights_of(weights, label_column.rows);
  const Column weight_column = weight_buffer ? weight_buffer->column() : Column{};
  std::vector<Moments> sums;
  std::optional<InfiniteValue> infinite;
  {
    nb::gil_scoped_release release;
    try {
      sums = moments(values.list(), label_column, class_count, weight_buffer ? &weight_column : nullptr);
    } catch (const InfiniteValue& found) {
      infinite = found;
    }
  }
  if (infinite) {
    PyErr_SetObject(PyExc_ValueError, nb::make_tuple("infinite", infinite->column, infinite->row).ptr());
    throw nb::python_error();
  }
  nb::list result;
  for (Moments& one : sums) result.append(nb::cast(std::move(one)));
  return result;
}

}  // namespace

void register_moments(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<Moments>(m, "Moments")
      .def("__init__",
           [](Moments* self, const ExactArray& n, const ExactArray& fractional, const ExactArray& total,
              const ExactArray& squares) {
             if (fractional.size() != n.size() || total.size() != n.size() || squares.size() != n.size())
               throw nb::value_error("Moments: the numbers of cells differ");
             new (self) Moments(n, fractional, total, squares);
           },
           "n"_a, "fractional"_a, "total"_a, "squares"_a)
      .def_rw("n", &Moments::n)
      .def_rw("fractional", &Moments::fractional)
      .def_rw("total", &Moments::total)
      .def_rw("squares", &Moments::squares);

  m.def("moments", &py_moments, "columns"_a, "target"_a, "classes"_a, "weights"_a = nb::none());
}

}  // namespace bayesbox
