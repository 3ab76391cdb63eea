// Moments of columns by class for Python, of each and of several together.
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
#include "bind/interrupt.hpp"
#include "bind/register.hpp"
#include "bind/result_array.hpp"
#include "core/exact_text.hpp"
#include "table/comoments.hpp"
#include "table/grid_sum.hpp"
#include "table/moments.hpp"
#include "table/quadratic.hpp"
#include "table/spreads.hpp"

namespace bayesbox {
namespace {

Columns columns_of(nb::list given, std::size_t rows) {
  Columns columns;
  for (nb::handle object : given) columns.push(object, "columns", rows);
  return columns;
}

[[noreturn]] void refuse_infinite(const InfiniteValue& found) {
  PyErr_SetObject(PyExc_ValueError, nb::make_tuple("infinite", found.column, found.row).ptr());
  throw nb::python_error();
}

nb::list py_moments(nb::list columns, nb::handle target, std::int64_t classes, nb::handle weights) {
  const std::size_t class_count = as_size(classes, "classes");
  const Buffer labels = target_of(target, class_count);
  const Column label_column = labels.column();
  const Columns values = columns_of(columns, label_column.rows);
  checked_product(class_count, values.list().size());
  const std::optional<Buffer> weight_buffer = weights_of(weights, label_column.rows);
  const Column weight_column = weight_buffer ? weight_buffer->column() : Column{};
  std::vector<Moments> sums;
  std::optional<InfiniteValue> infinite;
  {
    LongCall call;
    try {
      sums = moments(values.list(), label_column, class_count, weight_buffer ? &weight_column : nullptr);
    } catch (const InfiniteValue& found) {
      infinite = found;
    }
  }
  if (infinite) refuse_infinite(*infinite);
  nb::list result;
  for (Moments& one : sums) result.append(nb::cast(std::move(one)));
  return result;
}

// Of each column and class and, last, of all classes: n, mean, what the mean leaves out, deviation; the least deviation by
// the floor; and whether the column could be read.
nb::tuple py_spreads(const nb::list& tallies, std::uint64_t numerator, std::uint64_t denominator) {
  if (denominator == 0) throw nb::value_error("floor: a denominator of zero");
  std::vector<const Moments*> given;
  for (nb::handle each : tallies) given.push_back(&nb::cast<const Moments&>(each));
  const std::size_t columns = given.size(), classes = given.empty() ? 0 : given.front()->n.size();
  for (const Moments* each : given)
    if (each->n.size() != classes) throw nb::value_error("spreads: the numbers of classes differ");
  const std::size_t width = classes + 1, cells = checked_product(columns, width);
  ResultArray<double> table(4 * cells), least(columns);
  ResultArray<std::uint8_t> known(columns);
  {
    LongCall call;
    std::vector<Spread> found(width);
    SpreadsOfColumns spreads;
    for (std::size_t i = 0; i < columns; ++i) {
      known.data()[i] = spreads.read(*given[i], {numerator, denominator}, found.data(), least.data()[i]) ? 1 : 0;
      double* at = table.data() + i * width;
      for (const Spread& each : found) {
        at[0] = each.n;
        at[cells] = each.mean;
        at[2 * cells] = each.mean_low;
        at[3 * cells] = each.unit;
        ++at;
      }
    }
  }
  return nb::make_tuple(std::move(table).to_numpy({4, columns, width}), std::move(least).to_numpy({columns}),
                        std::move(known).to_numpy({columns}));
}

nb::object py_clearly_differ(const nb::list& tallies) {
  std::vector<std::uint8_t> found;
  found.reserve(tallies.size());
  for (nb::handle each : tallies) {
    const Moments& sums = nb::cast<const Moments&>(each);
    found.push_back(!clearly_differ(sums) ? 0 : has_fractional(sums) ? 2 : 1);
  }
  return to_numpy(std::move(found));
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
  for (GridCounts& one : found.grids) {
    grids.append(nb::make_tuple(to_numpy(std::move(one.labels)), to_numpy(std::move(one.cells)),
                                ExactArray::of_integers(std::move(one.counts))));
  }
  return nb::make_tuple(sums, grids);
}

// (classes, cells, counts) of one column, as `count_grids` gives them.
ExactGrid grid_of(const nb::tuple& given) {
  if (nb::len(given) != 3) throw nb::value_error("grid: must be classes, cells and counts");
  const auto whole = [](const nb::object& object, const char* what, std::size_t size) {
    const Buffer buffer(object, what);
    buffer.need_dimensions(1).need_kind(Kind::int32, "int32").need_length(0, size);
    const std::vector<std::int64_t> values = buffer.integers();
    return std::vector<std::int32_t>(values.begin(), values.end());
  };
  const nb::object counts = given[2];
  if (!nb::isinstance<ExactArray>(counts)) throw nb::type_error("counts: must be an ExactArray");
  ExactGrid grid;
  grid.counts = nb::cast<const ExactArray&>(counts);
  grid.labels = whole(given[0], "classes", grid.counts.size());
  grid.cells = whole(given[1], "cells", grid.counts.size());
  return grid;
}

nb::tuple py_add_grids(const nb::tuple& one, const nb::tuple& other, int sign) {
  if (sign != 1 && sign != -1) throw nb::value_error("sign: must be 1 or -1");
  ExactGrid sum = add_grids(grid_of(one), grid_of(other), sign);
  return nb::make_tuple(to_numpy(std::move(sum.labels)), to_numpy(std::move(sum.cells)), std::move(sum.counts));
}

// The lines of one column in a digest: those of its moments, then those of its grid. None where a class has no value, or the
// classes are not in the order that a digest has.
nb::object py_grid_lines(const nb::bytes& classes, const Moments& sums, nb::handle labels, nb::handle cells, const ExactArray& counts) {
  const Buffer label(labels, "labels"), cell(cells, "cells");
  label.need_dimensions(1).need_kind(Kind::int32, "int32").need_length(0, counts.size());
  cell.need_dimensions(1).need_kind(Kind::int32, "int32").need_length(0, counts.size());
  const std::size_t size = sums.n.size();
  std::vector<std::uint8_t> seen(size);
  std::vector<std::uint32_t> values(2 * counts.size());  // of four bytes, the lowest first
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const auto own = load<std::int32_t>(label.column().at(i));
    if (own < 0 || static_cast<std::size_t>(own) >= size) label.refuse("not a class");
    seen[static_cast<std::size_t>(own)] = 1;
    values[i] = static_cast<std::uint32_t>(own);
    values[counts.size() + i] = static_cast<std::uint32_t>(load<std::int32_t>(cell.column().at(i)));
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
  text += ExactText::write(counts);
  return nb::bytes(text.data(), text.size());
}

// Whether the cells of each class hold as many values as its moments have. There is a label for each count.
bool agree(const Moments& sums, const std::int32_t* labels, const ExactArray& counts, std::vector<int128>& rest) {
  const std::size_t classes = sums.n.size();
  for (std::size_t i = 0; i < counts.size(); ++i)
    if (labels[i] < 0 || static_cast<std::size_t>(labels[i]) >= classes) throw nb::value_error("labels: not a class");
  if (counts.is_plain() && sums.n.is_plain()) {  // as nearly all are
    rest.resize(classes);
    for (std::size_t c = 0; c < classes; ++c) rest[c] = sums.n.plain(c);
    for (std::size_t i = 0; i < counts.size(); ++i) rest[static_cast<std::size_t>(labels[i])] -= counts.plain(i);
    return std::all_of(rest.begin(), rest.end(), [](int128 each) { return each == 0; });
  }
  const std::vector<std::int64_t> own(labels, labels + counts.size());
  ExactArray total(classes);
  total.merge(counts, own.data(), 1);
  return total == sums.n;
}

// Of many columns: the place of the first that does not agree, or -1. The labels of column k begin at starts[k].
std::int64_t py_grids_agree(const nb::list& sums, nb::handle labels, nb::handle starts, const nb::list& counts) {
  const Buffer label(labels, "labels");
  label.need_dimensions(1).need_kind(Kind::int32, "int32");
  const std::vector<std::int64_t> start = Buffer(starts, "starts").need_dimensions(1).integers();
  const std::size_t columns = sums.size();
  if (counts.size() != columns || start.size() != columns + 1) throw nb::value_error("starts, sums, counts: one a column");
  std::vector<std::int32_t> all(label.length(0));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = load<std::int32_t>(label.column().at(i));
  std::vector<int128> rest;
  for (std::size_t k = 0; k < columns; ++k) {
    const auto& own = nb::cast<const ExactArray&>(counts[k]);
    const auto length = static_cast<std::int64_t>(own.size());
    if (start[k] < 0 || start[k + 1] > static_cast<std::int64_t>(all.size()) || start[k + 1] - start[k] != length)
      throw nb::value_error("starts: not those of the counts");
    if (!agree(nb::cast<const Moments&>(sums[k]), all.data() + start[k], own, rest)) return static_cast<std::int64_t>(k);
  }
  return -1;
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
    LongCall call;
    try {
      sums = comoments(given.list(), labels.column(), group_count, weight_buffer ? &weight : nullptr);
    } catch (const InfiniteValue& found) {
      infinite = found;
    }
  }
  if (infinite) refuse_infinite(*infinite);
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
    LongCall call;
    complete = QuadraticForms(given.list(), normals).run(size, out.data());
  }
  if (!complete) return nb::none();
  return std::move(out).to_numpy({size, classes});
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
  m.def("spreads", &py_spreads, "tallies"_a, "numerator"_a = 0, "denominator"_a = 1);
  m.def("clearly_differ", &py_clearly_differ, "tallies"_a);
  m.def("count_grids", &py_count_grids, "columns"_a, "target"_a, "classes"_a);
  m.def("add_grids", &py_add_grids, "one"_a, "other"_a, "sign"_a);
  m.def("grid_lines", &py_grid_lines, "classes"_a, "sums"_a, "labels"_a, "cells"_a, "counts"_a);
  m.def("grids_agree", &py_grids_agree, "sums"_a, "labels"_a, "starts"_a, "counts"_a);
  m.def("comoments", &py_comoments, "columns"_a, "target"_a, "groups"_a, "weights"_a = nb::none());
  m.def("joint_normals", &py_joint_normals, "columns"_a, "rows"_a, "means"_a, "rests"_a, "factors"_a, "constants"_a);
}

}  // namespace bayesbox
