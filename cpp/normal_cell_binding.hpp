// The Python face of the probabilities of rounded normal numbers: included by bind.cpp alone.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <utility>
#include <vector>

#include "buffer.hpp"
#include "normal_cell.hpp"
#include "result_array.hpp"

namespace bayesbox {

inline nb::object py_log_normal_cells(nb::handle cells, nb::handle mean, nb::handle rest, nb::handle deviation) {
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
    nb::gil_scoped_release release;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      for (std::size_t c = 0; c < classes; ++c) {
        answer[i * classes + c] = log_normal_cell(wanted[i], means[c], rests[c], deviations[c]);
      }
    }
  }
  return to_numpy(std::move(answer), {wanted.size(), classes});
}

inline void bind_normal_cells(nb::module_& m) {
  m.def("log_normal_cells", &py_log_normal_cells, nb::arg("cells"), nb::arg("mean"), nb::arg("rest"),
        nb::arg("deviation"));
}

}  // namespace bayesbox
