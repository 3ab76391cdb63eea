// ExactArray for Python.
#include <nanobind/nanobind.h>
#include <nanobind/operators.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "bind/arguments.hpp"
#include "bind/interrupt.hpp"
#include "bind/register.hpp"
#include "bind/result_array.hpp"
#include "core/exact_array.hpp"
#include "core/exact_text.hpp"

namespace bayesbox {
namespace {

void check_indices(const Buffer& buffer, const std::vector<std::int64_t>& index, std::size_t size, std::int64_t lowest) {
  for (const std::int64_t i : index)
    if (i < lowest || i >= static_cast<std::int64_t>(size)) buffer.refuse("outside the cells");
}

void add_to(ExactArray& self, const ExactArray& other, nb::handle index, int sign) {
  if (sign != 1 && sign != -1) throw nb::value_error("sign: must be 1 or -1");
  if (index.is_none()) {
    if (self.size() != other.size()) throw nb::value_error("add: the numbers of cells differ");
    self.merge(other, nullptr, sign);
    return;
  }
  const Buffer buffer(index, "index");
  const std::vector<std::int64_t> cells = buffer.integers();
  buffer.need_length(0, other.size());
  check_indices(buffer, cells, self.size(), 0);
  self.merge(other, cells.data(), sign);
}

// Places that ascend from 0 up to `size`.
std::vector<std::int64_t> cuts_of(nb::handle starts, std::size_t size) {
  const Buffer buffer(starts, "starts");
  const std::vector<std::int64_t> cuts = buffer.need_dimensions(1).integers();
  for (std::size_t k = 0; k < cuts.size(); ++k)
    if (cuts[k] < (k == 0 ? 0 : cuts[k - 1]) || cuts[k] > static_cast<std::int64_t>(size)) buffer.refuse("not ascending, or out of range");
  return cuts;
}

ExactArray take(const ExactArray& self, nb::handle index) {
  const Buffer buffer(index, "index");
  const std::vector<std::int64_t> cells = buffer.integers();
  check_indices(buffer, cells, self.size(), -1);
  return self.take(cells.data(), cells.size());
}

ExactArray sum_groups(const ExactArray& self, nb::handle index, std::int64_t size) {
  ExactArray result(as_size(size, "size"));
  add_to(result, self, index, 1);
  return result;
}

std::size_t rows_of(const ExactArray& self, std::int64_t rows) {
  const std::size_t count = as_size(rows, "rows");
  if (count == 0 ? self.size() != 0 : self.size() % count != 0) throw nb::value_error("rows: no whole number of columns");
  return count;
}

// Rows x some columns, as the nearest doubles.
nb::object columns_of(const ExactArray& self, std::int64_t rows, std::int64_t first, std::int64_t last) {
  const std::size_t count = rows_of(self, rows), width = count == 0 ? 0 : self.size() / count;
  if (first < 0 || last < first || static_cast<std::size_t>(last) > width) throw nb::value_error("columns: out of range");
  const auto from = static_cast<std::size_t>(first), to = static_cast<std::size_t>(last);
  ResultArray<double> values(count * (to - from));
  Magnitude scratch;
  double* at = values.data();
  for (std::size_t row = 0; row < count; ++row)
    for (std::size_t column = from; column < to; ++column) *at++ = self.rounded(row * width + column, scratch);
  return std::move(values).to_numpy({count, to - from});
}

nb::tuple parts(const ExactArray& self, std::int64_t cell) {
  if (cell < 0 || static_cast<std::size_t>(cell) >= self.size()) throw nb::index_error("no such cell");
  Magnitude number;
  self.magnitude(static_cast<std::size_t>(cell), number);
  nb::object mantissa = nb::int_(0);
  if (number.is_zero()) return nb::make_tuple(mantissa, 0);
  const std::ptrdiff_t length = number.highest_bit - number.lowest_bit + 1;
  for (std::ptrdiff_t at = (length - 1) / 32 * 32; at >= 0; at -= 32)
    mantissa = (mantissa << nb::int_(32)) | nb::int_(number.bits(number.lowest_bit + at, 32));
  return nb::make_tuple(number.negative ? -mantissa : mantissa, number.exponent());
}

nb::object to_integers(const ExactArray& self) {
  std::vector<std::int64_t> values(self.size());
  Magnitude scratch;
  for (std::size_t cell = 0; cell < values.size(); ++cell)
    if (!self.as_int64(cell, scratch, values[cell])) {
      PyErr_Format(PyExc_OverflowError, "cell %zu is no integer of 64 bits", cell);
      throw nb::python_error();
    }
  return to_numpy(std::move(values));
}

nb::object to_doubles(const ExactArray& self) {
  ResultArray<double> values(self.size());
  Magnitude scratch;
  for (std::size_t cell = 0; cell < self.size(); ++cell) values.data()[cell] = self.rounded(cell, scratch);
  return std::move(values).to_numpy({self.size()});
}

nb::object signs(const ExactArray& self) {
  std::vector<std::int8_t> values(self.size());
  Magnitude scratch;
  for (std::size_t cell = 0; cell < values.size(); ++cell)
    values[cell] = static_cast<std::int8_t>(self.sign(cell, scratch));
  return to_numpy(std::move(values));
}

ExactArray from_integers(nb::handle object) {
  const Buffer buffer(object, "values");
  const Column from = buffer.need_kind(Kind::int64, "int64").column();
  LargeVector<std::int64_t> values(from.rows);
  if (from.rows != 0 && from.stride == sizeof(std::int64_t))
    std::memcpy(values.data(), from.data, from.rows * sizeof(std::int64_t));
  else
    for (std::size_t i = 0; i < from.rows; ++i) values[i] = load<std::int64_t>(from.at(i));
  return ExactArray::of_integers(std::move(values));
}

// A table of integers, column by column.
ExactArray from_table(nb::handle object) {
  const Buffer buffer(object, "table");
  buffer.need_dimensions(2).need_kind(Kind::int64, "int64");
  const std::size_t rows = buffer.length(0), columns = buffer.length(1);
  LongCall call;
  LargeVector<std::int64_t> values(rows * columns);
  for (std::size_t row = 0; row < rows; ++row) {
    const Column from = buffer.row(row);
    std::int64_t* to = values.data() + row;
    for (std::size_t column = 0; column < columns; ++column, to += rows) *to = load<std::int64_t>(from.at(column));
  }
  return ExactArray::of_integers(std::move(values));
}

// Integers cut at `starts`, each piece as a separate array.
nb::list slices_of_integers(nb::handle object, nb::handle starts) {
  const Buffer buffer(object, "values");
  const Column values = buffer.need_dimensions(1).need_kind(Kind::int64, "int64").column();
  const std::vector<std::int64_t> cuts = cuts_of(starts, values.rows);
  nb::list found;
  for (std::size_t k = 0; k + 1 < cuts.size(); ++k) {
    LargeVector<std::int64_t> piece(static_cast<std::size_t>(cuts[k + 1] - cuts[k]));
    for (std::size_t i = 0; i < piece.size(); ++i) piece[i] = load<std::int64_t>(values.at(static_cast<std::size_t>(cuts[k]) + i));
    found.append(nb::cast(ExactArray::of_integers(std::move(piece))));
  }
  return found;
}

// The same of lines of text, cut at these bytes.
nb::list slices_of_text(const nb::bytes& text, nb::handle starts) {
  const std::string_view whole(static_cast<const char*>(text.data()), text.size());
  const std::vector<std::int64_t> cuts = cuts_of(starts, whole.size());
  nb::list found;
  for (std::size_t k = 0; k + 1 < cuts.size(); ++k) {
    if (cuts[k] > 0 && cuts[k] < cuts[k + 1] && whole[static_cast<std::size_t>(cuts[k]) - 1] != '\n') throw nb::value_error("starts: within a line");
    const auto length = static_cast<std::size_t>(cuts[k + 1] - cuts[k]);
    found.append(nb::cast(ExactText::read(whole.substr(static_cast<std::size_t>(cuts[k]), length))));
  }
  return found;
}

bool any_cell(const ExactArray& self) {
  Magnitude scratch;
  for (std::size_t cell = 0; cell < self.size(); ++cell)
    if (self.sign(cell, scratch) != 0) return true;
  return false;
}

ExactArray from_doubles(nb::handle object) {
  const Buffer buffer(object, "values");
  const std::vector<double> values = buffer.need_dimensions(1).need_kind(Kind::float64, "float64").doubles();
  ExactArray result(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) buffer.refuse("not finite");
    result.add(i, values[i]);
  }
  return result;
}

}  // namespace

