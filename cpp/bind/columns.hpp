// Columns of a table from Python, and the message for an infinite value in one of them.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>

#include "bind/arguments.hpp"
#include "bind/buffer.hpp"
#include "table/moments.hpp"

namespace bayesbox {

inline Columns columns_of(nb::list given, std::size_t rows) {
  Columns columns;
  for (nb::handle object : given) columns.push(object, "columns", rows);
  return columns;
}

[[noreturn]] inline void refuse_infinite(const InfiniteValue& found) {
  PyErr_SetObject(PyExc_ValueError, nb::make_tuple("infinite", found.column, found.row).ptr());
  throw nb::python_error();
}

}  // namespace bayesbox
