// Moments of columns by class for Python, of each and of several together.
#include <nanobind/nanobind.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "bind/arguments.hpp"
#include "bind/buffer.hpp"
#include "bind/columns.hpp"
#include "bind/interrupt.hpp"
#include "bind/register.hpp"
#include "bind/result_array.hpp"
#include "table/comoments.hpp"
#include "table/moments.hpp"
#include "table/quadratic.hpp"
#include "table/spreads.hpp"

namespace bayesbox {
namespace {

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

// How often each class has 0 and 1, of columns without other values: columns x classes x 2.
nb::object py_flag_counts(const nb::list& tallies, std::size_t classes) {
  const std::size_t columns = tallies.size();
  std::vector<double> found(2 * checked_product(columns, few_classes(classes)));
  Magnitude scratch;
  double* at = found.data();
  for (nb::handle each : tallies) {
    const Moments& sums = nb::cast<const Moments&>(each);
    if (sums.n.size() != classes) throw nb::value_error("tallies: the numbers of classes differ");
    ExactArray zeros = sums.n;
    zeros.merge(sums.total, nullptr, -1);
    for (std::size_t c = 0; c < classes; ++c) {
      *at++ = zeros.rounded(c, scratch);
      *at++ = sums.total.rounded(c, scratch);
    }
  }
  return to_numpy(std::move(found), {columns, classes, 2});
}

nb::object py_seen_of_numbers(const nb::list& tallies) {
  std::vector<std::uint8_t> found;
  found.reserve(tallies.size());
  for (nb::handle each : tallies) found.push_back(seen_of_numbers(nb::cast<const Moments&>(each)));
  return to_numpy(std::move(found));
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
  m.def("flag_counts", &py_flag_counts, "tallies"_a, "classes"_a);
  m.def("seen_of_numbers", &py_seen_of_numbers, "tallies"_a);
  m.def("comoments", &py_comoments, "columns"_a, "target"_a, "groups"_a, "weights"_a = nb::none());
  m.def("joint_normals", &py_joint_normals, "columns"_a, "rows"_a, "means"_a, "rests"_a, "factors"_a, "constants"_a);
}

}  // namespace bayesbox
