// The Python face of cuts.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "bind/buffer.hpp"
#include "bind/register.hpp"
#include "bind/result_array.hpp"
#include "table/cut_points.hpp"
#include "table/level_groups.hpp"

namespace bayesbox {
namespace {

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
    nb::gil_scoped_release release;
    cuts = find(RunningCounts(cells.data(), buffer.length(0), buffer.length(1)));
  }
  return to_numpy(std::move(cuts));
}

nb::object py_modl_groups(nb::handle counts) {
  const Buffer buffer(counts, "counts");
  const std::vector<double> cells = counts_of(buffer);
  std::vector<std::int32_t> groups;
  {
    nb::gil_scoped_release release;
    groups = ModlGroups(cells, buffer.length(0), buffer.length(1)).groups();
  }
  return to_numpy(std::move(groups));
}

}  // namespace

void register_discretize(nb::module_& m) {
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
