// The Python face of pairs of columns and of one-dependence estimators.
#include <nanobind/nanobind.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "bind/arguments.hpp"
#include "bind/buffer.hpp"
#include "bind/register.hpp"
#include "bind/result_array.hpp"
#include "table/one_dependence.hpp"
#include "table/pair_counts.hpp"

namespace bayesbox {
namespace {

std::vector<std::size_t> sizes_from(nb::handle object, const char* what) {
  const Buffer buffer(object, what);
  std::vector<std::size_t> sizes;
  for (const std::int64_t size : buffer.integers()) {
    if (size < 0) buffer.refuse("negative");
    sizes.push_back(static_cast<std::size_t>(size));
  }
  return sizes;
}

nb::object py_count_pairs(nb::list columns, nb::handle sizes, nb::handle target, std::int64_t classes,
                          std::int64_t most_cells) {
  const std::size_t class_count = as_size(classes, "classes"), most = as_size(most_cells, "most_cells");
  const Buffer labels = target_of(target, class_count);
  Columns codes;
  for (nb::handle object : columns) {
    codes.push(object, "columns", labels.length(0));
    codes.last().need_integer();
  }
  const std::vector<std::size_t> widths = sizes_from(sizes, "sizes");
  if (widths.size() != codes.list().size()) throw nb::value_error("sizes: one a column is needed");
  std::vector<std::int64_t> counts;
  try {
    const PairLayout layout(widths, class_count, most);
    nb::gil_scoped_release release;
    counts = count_pairs(codes.list(), labels.column(), layout);
  } catch (const std::length_error& error) {
    throw nb::value_error(error.what());
  }
  return to_numpy(std::move(counts));
}

nb::object py_score_one_dependence(nb::list columns, std::int64_t rows, nb::handle first_slot,
                                   nb::handle log_class, nb::handle prior, nb::handle naive, nb::handle table,
                                   nb::handle is_parent) {
  const std::size_t row_count = as_size(rows, "rows");
  OneDependence model;
  model.first_slot = sizes_from(first_slot, "first_slot");
  Columns codes;
  for (nb::handle object : columns) {
    codes.push(object, "columns", row_count);
    codes.last().need_kind(Kind::int32, "int32");
  }
  if (model.first_slot.size() != codes.list().size() + 1) throw nb::value_error("first_slot: one a column and one more");
  for (std::size_t j = 0; j < codes.list().size(); ++j)
    if (model.first_slot[j] > model.first_slot[j + 1]) throw nb::value_error("first_slot: not ascending");
  const auto doubles = [](nb::handle object, const char* what, std::size_t length) {
    const Buffer buffer(object, what);
    const Column column = buffer.need_dimensions(1).need_kind(Kind::float64, "float64").need_length(0, length).column();
    if (length > 1 && column.stride != sizeof(double)) buffer.refuse("not contiguous");
    return reinterpret_cast<const double*>(column.data);
  };
  model.classes = Buffer(log_class, "log_class").need_dimensions(1).length(0);
  const std::size_t slots = model.slots();
  model.log_class = doubles(log_class, "log_class", model.classes);
  model.prior = doubles(prior, "prior", slots * model.classes);
  model.naive = doubles(naive, "naive", slots * model.classes);
  model.table = doubles(table, "table", slots * slots * model.classes);
  const Buffer parents(is_parent, "is_parent");
  const Column flags = parents.need_kind(Kind::uint8, "uint8").need_length(0, slots).column();
  if (slots > 1 && flags.stride != 1) parents.refuse("not contiguous");
  model.is_parent = reinterpret_cast<const std::uint8_t*>(flags.data);
  std::vector<double> out(row_count * model.classes);
  {
    nb::gil_scoped_release release;
    score_one_dependence(model, codes.list(), row_count, out.data());
  }
  return to_numpy(std::move(out), {row_count, model.classes});
}

}  // namespace

void register_pairs(nb::module_& m) {
  using namespace nb::literals;
  m.def("count_pairs", &py_count_pairs, "columns"_a, "sizes"_a, "target"_a, "classes"_a, "most_cells"_a);
  m.def("score_one_dependence", &py_score_one_dependence, "columns"_a, "rows"_a, "first_slot"_a, "log_class"_a,
        "prior"_a, "naive"_a, "table"_a, "is_parent"_a);
}

}  // namespace bayesbox
