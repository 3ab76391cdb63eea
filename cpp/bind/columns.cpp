// Columns without holes, and as codes, for Python.
#include <nanobind/nanobind.h>

#include <cmath>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "bind/arguments.hpp"
#include "bind/buffer.hpp"
#include "bind/register.hpp"
#include "bind/result_array.hpp"
#include "table/factorize.hpp"
#include "table/null_bitmap.hpp"

namespace bayesbox {
namespace {

template <class From, class To>
nb::object filled(const Column& column, const Buffer& bitmap, std::size_t offset, To hole) {
  ResultArray<To> out(column.rows);
  {
    nb::gil_scoped_release release;
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
    nb::gil_scoped_release release;
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
    nb::gil_scoped_release release;
    distinct = factorize_doubles(column, codes.data());
  }
  return nb::make_tuple(to_numpy(std::move(codes)), to_numpy(std::move(distinct)));
}

}  // namespace

void register_columns(nb::module_& m) {
  using namespace nb::literals;
  m.def("without_holes", &py_without_holes, "values"_a, "present"_a, "offset"_a);
  m.def("factorize_integers", &py_factorize, "values"_a);
  m.def("factorize_doubles", &py_factorize_doubles, "values"_a);
}

}  // namespace bayesbox
