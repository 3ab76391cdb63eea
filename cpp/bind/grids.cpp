// Counts of the cells of a fixed grid for Python, of one column and of many.
#include <nanobind/nanobind.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bind/arguments.hpp"
#include "bind/buffer.hpp"
#include "bind/columns.hpp"
#include "bind/interrupt.hpp"
#include "bind/register.hpp"
#include "bind/result_array.hpp"
#include "core/exact_text.hpp"
#include "table/grid_sum.hpp"
#include "table/log_moments.hpp"
#include "table/moments.hpp"

namespace bayesbox {
namespace {

using Grids = std::vector<const ExactGrid*>;

Grids grids_of(const nb::list& given) {
  Grids grids;
  grids.reserve(given.size());
  for (nb::handle each : given) grids.push_back(&nb::cast<const ExactGrid&>(each));
  return grids;
}

void require_labels(const ExactGrid& grid, std::size_t classes) {
  for (const std::int32_t label : grid.labels)
    if (label < 0 || static_cast<std::size_t>(label) >= classes) throw nb::value_error("labels: not a class");
}

void make_grid(ExactGrid* self, nb::handle labels, nb::handle cells, const ExactArray& counts) {
  const auto whole = [&](nb::handle given, const char* what) {
    const Buffer buffer(given, what);
    buffer.need_dimensions(1).need_kind(Kind::int32, "int32").need_length(0, counts.size());
    std::vector<std::int32_t> values(counts.size());
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = load<std::int32_t>(buffer.column().at(i));
    return values;
  };
  ExactGrid made{whole(labels, "label"), whole(cells, "cell"), counts};
  new (self) ExactGrid(std::move(made));
}

// The grids of adjacent columns, whose rows begin at `starts`.
nb::list py_split_grid(nb::handle labels, nb::handle cells, nb::handle starts, const nb::list& counts) {
  const Buffer label(labels, "labels"), cell(cells, "cells");
  label.need_dimensions(1).need_kind(Kind::int32, "int32");
  cell.need_dimensions(1).need_kind(Kind::int32, "int32").need_length(0, label.length(0));
  const std::vector<std::int64_t> start = Buffer(starts, "starts").need_dimensions(1).need_length(0, counts.size() + 1).integers();
  const Column of_labels = label.column(), of_cells = cell.column();
  nb::list grids;
  for (std::size_t k = 0; k < counts.size(); ++k) {
    const auto& own = nb::cast<const ExactArray&>(counts[k]);
    if (start[k] < 0 || start[k + 1] > static_cast<std::int64_t>(label.length(0)) ||
        start[k + 1] - start[k] != static_cast<std::int64_t>(own.size()))
      throw nb::value_error("starts: not those of the counts");
    ExactGrid made{std::vector<std::int32_t>(own.size()), std::vector<std::int32_t>(own.size()), own};
    for (std::size_t i = 0; i < own.size(); ++i) {
      made.labels[i] = load<std::int32_t>(of_labels.at(static_cast<std::size_t>(start[k]) + i));
      made.cells[i] = load<std::int32_t>(of_cells.at(static_cast<std::size_t>(start[k]) + i));
    }
    grids.append(nb::cast(std::move(made)));
  }
  return grids;
}

nb::tuple py_count_grids(nb::list columns, nb::handle target, std::int64_t classes) {
  const std::size_t class_count = as_size(classes, "classes");
  const Buffer labels = target_of(target, class_count);
  const Columns values = columns_of(columns, labels.length(0));
  checked_product(class_count, values.list().size());
  MomentsAndGrids found;
  std::optional<InfiniteValue> infinite;
  {
    LongCall call;
    try {
      found = moments_and_grids(values.list(), labels.column(), class_count);
    } catch (const InfiniteValue& place) {
      infinite = place;
    }
  }
  if (infinite) refuse_infinite(*infinite);
  nb::list sums, grids;
  for (Moments& one : found.moments) sums.append(nb::cast(std::move(one)));
  for (GridCounts& one : found.grids)
    grids.append(nb::cast(ExactGrid{std::move(one.labels), std::move(one.cells), ExactArray::of_integers(std::move(one.counts))}));
  return nb::make_tuple(sums, grids);
}

ExactGrid py_add_grids(const ExactGrid& one, const ExactGrid& other, int sign) {
  if (sign != 1 && sign != -1) throw nb::value_error("sign: must be 1 or -1");
  return add_grids(one, other, sign);
}

// The lines of one column in a digest: those of its moments, then those of its grid. None where a class has no value, or the
// classes are not in the order that a digest has.
nb::object py_grid_lines(const nb::bytes& classes, const Moments& sums, const ExactGrid& grid) {
  const std::size_t size = sums.n.size(), cells = grid.size();
  require_labels(grid, size);
  std::vector<std::uint8_t> seen(size);
  std::vector<std::uint32_t> values(2 * cells);  // of four bytes, the lowest first
  for (std::size_t i = 0; i < cells; ++i) {
    seen[static_cast<std::size_t>(grid.labels[i])] = 1;
    values[i] = static_cast<std::uint32_t>(grid.labels[i]);
    values[cells + i] = static_cast<std::uint32_t>(grid.cells[i]);
  }
  if constexpr (std::endian::native == std::endian::big)
    for (std::uint32_t& each : values) each = each << 24 | (each & 0xff00) << 8 | (each >> 8 & 0xff00) | each >> 24;
  Magnitude scratch;
  for (std::size_t c = 0; c < size; ++c)
    if (seen[c] == 0 || sums.n.sign(c, scratch) == 0) return nb::none();
  const std::string names(static_cast<const char*>(classes.data()), classes.size());
  std::string text = names;
  for (const ExactArray* each : {&sums.n, &sums.fractional, &sums.total, &sums.squares}) text += ExactText::write(*each);
  text += names;
  text.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof values[0]);
  text += ExactText::write(grid.counts);
  return nb::bytes(text.data(), text.size());
}

// Whether the cells of each class hold as many values as its moments have.
bool agree(const Moments& sums, const ExactGrid& grid, std::vector<int128>& rest) {
  const std::size_t classes = sums.n.size();
  require_labels(grid, classes);
  if (grid.counts.is_plain() && sums.n.is_plain()) {  // as nearly all are
    rest.resize(classes);
    for (std::size_t c = 0; c < classes; ++c) rest[c] = sums.n.plain(c);
    for (std::size_t i = 0; i < grid.size(); ++i) rest[static_cast<std::size_t>(grid.labels[i])] -= grid.counts.plain(i);
    return std::all_of(rest.begin(), rest.end(), [](int128 each) { return each == 0; });
  }
  const std::vector<std::int64_t> own(grid.labels.begin(), grid.labels.end());
  ExactArray total(classes);
  total.merge(grid.counts, own.data(), 1);
  return total == sums.n;
}

// The place of the first column that does not agree, or -1.
std::int64_t py_grids_agree(const nb::list& sums, const nb::list& grids) {
  const Grids given = grids_of(grids);
  if (sums.size() != given.size()) throw nb::value_error("sums, grids: one a column");
  std::vector<int128> rest;
  for (std::size_t k = 0; k < given.size(); ++k)
    if (!agree(nb::cast<const Moments&>(sums[k]), *given[k], rest)) return static_cast<std::int64_t>(k);
  return -1;
}

// The least cell of each column, -1 of one without cells; and the zeros of each class, columns x classes.
nb::tuple py_signs_of_grids(const nb::list& grids, std::size_t classes) {
  const Grids given = grids_of(grids);
  std::vector<std::int32_t> least(given.size(), -1);
  std::vector<double> zeros(checked_product(given.size(), few_classes(classes)));
  Magnitude scratch;
  for (std::size_t k = 0; k < given.size(); ++k) {
    const ExactGrid& grid = *given[k];
    require_labels(grid, classes);
    if (grid.size() > 0) least[k] = *std::min_element(grid.cells.begin(), grid.cells.end());
    for (std::size_t i = 0; i < grid.size(); ++i)
      if (grid.cells[i] == 0) zeros[k * classes + static_cast<std::size_t>(grid.labels[i])] = grid.counts.rounded(i, scratch);
  }
  return nb::make_tuple(to_numpy(std::move(least)), to_numpy(std::move(zeros), {given.size(), classes}));
}

// The moments of the values that are not zero, which adds nothing to a sum.
nb::list py_moments_without_zeros(const nb::list& sums, const nb::list& grids) {
  const Grids given = grids_of(grids);
  if (sums.size() != given.size()) throw nb::value_error("sums, grids: one a column");
  nb::list found;
  for (std::size_t k = 0; k < given.size(); ++k) {
    const ExactGrid& grid = *given[k];
    Moments made = nb::cast<const Moments&>(sums[k]);
    require_labels(grid, made.n.size());
    std::vector<std::int64_t> places, labels;
    for (std::size_t i = 0; i < grid.size(); ++i) {
      if (grid.cells[i] != 0) continue;
      places.push_back(static_cast<std::int64_t>(i));
      labels.push_back(grid.labels[i]);
    }
    made.n.merge(grid.counts.take(places.data(), places.size()), labels.data(), -1);
    found.append(nb::cast(std::move(made)));
  }
  return found;
}

// n, the mean and the sum of squared distances from it of log x over the positive values: 3 x columns x (classes and all).
nb::object py_log_moments(const nb::list& grids, std::size_t classes) {
  const Grids given = grids_of(grids);
  const std::size_t width = few_classes(classes) + 1, cells = checked_product(given.size(), width);
  std::vector<double> found(3 * cells);
  for (const ExactGrid* grid : given) {
    require_labels(*grid, classes);
    for (const std::int32_t cell : grid->cells)
      if (cell > kLastGridCell) throw nb::value_error("cells: out of range");
  }
  {
    LongCall call;
    LogCells logs;
    Magnitude scratch;
    for (std::size_t k = 0; k < given.size(); ++k) {
      const ExactGrid& grid = *given[k];
      poll(8 * (grid.size() + width));
      LogMoments moments(classes);
      for (std::size_t i = 0; i < grid.size(); ++i)
        if (grid.cells[i] > 0) moments.add(static_cast<std::size_t>(grid.labels[i]), logs.of(grid.cells[i]), grid.counts.rounded(i, scratch));
      for (std::size_t c = 0; c < width; ++c) {
        found[k * width + c] = moments.n(c);
        found[cells + k * width + c] = moments.mean(c);
        found[2 * cells + k * width + c] = moments.squares(c);
      }
    }
  }
  return to_numpy(std::move(found), {3, given.size(), width});
}

}  // namespace

