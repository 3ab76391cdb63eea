// Counts of columns by class for Python, and columns as codes.
#include <nanobind/nanobind.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "bind/arguments.hpp"
#include "bind/buffer.hpp"
#include "bind/interrupt.hpp"
#include "bind/register.hpp"
#include "bind/result_array.hpp"
#include "table/count.hpp"
#include "table/factorize.hpp"
#include "table/grid.hpp"
#include "table/null_bitmap.hpp"
#include "table/pair_counts.hpp"
#include "table/sparse.hpp"

namespace bayesbox {
namespace {

// If every row was counted, each has a class: labels are only checked again if some were not. Counting a column takes
// hardly longer than checking its labels.
bool counted_all(const std::vector<std::int64_t>& counts, std::size_t rows) {
  return std::accumulate(counts.begin(), counts.end(), std::int64_t{0}) == static_cast<std::int64_t>(rows);
}

nb::object py_count_labels(nb::handle target, std::int64_t classes) {
  const std::size_t class_count = as_size(classes, "classes");
  const Buffer labels = target_of(target);
  checked_product(class_count, sizeof(std::int64_t));
  std::vector<std::int64_t> counts;
  {
    LongCall call;
    counts = count_labels(labels.column(), class_count);
  }
  if (!counted_all(counts, labels.length(0))) need_classes(labels, class_count);
  return to_numpy(std::move(counts));
}

// The columns and sizes of both ways of counting codes.
struct CodeArguments {
  CodeArguments(nb::list columns, nb::list sizes, nb::handle target, std::int64_t classes)
      : target(target_of(target)), classes(as_size(classes, "classes")) {
    if (nb::len(columns) != nb::len(sizes)) throw nb::value_error("sizes: one a column is needed");
    for (nb::handle object : columns) {
      codes.push(object, "columns", this->target.length(0));
      codes.last().need_integer();
    }
    for (nb::handle size : sizes) {
      std::int64_t value = 0;
      if (!nb::try_cast(size, value)) throw nb::type_error("sizes: must be integers");
      level_counts.push_back(as_size(value, "sizes"));
      checked_product(this->classes, level_counts.back());
    }
  }
  Buffer target;
  std::size_t classes;
  Columns codes;
  std::vector<std::size_t> level_counts;
};

nb::list py_count_codes(nb::list columns, nb::list sizes, nb::handle target, std::int64_t classes) {
  const CodeArguments given(columns, sizes, target, classes);
  std::vector<std::vector<std::int64_t>> counts;
  {
    LongCall call;
    counts = count_codes(given.codes.list(), given.level_counts, given.target.column(), given.classes);
  }
  const std::size_t rows = given.target.length(0);
  if (std::none_of(counts.begin(), counts.end(), [&](const auto& column) { return counted_all(column, rows); }))
    need_classes(given.target, given.classes);
  nb::list result;
  for (std::size_t j = 0; j < counts.size(); ++j)
    result.append(to_numpy(std::move(counts[j]), {given.classes, given.level_counts[j]}));
  return result;
}

nb::list py_count_codes_weighted(nb::list columns, nb::list sizes, nb::handle target, std::int64_t classes,
                                 nb::handle weights) {
  const CodeArguments given(columns, sizes, target, classes);
  need_classes(given.target, given.classes);
  const std::optional<Buffer> weight_buffer = weights_of(weights, given.target.length(0));
  if (!weight_buffer) throw nb::type_error("weights: needed");
  std::vector<ExactArray> sums;
  {
    LongCall call;
    for (std::size_t j = 0; j < given.level_counts.size(); ++j)
      sums.push_back(count_codes_weighted(given.codes.list()[j], given.level_counts[j], given.target.column(),
                                          given.classes, weight_buffer->column()));
  }
  nb::list result;
  for (ExactArray& one : sums) result.append(nb::cast(std::move(one)));
  return result;
}

nb::object py_grid_cells(nb::handle values) {
  const Buffer buffer(values, "values");
  buffer.need_dimensions(1);
  const Column column = buffer.column();
  std::vector<std::int32_t> cells(column.rows);
  {
    LongCall call;
    for (std::size_t row = 0; row < column.rows; ++row) {
      poll_at(row);
      cells[row] = grid_cell(value_at(column, row));
    }
  }
  return to_numpy(std::move(cells));
}

nb::list py_count_integers(nb::list columns, nb::handle target, std::int64_t classes, std::int64_t limit) {
  const std::size_t class_count = as_size(classes, "classes");
  const Buffer labels = target_of(target);
  const std::size_t most = as_size(limit, "limit");
  checked_product(class_count, most);
  Columns values;
  for (nb::handle object : columns) values.push(object, "columns", labels.length(0));
  std::vector<std::optional<IntegerCounts>> counts;
  {
    LongCall call;
    counts = count_integers(values.list(), labels.column(), class_count, most);
  }
  if (std::none_of(counts.begin(), counts.end(), [&](const auto& c) { return c && counted_all(c->counts, labels.length(0)); }))
    need_classes(labels, class_count);
  nb::list result;
  for (std::optional<IntegerCounts>& one : counts) {
    if (!one) {
      result.append(nb::none());
      continue;
    }
    const bool large = one->lowest > INT64_MAX;
    nb::object lowest = large ? nb::int_(static_cast<std::uint64_t>(one->lowest)) : nb::int_(static_cast<std::int64_t>(one->lowest));
    result.append(nb::make_tuple(lowest, to_numpy(std::move(one->counts), {class_count, one->width})));
  }
  return result;
}

ExactArray py_count_sparse(nb::handle indptr, nb::handle indices, nb::handle data, std::int64_t width, nb::handle target,
                           std::int64_t classes, nb::handle weights) {
  const std::size_t columns = as_size(width, "width"), class_count = as_size(classes, "classes");
  const Buffer labels = target_of(target, class_count);
  const std::size_t rows = labels.length(0);
  const Buffer starts(indptr, "indptr"), positions(indices, "indices"), values(data, "data");
  starts.need_dimensions(1).need_integer().need_length(0, rows + 1);
  positions.need_dimensions(1).need_integer();
  values.need_dimensions(1).need_length(0, positions.length(0));
  checked_product(columns, class_count);
  const std::optional<Buffer> weight_buffer = weights_of(weights, rows);
  const Column weight_column = weight_buffer ? weight_buffer->column() : Column{};
  LongCall call;
  return count_sparse(starts.column(), positions.column(), values.column(), columns, labels.column(), class_count,
                      weight_buffer ? &weight_column : nullptr);
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
    LongCall call;
    counts = count_pairs(codes.list(), labels.column(), layout);
  } catch (const std::length_error& error) {
    throw nb::value_error(error.what());
  }
  return to_numpy(std::move(counts));
}

template <class From, class To>
nb::object filled(const Column& column, const Buffer& bitmap, std::size_t offset, To hole) {
  ResultArray<To> out(column.rows);
  {
    LongCall call;
    const Column bits = bitmap.column();
    fill_holes<From>(column.data, column.rows, reinterpret_cast<const std::uint8_t*>(bits.data), bits.rows, offset, hole, out.data());
  }
  return std::move(out).to_numpy({column.rows});
}

nb::object py_without_holes(nb::handle values, nb::handle present, std::int64_t first) {
  const Buffer buffer(values, "values"), bitmap(present, "present");
  const Column column = buffer.column();
  const std::size_t offset = as_size(first, "offset");
  bitmap.need_dimensions(1).need_kind(Kind::uint8, "uint8");
  if (column.rows > 1 && column.stride != static_cast<std::int64_t>(size_of(column.kind))) buffer.refuse("has gaps");
  if (bitmap.column().stride != 1 || offset > 8 * bitmap.length(0) || 8 * bitmap.length(0) - offset < column.rows)
    bitmap.refuse("is too short");
  if (column.kind == Kind::float64) return filled<double>(column, bitmap, offset, std::nan(""));
  return with_integer_type(buffer.need_integer().kind(), [&]<class T>() -> nb::object {
    using Code = std::conditional_t<std::is_signed_v<T>, T, std::int32_t>;
    return filled<T>(column, bitmap, offset, Code{-1});
  });
}

nb::tuple py_factorize(nb::handle values) {
  const Buffer buffer(values, "values");
  const Column column = buffer.need_dimensions(1).need_integer().column();
  ResultArray<std::int32_t> codes(column.rows);
  std::vector<std::int64_t> distinct;
  {
    LongCall call;
    distinct = factorize(column, codes.data());
  }
  return nb::make_tuple(std::move(codes).to_numpy({column.rows}), to_numpy(std::move(distinct)));
}

nb::tuple py_factorize_doubles(nb::handle values) {
  const Buffer buffer(values, "values");
  const Column column = buffer.need_dimensions(1).column();
  std::vector<std::int32_t> codes(column.rows);
  std::vector<double> distinct;
  {
    LongCall call;
    distinct = factorize_doubles(column, codes.data());
  }
  return nb::make_tuple(to_numpy(std::move(codes)), to_numpy(std::move(distinct)));
}

}  // namespace

void register_count(nb::module_& m) {
  using namespace nb::literals;
  m.def("count_labels", &py_count_labels, "target"_a, "classes"_a);
  m.def("count_codes", &py_count_codes, "columns"_a, "sizes"_a, "target"_a, "classes"_a);
  m.def("count_codes_weighted", &py_count_codes_weighted, "columns"_a, "sizes"_a, "target"_a, "classes"_a, "weights"_a);
  m.def("grid_cells", &py_grid_cells, "values"_a);
  m.def("count_integers", &py_count_integers, "columns"_a, "target"_a, "classes"_a, "limit"_a);
  m.def("count_sparse", &py_count_sparse, "indptr"_a, "indices"_a, "data"_a, "width"_a, "target"_a, "classes"_a,
        "weights"_a = nb::none());
  m.def("count_pairs", &py_count_pairs, "columns"_a, "sizes"_a, "target"_a, "classes"_a, "most_cells"_a);
  m.def("without_holes", &py_without_holes, "values"_a, "present"_a, "offset"_a);
  m.def("factorize_integers", &py_factorize, "values"_a);
  m.def("factorize_doubles", &py_factorize_doubles, "values"_a);
}

}  // namespace bayesbox
