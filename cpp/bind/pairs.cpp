// Python bindings of models from the counts of pairs of columns.
#include <nanobind/nanobind.h>

#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

#include "bind/arguments.hpp"
#include "bind/buffer.hpp"
#include "bind/interrupt.hpp"
#include "bind/register.hpp"
#include "bind/result_array.hpp"
#include "table/pair_backoff.hpp"
#include "table/pair_information.hpp"

namespace bayesbox {
namespace {

// The counts of pairs as doubles, without a copy, and their layout.
struct PairTable {
  PairTable(nb::handle given, nb::handle sizes, std::int64_t classes)
      : buffer(given, "counts"),
        layout(sizes_from(sizes, "sizes"), as_size(classes, "classes"), std::numeric_limits<std::int64_t>::max()),
        counts(buffer.need_dimensions(1).need_kind(Kind::float64, "float64").doubles_in_place()) {
    buffer.need_length(0, layout.cells());
    if (counts == nullptr) buffer.refuse("not contiguous");
  }
  Buffer buffer;
  PairLayout layout;
  const double* counts;
};

nb::tuple py_pair_information(nb::handle given, nb::handle sizes, std::int64_t classes) {
  PairInformation found;
  std::size_t columns = 0;
  try {
    const PairTable table(given, sizes, classes);
    columns = table.layout.sizes().size();
    LongCall call;
    found = PairInformationKernel(table.layout, table.counts).all();
  } catch (const std::length_error& error) {
    throw nb::value_error(error.what());
  }
  return nb::make_tuple(to_numpy(std::move(found.nats), {columns, columns}), to_numpy(std::move(found.rows), {columns, columns}));
}

PairColumns pair_columns(nb::handle columns, nb::list levels, const PairLayout& layout) {
  PairColumns found;
  found.column = sizes_from(columns, "columns");
  if (levels.size() != found.column.size()) throw nb::value_error("levels: one a column is needed");
  for (std::size_t k = 0; k < found.column.size(); ++k) {
    if (found.column[k] >= layout.sizes().size()) throw nb::value_error("columns: no such column");
    const std::vector<std::int64_t>& own = found.level.emplace_back(Buffer(levels[k], "levels").integers());
    for (const std::int64_t level : own)
      if (level >= static_cast<std::int64_t>(layout.sizes()[found.column[k]])) throw nb::value_error("levels: no such level");
    for (std::size_t before = 0; before < k; ++before)
      if (found.column[before] == found.column[k]) throw nb::value_error("columns: one is there twice");
  }
  return found;
}

// (slots x slots x classes of log P(x_j | class, x_i), columns x columns x weights of the trust in P(x_j | class))
nb::tuple py_pair_backoff(nb::handle given, nb::handle sizes, std::int64_t classes, nb::handle columns, nb::list levels,
                          nb::handle weights, nb::handle below, nb::handle left_out) {
  try {
    const PairTable table(given, sizes, classes);
    const PairColumns chosen = pair_columns(columns, levels, table.layout);
    const std::vector<double> trusted = Buffer(weights, "weights").doubles();
    if (trusted.empty()) throw nb::value_error("weights: none");
    std::size_t slots = 0;
    for (const std::vector<std::int64_t>& own : chosen.level) slots += own.size() + 1;
    const std::size_t class_count = table.layout.classes(), count = chosen.column.size();
    std::vector<std::vector<double>> lower;
    for (nb::handle each : {below, left_out}) {
      const Buffer buffer(each, "below");
      buffer.need_dimensions(2).need_length(0, class_count).need_length(1, slots).need_kind(Kind::float64, "float64");
      lower.push_back(buffer.doubles());
    }
    const std::size_t cells = checked_product(checked_product(slots, slots), class_count);
    ResultArray<double> made(cells), shares(checked_product(count * count, trusted.size()));
    {
      LongCall call;
      std::fill(made.data(), made.data() + cells, 0.0);
      std::fill(shares.data(), shares.data() + count * count * trusted.size(), 0.0);
      PairBackoff(table.layout, table.counts, chosen, trusted, lower[0].data(), lower[1].data()).fill(made.data(), shares.data());
    }
    return nb::make_tuple(std::move(made).to_numpy({slots, slots, class_count}),
                          std::move(shares).to_numpy({count, count, trusted.size()}));
  } catch (const std::length_error& error) {
    throw nb::value_error(error.what());
  }
}

}  // namespace

void register_pairs(nb::module_& m) {
  using namespace nb::literals;
  m.def("pair_information", &py_pair_information, "counts"_a, "sizes"_a, "classes"_a);
  m.def("pair_backoff", &py_pair_backoff, "counts"_a, "sizes"_a, "classes"_a, "columns"_a, "levels"_a, "weights"_a, "below"_a,
        "left_out"_a);
}

}  // namespace bayesbox