void register_exact(nb::module_& m) {
  using namespace nb::literals;
  // Methods of ExactArray keep the GIL: they are short, and it guards an array that several threads share. What makes a
  // new one of many numbers need not.
  nb::class_<ExactArray>(m, "ExactArray")
      .def("__init__", [](ExactArray* self, std::int64_t size) { new (self) ExactArray(as_size(size, "size")); }, "size"_a)
      .def("__len__", &ExactArray::size)
      .def_static("from_integers", &from_integers, "values"_a)
      .def_static("from_table", &from_table, "table"_a)
      .def_static("from_doubles", &from_doubles, "values"_a)
      .def_static("from_text",
                  [](const nb::bytes& text) {
                    const std::string_view view(static_cast<const char*>(text.data()), text.size());
                    LongCall call;
                    return ExactText::read(view);
                  },
                  "text"_a)
      .def_static("slices_of_integers", &slices_of_integers, "values"_a, "starts"_a)
      .def_static("slices_of_text", &slices_of_text, "text"_a, "starts"_a)
      .def("any", &any_cell)
      .def("copy", [](const ExactArray& self) { return self; })
      .def("add", &add_to, "other"_a, "index"_a = nb::none(), nb::kw_only(), "sign"_a = 1)
      .def("take", &take, "index"_a)
      .def("sum_groups", &sum_groups, "index"_a, "size"_a)
      .def("sum_rows", [](const ExactArray& self, std::int64_t rows) { return self.sum_rows(rows_of(self, rows)); }, "rows"_a)
      .def("others", [](const ExactArray& self, std::int64_t rows) { return self.others(rows_of(self, rows)); }, "rows"_a)
      .def("columns", &columns_of, "rows"_a, "first"_a, "last"_a)
      .def("__eq__",
           [](const ExactArray& self, nb::handle other) -> nb::object {
             if (!nb::isinstance<ExactArray>(other)) return nb::borrow(Py_NotImplemented);
             return nb::bool_(self == nb::cast<const ExactArray&>(other));
           },
           "other"_a.none())
      .def("signs", &signs)
      .def("is_integral", &ExactArray::is_integral)
      .def("to_integers", &to_integers)
      .def("to_doubles", &to_doubles)
      .def("parts", &parts, "cell"_a)
      .def("text", [](const ExactArray& self) {
        const std::string text = ExactText::write(self);
        return nb::bytes(text.data(), text.size());
      });

  m.attr("ExactArray").attr("__hash__") = nb::none();  // its value may change
}

}  // namespace bayesbox