void register_grids(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<ExactGrid>(m, "GridCounts")
      .def("__init__", &make_grid, "label"_a, "cell"_a, "counts"_a)
      .def("__len__", &ExactGrid::size)
      .def_prop_ro("label", [](const ExactGrid& self) { return to_numpy(std::vector<std::int32_t>(self.labels)); })
      .def_prop_ro("cell", [](const ExactGrid& self) { return to_numpy(std::vector<std::int32_t>(self.cells)); })
      .def_ro("counts", &ExactGrid::counts);

  m.def("split_grid", &py_split_grid, "labels"_a, "cells"_a, "starts"_a, "counts"_a);
  m.def("count_grids", &py_count_grids, "columns"_a, "target"_a, "classes"_a);
  m.def("add_grids", &py_add_grids, "one"_a, "other"_a, "sign"_a);
  m.def("grid_lines", &py_grid_lines, "classes"_a, "sums"_a, "grid"_a);
  m.def("grids_agree", &py_grids_agree, "sums"_a, "grids"_a);
  m.def("signs_of_grids", &py_signs_of_grids, "grids"_a, "classes"_a);
  m.def("moments_without_zeros", &py_moments_without_zeros, "sums"_a, "grids"_a);
  m.def("log_moments", &py_log_moments, "grids"_a, "classes"_a);
}

}  // namespace bayesbox
