// The Python face of kernel densities: included by bind.cpp alone.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <utility>
#include <vector>

#include "buffer.hpp"
#include "kernel_density.hpp"
#include "result_array.hpp"

namespace bayesbox {

inline nb::object py_kernel_log_density(nb::handle x, nb::handle values, nb::handle weights, double width) {
  const std::vector<double> points = Buffer(x, "x").need_dimensions(1).doubles();
  const Buffer of_values(values, "values"), of_weights(weights, "weights");
  const std::vector<double> centres = of_values.need_dimensions(1).doubles();
  const std::vector<double> heights = of_weights.need_dimensions(1).need_length(0, centres.size()).doubles();
  if (!(width > 0)) throw nb::value_error("width: not above zero");
  std::vector<double> answer(points.size());
  {
    nb::gil_scoped_release release;
    const KernelDensity density(centres.data(), heights.data(), centres.size(), width);
    for (std::size_t i = 0; i < points.size(); ++i) answer[i] = density.log_density(points[i]);
  }
  return to_numpy(std::move(answer));
}

inline void bind_kernel_density(nb::module_& m) {
  m.def("kernel_log_density", &py_kernel_log_density, nb::arg("x"), nb::arg("values"), nb::arg("weights"),
        nb::arg("width"));
}

}  // namespace bayesbox
